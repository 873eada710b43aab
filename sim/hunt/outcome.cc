#include "sim/hunt/outcome.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/hunt/variation.h"
#include "sim/judge/run.h"
#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

constexpr uint64_t kCheckOneIn = 20;

// What the hunt draws for a run.
enum class Purpose : uint64_t { kProtocol, kWorld, kCheck, kPlace, kStyle };
uint64_t Bits(const HuntOptions& options, Purpose purpose, uint64_t n) {
  return Combine(Combine(Mix(options.seed), static_cast<uint64_t>(purpose)), n);
}

bool IsCheckedTwice(const HuntOptions& options, uint64_t run) {
  return run % kCheckOneIn == Bits(options, Purpose::kCheck, run / kCheckOneIn) % kCheckOneIn;
}

// Whether the run, if it is drawn, is drawn by priorities.
bool IsByPriorities(const HuntOptions& options, uint64_t run) {
  return options.guided && run >= Guide::kPlainRuns && Bits(options, Purpose::kStyle, run) % 2 == 0;
}

}  // namespace

const ProtocolInfo& ProtocolOfRun(const HuntOptions& options, uint64_t run) {
  const uint64_t drawn = Bits(options, Purpose::kProtocol, run) % options.protocols.size();
  return *FindProtocol(options.protocols[drawn]);
}

Scenario WorldOfRun(const HuntOptions& options, uint64_t run) {
  const uint64_t seed = Bits(options, Purpose::kWorld, run);
  if (options.from) return VariationOf(*options.from, options.world, run, seed);
  const ProtocolInfo& protocol = ProtocolOfRun(options, run);
  if (IsByPriorities(options, run)) {
    WorldOptions world = options.world;
    world.style = Style::kPriorities;
    return DrawWorld(world, protocol, seed);
  }
  if (options.beside.empty()) return DrawWorld(options.world, protocol, seed);
  std::vector<const ProtocolInfo*> all = {&protocol};
  for (const std::string& name : options.beside) all.push_back(FindProtocol(name));
  Scenario world = DrawWorld(options.world, CommonGround(all), seed);
  world.protocol = protocol.name;
  return world;
}

Scenario WorldOf(const HuntOptions& options, const RunName& name) {
  Scenario world = WorldOfRun(options, name.run);
  for (const BranchSpec& branch : name.branches) world = BranchOf(options.world, world, branch);
  return world;
}

uint64_t BitsOfPlace(const HuntOptions& options, uint64_t run) {
  return Bits(options, Purpose::kPlace, run);
}

RunOutcome OutcomeOf(const HuntOptions& options, uint64_t run, ObservationSink* sink) {
  return OutcomeOf(options, run, WorldOfRun(options, run), sink);
}

RunOutcome OutcomeOf(const HuntOptions& options, uint64_t run, const Scenario& world,
                     ObservationSink* sink) {
  std::optional<KindsOfRun> kinds;
  if (options.counts_kinds) kinds.emplace(world);
  WatchedRun watched = RunWatched(world, sink, kinds ? &*kinds : nullptr);
  RunOutcome outcome;
  outcome.protocol = world.protocol;
  outcome.digest.hash = watched.result.hash;
  outcome.digest.name.run = run;
  outcome.size = SizeOf(world);
  outcome.metrics = watched.result.checks.metrics;
  for (size_t i = 0; i < world.faults.size(); ++i) {
    const std::vector<uint32_t>& unfired = watched.result.unfired_faults;
    if (std::ranges::find(unfired, i) != unfired.end()) continue;
    ++outcome.faults_struck;
    outcome.struck[static_cast<size_t>(world.faults[i].kind())] = true;
  }
  for (const InvariantResult& invariant : watched.result.checks.invariants) {
    const auto place = static_cast<size_t>(invariant.invariant);
    outcome.digest.verdicts[place] = invariant.verdict;
    if (invariant.promise != Promise::kPromised) continue;
    outcome.held[place] = invariant.verdict == Verdict::kHolds;
    outcome.unknown[place] = invariant.verdict == Verdict::kUnknown;
  }
  if (kinds) {
    outcome.kinds = kinds->Take();
    outcome.nearest = kinds->nearest();
  }
  outcome.is_checked = IsCheckedTwice(options, run);
  if (outcome.is_checked) {
    outcome.differs = !(RunScenario(world, world.seed, nullptr) == watched.result);
  }
  // A run that left its schedule is another run than its scenario says.
  if (watched.result.schedule_problem.empty()) outcome.breakages = std::move(watched.breakages);
  return outcome;
}

void AddRun(const HuntOptions& options, uint64_t run, const RunOutcome& outcome, HuntTally& tally) {
  ++tally.runs;
  tally.hash += Combine(Mix(run), outcome.digest.hash);
  tally.checked += outcome.is_checked ? 1 : 0;
  if (outcome.differs) tally.differing.push_back(run);
  for (size_t i = 0; i < kCountOf<Sometimes>; ++i)
    tally.met[i] += outcome.metrics.met[i] > 0 ? 1 : 0;
  for (size_t i = 0; i < kFaultKindCount; ++i) tally.struck[i] += outcome.struck[i] ? 1 : 0;
  for (size_t i = 0; i < kCountOf<Invariant>; ++i) {
    tally.held[i] += outcome.held[i] ? 1 : 0;
    tally.unknown[i] += outcome.unknown[i] ? 1 : 0;
  }
  tally.kinds.Add(run, outcome.kinds);
  tally.faults.Add(outcome.faults_struck);
  tally.nodes.Add(outcome.size.nodes);
  tally.takeovers.Add(outcome.metrics[Metric::kTakeovers]);
  tally.unknown_outcomes.Add(outcome.metrics[Sometimes::kUnknownOutcome]);
  for (const Breakage& breakage : outcome.breakages) {
    ++tally.violated[static_cast<size_t>(breakage.kind.invariant)];
    if (!options.Wants(breakage.kind.invariant, breakage.promised)) continue;
    tally.findings[breakage.kind].Add({.runs = 1,
                                       .run = run,
                                       .name = outcome.digest.name,
                                       .promised = breakage.promised,
                                       .size = outcome.size,
                                       .at = breakage.at,
                                       .shrunk = {}});
  }
}

}  // namespace whorl::sim
