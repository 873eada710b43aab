#include "sim/judge/promise_clock.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <variant>

namespace whorl::sim {
namespace {

bool IsEmptied(const Row& row, size_t key_column) {
  for (size_t column = 0; column < row.size(); ++column) {
    if (column != key_column && !IsNull(row[column])) return false;
  }
  return true;
}

// Whether the clocks stand still of a node that takes part in the lock.
bool AnyStands(const std::vector<int16_t>& standing, uint16_t lock, const CheckerSetup& setup) {
  return std::ranges::any_of(standing, [&](int16_t node) {
    const std::vector<uint16_t>& locks = setup.Node(node).locks;
    return std::ranges::find(locks, lock) != locks.end();
  });
}

enum class Lasts : uint8_t { kForAMoment, kUntilItEnds };

// Moves the end of what limits of a circumstance take from their promises in a lock.
class Limits {
 public:
  Limits(PromiseClock& clock, uint16_t lock, Instant at, const CheckerSetup& setup)
      : clock_(clock), lock_(lock), at_(at), setup_(setup) {}

  void Begin(Circumstance circumstance, Lasts lasts) {
    ForEach(circumstance, [&](VoidFor void_for, size_t limit) {
      if (void_for == VoidFor::kWhileItLasts || lasts == Lasts::kUntilItEnds) {
        SetUntil(limit, kNever);
      } else if (void_for == VoidFor::kLongestLease) {
        SetUntil(limit, std::max(Until(limit), at_ + LongestLease()));
      }
    });
  }
  void End(Circumstance circumstance) {
    ForEach(circumstance, [&](VoidFor void_for, size_t limit) {
      if (Until(limit) != kNever) return;
      SetUntil(limit, void_for == VoidFor::kLongestLease ? at_ + LongestLease() : at_);
      if (setup_.limits[limit].invariant == Invariant::kNoWedge) clock_.mended.push_back(lock_);
    });
  }

 private:
  template <typename Visit>
  void ForEach(Circumstance circumstance, const Visit& visit) {
    for (size_t i = 0; i < setup_.limits.size(); ++i) {
      if (setup_.limits[i].circumstance == circumstance) visit(setup_.limits[i].void_for, i);
    }
  }
  Duration LongestLease() const { return setup_.locks[lock_].longest_lease; }
  Instant& Until(size_t limit) { return clock_.void_until[limit * setup_.locks.size() + lock_]; }

  void SetUntil(size_t limit, Instant until) {
    Until(limit) = until;
    PromiseClock::Gap& gap = clock_.gaps[limit];
    if (at_ >= gap.until) {
      gap.before += gap.until - gap.from;
      gap.from = at_;
    }
    gap.until = {};
    for (size_t lock = 0; lock < setup_.locks.size(); ++lock) {
      gap.until = std::max(gap.until, clock_.void_until[limit * setup_.locks.size() + lock]);
    }
  }

  PromiseClock& clock_;
  uint16_t lock_;
  Instant at_;
  const CheckerSetup& setup_;
};

}  // namespace

PromiseClock PromiseClock::For(const CheckerSetup& setup) {
  PromiseClock clock;
  clock.void_until.resize(setup.limits.size() * setup.locks.size());
  clock.gaps.resize(setup.limits.size());
  clock.current_timestamp_error = setup.current_timestamp_error;
  return clock;
}

void PromiseClock::Observe(const Observation& observation, const CheckerSetup& setup) {
  if (setup.limits.empty()) return;
  mended.clear();
  std::visit(
      [&](const auto& x) {
        if constexpr (requires { On(x, observation.at, setup); }) On(x, observation.at, setup);
      },
      observation.what);
}

bool PromiseClock::IsVoid(Invariant invariant, uint16_t lock, Instant at, Duration by,
                          const CheckerSetup& setup) const {
  Duration allowed;
  for (size_t i = 0; i < setup.limits.size(); ++i) {
    const PromiseLimit& limit = setup.limits[i];
    if (limit.invariant != invariant) continue;
    switch (limit.void_for) {
      case VoidFor::kWholeRun:
        return true;
      case VoidFor::kLongestLease:
      case VoidFor::kWhileItLasts:
        if (at < void_until[i * setup.locks.size() + lock]) return true;
        break;
      case VoidFor::kErrorOfClock:
        allowed += current_timestamp_error;
        break;
      case VoidFor::kDifferenceOfLeases:
        allowed += setup.locks[lock].lease_difference;
        break;
    }
  }
  return by > Duration{} && by <= allowed;
}

Duration PromiseClock::VoidedBy(size_t limit, Instant end, const CheckerSetup& setup) const {
  if (setup.limits[limit].void_for == VoidFor::kWholeRun) return {end.ns};
  const Gap& gap = gaps[limit];
  return gap.before + (std::min(gap.until, end) - std::min(gap.from, end));
}

// A process that is started again begins with the row of the one before it.
void PromiseClock::On(const ProcessStarted& x, Instant at, const CheckerSetup& setup) {
  if (x.process.incarnation <= 1) return;
  for (const uint16_t lock : setup.Node(x.process.node).locks) {
    Limits(*this, lock, at, setup).Begin(Circumstance::kIdsOutliveRestarts, Lasts::kForAMoment);
  }
}

// Nobody writes the initial rows; later, nobody is an operator.
void PromiseClock::On(const RowCommitted& x, Instant at, const CheckerSetup& setup) {
  const std::optional<uint16_t> lock = setup.LockOfRow(x.after ? *x.after : *x.before);
  if (!lock || (x.writer == ProcessId{} && !x.before && at == Instant{})) return;
  Limits limits(*this, *lock, at, setup);
  const bool is_emptied = x.after && IsEmptied(*x.after, setup.rules->key_column);
  if (!is_emptied) limits.End(Circumstance::kRowEmptied);
  if (x.writer != ProcessId{}) {
    limits.End(Circumstance::kOperatorWrites);
    return;
  }
  limits.Begin(Circumstance::kOperatorWrites, Lasts::kForAMoment);
  limits.Begin(Circumstance::kOperatorWritesAmongLeases, Lasts::kForAMoment);
  if (is_emptied) {
    limits.Begin(Circumstance::kRowEmptied, Lasts::kForAMoment);
  } else if (x.after && setup.rules->is_released(*x.after)) {
    limits.Begin(Circumstance::kRowReleased, Lasts::kForAMoment);
  }
}

void PromiseClock::On(const ClockChanged& x, Instant at, const CheckerSetup& setup) {
  const bool stood = std::erase(standing, x.node) > 0;
  if (x.stands) standing.push_back(x.node);
  if (stood == x.stands) return;
  for (const uint16_t lock : setup.Node(x.node).locks) {
    Limits limits(*this, lock, at, setup);
    if (x.stands) {
      limits.Begin(Circumstance::kClockStands, Lasts::kUntilItEnds);
    } else if (!AnyStands(standing, lock, setup)) {
      limits.End(Circumstance::kClockStands);
    }
  }
}

void PromiseClock::On(const SpannerClocksChanged& x, Instant /*at*/,
                      const CheckerSetup& /*setup*/) {
  const Duration error = {std::abs(x.current_timestamp_error.ns)};
  current_timestamp_error = std::max(current_timestamp_error, error);
}

}  // namespace whorl::sim
