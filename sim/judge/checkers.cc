#include "sim/judge/checkers.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace whorl::sim {
namespace {

template <typename Judges, size_t... I>
constexpr bool StandInOrder(std::index_sequence<I...>) {
  return ((std::tuple_element_t<I, Judges>::kInvariant == static_cast<Invariant>(I)) && ...);
}

// The node whose process started, stopped, paused or went on, or whose link changed; otherwise
// nothing.
template <typename Observed>
std::optional<int16_t> NodeChangedBy(const Observed& x) {
  if constexpr (std::is_same_v<Observed, ProcessStarted> ||
                std::is_same_v<Observed, ProcessStopped> || std::is_same_v<Observed, ProcessGone> ||
                std::is_same_v<Observed, ProcessPaused> ||
                std::is_same_v<Observed, ProcessResumed>) {
    return x.process.node;
  } else if constexpr (std::is_same_v<Observed, LinkChanged>) {
    return x.node;
  }
  return std::nullopt;
}

// Observations that may begin or end a quiet time.
template <typename Observed>
constexpr bool kDisturbs =
    std::is_same_v<Observed, FaultBegan> || std::is_same_v<Observed, FaultEnded> ||
    std::is_same_v<Observed, CallHangs> || std::is_same_v<Observed, TransactionFinished> ||
    std::is_same_v<Observed, ProcessGone>;

// Whether the ledger only counts it, which is for no_wedge alone.
template <typename Observed>
constexpr bool kIsOnlyCounted =
    std::is_same_v<Observed, FaultBegan> || std::is_same_v<Observed, FaultEnded> ||
    std::is_same_v<Observed, TransactionStarted> || std::is_same_v<Observed, CallSent> ||
    std::is_same_v<Observed, CallHangs> || std::is_same_v<Observed, TransactionFinished>;

template <typename Observed, typename Judge>
constexpr bool kHears =
    !std::is_same_v<Judge, NoWedge> &&
    requires(Judge& judge, const Observed& x, const Now& now) { judge.On(x, now); };

InvariantResult ResultOf(Invariant invariant, const Tally& tally, const CheckerSetup& setup) {
  InvariantResult result;
  result.invariant = invariant;
  result.promise = setup.promises[static_cast<size_t>(invariant)];
  result.violations = tally.violations;
  result.first = tally.first;
  result.verdict = tally.violations > 0 ? Verdict::kViolated : Verdict::kHolds;
  if (result.promise == Promise::kNotApplicable) result.verdict = Verdict::kNotApplicable;
  return result;
}

}  // namespace

Checkers::Checkers(const Scenario& scenario, Duration round_trip_p999)
    : setup_(std::make_shared<const CheckerSetup>(MakeCheckerSetup(scenario, round_trip_p999))),
      ledger_(*setup_),
      judges_(OneLiveToken{}, TokenMonotonic::For(*setup_), HandedTokenMonotonic::For(*setup_),
              HasLockTruthful::For(*setup_), LeaseRespected{}, FencedWritesOrdered::For(*setup_),
              SingleLeaderBelief{}, Isolation{}, NoWedge::For(*setup_), NoWorkAfterRelease{},
              SingleWorker{}),
      metrics_(MetricsCollector::For(*setup_)) {
  static_assert(std::tuple_size_v<Judges> == kCountOf<Invariant>);
  static_assert(StandInOrder<Judges>(std::make_index_sequence<kCountOf<Invariant>>()));
}

void Checkers::Observe(const Observation& observation) {
  const Now now{*setup_, ledger_, observation.at, ++observations_};
  no_wedge().PassTo(now);
  std::visit([&](const auto& x) { Take(x, now); }, observation.what);
}

template <typename Observed>
void Checkers::Take(const Observed& x, const Now& now) {
  if constexpr (requires { ledger_.On(x, *setup_); }) {
    if constexpr (std::is_void_v<decltype(ledger_.On(x, *setup_))>) {
      ledger_.On(x, *setup_);
    } else if (const auto change = ledger_.On(x, *setup_)) {
      Notify(*change, now);
    }
  }
  Notify(x, now);
  if constexpr (kDisturbs<Observed>) no_wedge().SettleQuiet(now);
  if constexpr (std::is_same_v<Observed, ParticipationEnded> ||
                std::is_same_v<Observed, BeliefChanged> || std::is_same_v<Observed, WorkChanged>) {
    Settle(x.lock, now);
  }
  if constexpr (std::is_same_v<Observed, SpannerAvailability>) {
    for (size_t lock = 0; lock < setup_->locks.size(); ++lock) {
      Settle(static_cast<uint16_t>(lock), now);
    }
  }
  if (const std::optional<int16_t> node = NodeChangedBy(x)) {
    for (const uint16_t lock : setup_->Node(*node).locks) Settle(lock, now);
  }
}

