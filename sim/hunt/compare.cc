#include "sim/hunt/compare.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/text.h"
#include "protocol/spanner/rpc.h"
#include "sim/hunt/outcome.h"
#include "sim/world/latency.h"

namespace whorl::sim {

namespace {

struct OutcomeOfSide {
  RunOutcome outcome;
  RunFigures figures;
};
struct OutcomeOfBoth {
  Duration lock_time;
  std::array<OutcomeOfSide, kSides> sides;
};

OutcomeOfBoth RunBoth(const std::array<HuntOptions, kSides>& hunts, uint64_t run) {
  Scenario world = WorldOfRun(hunts[0], run);
  OutcomeOfBoth both{.lock_time = world.duration * static_cast<int64_t>(world.locks.size()),
                     .sides = {}};
  for (size_t side = 0; side < kSides; ++side) {
    world.protocol = hunts[side].protocols.front();
    FiguresOfRun figures(world);
    both.sides[side].outcome = OutcomeOf(hunts[side], {.run = run}, world, &figures);
    both.sides[side].figures = figures.figures();
  }
  return both;
}

// Whether the hunt looks for the violation, and the run had it.
bool HasBroken(const HuntOptions& hunt, const RunOutcome& outcome, Invariant invariant) {
  return std::ranges::any_of(outcome.breakages, [&](const Breakage& breakage) {
    return breakage.kind.invariant == invariant && hunt.Wants(invariant, breakage.promised);
  });
}

void AddBoth(uint64_t run, const OutcomeOfBoth& both, ProtocolComparison& comparison) {
  ComparedRun compared{.lock_time = both.lock_time, .sides = {}};
  for (size_t side = 0; side < kSides; ++side) {
    const RunOutcome& outcome = both.sides[side].outcome;
    AddRun(comparison.hunts[side], run, outcome, comparison.tallies[side]);
    compared.sides[side] = {.figures = both.sides[side].figures,
                            .without_holder = {outcome.metrics[Metric::kWithoutHolderMax]}};
  }
  comparison.runs.push_back(compared);
  const RunOutcome& first = both.sides[0].outcome;
  const RunOutcome& second = both.sides[1].outcome;
  if (first.digest == second.digest) ++comparison.equal;
  for (const Invariant invariant : AllOf<Invariant>()) {
    const bool by_first = HasBroken(comparison.hunts[0], first, invariant);
    const bool by_second = HasBroken(comparison.hunts[1], second, invariant);
    ComparedInvariant& counts = comparison.invariants[static_cast<size_t>(invariant)];
    if (by_first && by_second) {
      counts.both.Add(run);
    } else if (by_first || by_second) {
      counts.alone[by_first ? 0 : 1].Add(run);
    }
  }
}

}  // namespace

bool ProtocolComparison::IsBrokenByAlone(Invariant invariant, size_t side) const {
  const ComparedInvariant& counts = invariants[static_cast<size_t>(invariant)];
  return counts.BrokenBy(side) > 0 && counts.BrokenBy(1 - side) == 0;
}

ProtocolComparison ComparisonOf(const HuntOptions& hunt,
                                const std::array<std::string, kSides>& names) {
  ProtocolComparison comparison;
  for (size_t side = 0; side < kSides; ++side) {
    comparison.hunts[side] = hunt;
    comparison.hunts[side].protocols = {names[side]};
    comparison.hunts[side].beside = {names[1 - side]};
  }
  return comparison;
}

absl::Status RunComparison(uint64_t count, int threads,
                           const std::function<BatchStep(uint64_t done)>& go_on,
                           ProtocolComparison& comparison) {
  std::vector<OutcomeOfBoth> outcomes(std::min<uint64_t>(count, kBatchWindow));
  absl::Status status;
  RunBatch(
      count, threads, [&](size_t i) { outcomes[i % kBatchWindow] = RunBoth(comparison.hunts, i); },
      [&](size_t i, const std::optional<std::string>& error) {
        if (error.has_value()) {
          status = absl::InternalError(Cat("run ", std::to_string(i), " cannot be run: ", *error));
          return BatchStep::kStop;
        }
        AddBoth(i, outcomes[i % kBatchWindow], comparison);
        return go_on(i + 1);
      });
  return status;
}

namespace {

// The value of Request(Commit).index().
template <typename... All>
consteval uint8_t PlaceOfCommit(const std::variant<All...>*) {
  uint8_t place = 0;
  static_cast<void>(((std::is_same_v<Commit, All> || (++place, false)) || ...));
  return place;
}
constexpr uint8_t kCommitCall = PlaceOfCommit(static_cast<const Request*>(nullptr));

}  // namespace

FiguresOfRun::FiguresOfRun(const Scenario& scenario)
    : setup_(MakeCheckerSetup(scenario, RoundTripP999(scenario.spanner.preset))),
      ledger_(setup_),
      locks_(setup_.locks.size()) {}

void FiguresOfRun::Hear(const Observation& observation, uint64_t /*ordinal*/, uint64_t /*hash*/) {
  now_ = observation.at;
  std::visit(
      [this]<typename What>(const What& what) {
        if constexpr (std::is_same_v<What, CallSent>) {
          On(what);
        } else if constexpr (std::is_same_v<What, RowCommitted>) {
          if (const std::optional<VersionChanged> change = ledger_.On(what, setup_)) On(*change);
        } else if constexpr (requires { ledger_.On(what, setup_); }) {
          static_cast<void>(ledger_.On(what, setup_));
        }
      },
      observation.what);
  for (size_t i = 0; i < locks_.size(); ++i) {
    UpdateTakeover(locks_[i], ledger_.AnsweredCount(static_cast<uint16_t>(i)) > 0);
  }
}

void FiguresOfRun::On(const CallSent& x) {
  if (x.step == steps::kHasLock) {
    ++figures_.questions;
    return;
  }
  ++figures_.calls;
  if (x.request == kCommitCall) ++figures_.commits;
}

void FiguresOfRun::On(const VersionChanged& x) {
  if (x.kind != TokenChange::kGranted || x.writer == ProcessId{}) return;
  if (x.last_owner == ProcessId{} || x.last_owner == x.writer) return;
  OfLock& lock = locks_[x.lock];
  if (!lock.takeover_since) lock.takeover_since = lock.without_holder_since.value_or(now_);
}

void FiguresOfRun::UpdateTakeover(OfLock& lock, bool has_holder) {
  if (!has_holder) {
    if (!lock.without_holder_since) lock.without_holder_since = now_;
    return;
  }
  lock.without_holder_since.reset();
  if (!lock.takeover_since) return;
  if (!figures_.first_takeover) figures_.first_takeover = now_ - *lock.takeover_since;
  lock.takeover_since.reset();
}

}  // namespace whorl::sim