void Checkers::Take(const RowCommitted& x, const Now& now) {
  Notify(x, now);
  const std::optional<VersionChanged> change = ledger_.On(x, *setup_);
  if (!change) return;
  Notify(*change, now);
  if (change->kind != TokenChange::kKept) Settle(change->lock, now);
}

void Checkers::Take(const StandingChanged& x, const Now& now) {
  const Ledger::StandingEffects effects = ledger_.On(x, *setup_);
  if (effects.own_token) Notify(*effects.own_token, now);
  if (effects.stepped_down) Notify(*effects.stepped_down, now);
  Settle(x.lock, now);
}

template <typename Change>
void Checkers::Notify(const Change& x, const Now& now) {
  const auto tell = [&](auto& listener) {
    if constexpr (requires { listener.On(x, now); }) listener.On(x, now);
  };
  std::apply([&](auto&... judges) { (tell(judges), ...); }, judges_);
  tell(metrics_);
}

void Checkers::Settle(uint16_t lock, const Now& now) {
  no_wedge().Settle(lock, now);
  metrics_.Settle(lock, now);
}

bool Checkers::Concerns(const Observation& observation) {
  return std::visit(
      []<typename Observed>(const Observed&) {
        constexpr bool kKnown = requires(Ledger& ledger, const Observed& x,
                                         const CheckerSetup& setup) { ledger.On(x, setup); };
        constexpr bool kHeard = []<typename... Judge>(std::type_identity<std::tuple<Judge...>>) {
          return (kHears<Observed, Judge> || ...);
        }(std::type_identity<Judges>());
        return kHeard || (kKnown && !kIsOnlyCounted<Observed>);
      },
      observation.what);
}

int64_t Checkers::violations(Invariant invariant) const {
  int64_t found = 0;
  const auto look = [&](const auto& judge) {
    if (judge.kInvariant == invariant) found = judge.tally.violations;
  };
  std::apply([&](const auto&... judges) { (look(judges), ...); }, judges_);
  return found;
}

int64_t Checkers::violations() const {
  return std::apply([](const auto&... judges) { return (judges.tally.violations + ...); }, judges_);
}

uint32_t Checkers::TakeViolated() {
  uint32_t violated = 0;
  const auto take = [&violated](auto& judge) {
    if (judge.tally.violations == 0) return;
    violated |= 1U << static_cast<uint32_t>(judge.kInvariant);
    judge.tally = {};
  };
  std::apply([&](auto&... judges) { (take(judges), ...); }, judges_);
  return violated;
}

void Checkers::AddMemory(CanonicalForm& form) const {
  ledger_.AddMemory(form);
  const auto add = [&form](const auto& judge) {
    using Judge = std::remove_cvref_t<decltype(judge)>;
    if constexpr (std::is_same_v<Judge, HasLockTruthful>) {
      for (size_t i = 0; i < judge.ceased.size(); ++i) {
        const HasLockTruthful::Ceased& ceased = judge.ceased[i];
        form.AddHole({.kind = HoleKind::kGate, .scope = 0, .param = static_cast<int64_t>(i)},
                     ToTimestamp(ceased.at).UnixNanos());
        form.AddHole({.kind = HoleKind::kGated}, ceased.incarnation);
      }
    } else if constexpr (!std::is_same_v<Judge, NoWedge>) {
      VisitFields(judge, [&form](std::string_view name, const auto& field) {
        if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(field)>, Tally>) form.Add(field);
        static_cast<void>(name);
      });
    }
  };
  std::apply([&](const auto&... judges) { (add(judges), ...); }, judges_);
}

CheckReport Checkers::Finish(Instant end) const {
  const Now now{*setup_, ledger_, end, observations_};
  Judges judges = judges_;
  auto& no_wedge = std::get<NoWedge>(judges);
  no_wedge.PassTo(now);

  CheckReport report;
  const auto add = [&](const auto& judge) {
    report.invariants.push_back(ResultOf(judge.kInvariant, judge.tally, *setup_));
  };
  std::apply([&](const auto&... all) { (add(all), ...); }, judges);
  InvariantResult& wedge = report.invariants[static_cast<size_t>(Invariant::kNoWedge)];
  if (wedge.verdict == Verdict::kHolds) {
    wedge.unknown_because = no_wedge.UnknownBecause(now);
    if (!wedge.unknown_because.empty()) wedge.verdict = Verdict::kUnknown;
  }
  report.metrics = metrics_.Until(end);
  return report;
}

}  // namespace whorl::sim
