#include "sim/hunt/outcome.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "protocol/spanner/fingerprint.h"
#include "sim/hunt/shrink.h"
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

// How the run, if it is drawn, is drawn.
Style StyleOf(const HuntOptions& options, uint64_t run) {
  if (!options.guided || run < Guide::PlainRuns(!options.reach.empty())) return options.world.style;
  const uint64_t drawn = Bits(options, Purpose::kStyle, run) % 6;
  if (drawn == 0) return options.world.style;
  return drawn == 1 ? Style::kRare : Style::kPriorities;
}

}  // namespace

const ProtocolInfo& ProtocolOfRun(const HuntOptions& options, uint64_t run) {
  const uint64_t drawn = Bits(options, Purpose::kProtocol, run) % options.protocols.size();
  return *FindProtocol(options.protocols[drawn]);
}

namespace {

Scenario DrawnWorld(const HuntOptions& options, uint64_t run) {
  const uint64_t seed = Bits(options, Purpose::kWorld, run);
  if (options.from) return VariationOf(*options.from, options.world, run, seed);
  const ProtocolInfo& protocol = ProtocolOfRun(options, run);
  if (options.beside.empty()) {
    WorldOptions world = options.world;
    world.style = StyleOf(options, run);
    return DrawWorld(world, protocol, seed);
  }
  std::vector<const ProtocolInfo*> all = {&protocol};
  for (const std::string& name : options.beside) all.push_back(FindProtocol(name));
  Scenario world = DrawWorld(options.world, SharedCapabilities(all), seed);
  world.protocol = protocol.name;
  return world;
}

// REQUIRES: the hunt has the entry.
Scenario WorldOfEntry(const HuntOptions& options, const RunName& name) {
  Scenario world = *options.entries.worlds.at(name.entry);
  world.expect.reach = options.reach;
  for (const BranchSpec& branch : name.branches) world = BranchOf(options.world, world, branch);
  return world;
}

}  // namespace

Scenario WorldOfRun(const HuntOptions& options, uint64_t run) {
  Scenario world = DrawnWorld(options, run);
  world.expect.reach = options.reach;
  return world;
}

Scenario WorldOf(const HuntOptions& options, const RunName& name) {
  if (!name.entry.empty()) return WorldOfEntry(options, name);
  Scenario world = WorldOfRun(options, name.run);
  for (const BranchSpec& branch : name.branches) world = BranchOf(options.world, world, branch);
  return world;
}

uint64_t BitsOfPlace(const HuntOptions& options, uint64_t run) {
  return Bits(options, Purpose::kPlace, run);
}

RunOutcome OutcomeOf(const HuntOptions& options, uint64_t run, ObservationSink* sink) {
  return OutcomeOf(options, {.run = run}, WorldOfRun(options, run), sink);
}

RunOutcome OutcomeOf(const HuntOptions& options, const RunName& name, const Scenario& world,
                     ObservationSink* sink) {
  std::optional<RunCoverage> kinds;
  if (options.counts_kinds) kinds.emplace(world);
  WatchedRun watched = RunWatched(world, sink, kinds ? &*kinds : nullptr);
  RunOutcome outcome;
  outcome.protocol = world.protocol;
  outcome.digest.hash = watched.result.hash;
  outcome.digest.name = name;
  outcome.size = SizeOf(world);
  outcome.metrics = watched.result.checks.metrics;
  outcome.simulated = watched.result.simulated;
  for (size_t i = 0; i < world.faults.size(); ++i) {
    const std::vector<uint32_t>& unfired = watched.result.unfired_faults;
    if (std::ranges::find(unfired, i) != unfired.end()) continue;
    ++outcome.faults_struck;
    outcome.struck[static_cast<size_t>(world.faults[i].kind())] = true;
  }
  for (const InvariantResult& invariant : watched.result.checks.invariants) {
    const auto place = static_cast<size_t>(invariant.invariant);
    outcome.digest.verdicts[place] = invariant.verdict;
    outcome.not_promised[place] = invariant.not_promised;
    if (invariant.promise != Promise::kPromised) continue;
    outcome.held[place] = invariant.verdict == Verdict::kHolds;
    outcome.unknown[place] = invariant.verdict == Verdict::kUnknown;
  }
  if (kinds) {
    outcome.kinds = kinds->Take();
    outcome.nearest = kinds->nearest();
  }
  outcome.reached = watched.result.reached;
  if (!options.reach.empty()) {
    outcome.nearest[static_cast<size_t>(NearMissKind::kReach)] = {
        .distance = static_cast<int64_t>(options.reach.size() - outcome.reached),
        .at = watched.result.reached_at};
  }
  outcome.is_checked = IsCheckedTwice(options, name.Number());
  if (outcome.is_checked) {
    outcome.differs = !(RunScenario(world, world.seed, nullptr) == watched.result);
  }
  // A run that left its schedule is another run than its scenario says.
  if (watched.result.schedule_problem.empty()) outcome.breakages = std::move(watched.breakages);
  return outcome;
}

std::vector<Feature> FeaturesOf(const RunOutcome& outcome) {
  enum class Kind : uint64_t { kMoment, kWord, kViolation, kWaypoint, kNearMiss };
  Fingerprint protocol;
  protocol.Add(outcome.protocol);
  std::vector<Feature> features;
  const auto add = [&](Kind kind, uint64_t which, int64_t distance = 0) {
    const uint64_t what = Combine(protocol.value(), static_cast<uint64_t>(kind));
    features.push_back({.what = Combine(what, which), .distance = distance});
  };
  std::set<uint64_t> moments;
  for (const KindSeen& seen : outcome.kinds) moments.insert(seen.moment);
  for (const uint64_t moment : moments) add(Kind::kMoment, moment);
  for (size_t i = 0; i < kCountOf<Sometimes>; ++i) {
    if (outcome.metrics.met[i] > 0) add(Kind::kWord, i);
  }
  for (const Breakage& breakage : outcome.breakages) {
    Fingerprint violation;
    violation.AddWord(static_cast<uint64_t>(breakage.kind.invariant));
    violation.Add(breakage.kind.where);
    add(Kind::kViolation, violation.value());
  }
  for (uint32_t i = 0; i < outcome.reached; ++i) add(Kind::kWaypoint, i);
  for (size_t i = 0; i < kNearMissKinds; ++i) {
    const std::optional<Nearest>& nearest = outcome.nearest[i];
    // A violation is a feature of its own.
    if (nearest && nearest->distance >= 0) add(Kind::kNearMiss, i, nearest->distance);
  }
  return features;
}

void AddFindings(const HuntOptions& options, uint64_t run, const RunOutcome& outcome,
                 HuntTally& tally) {
  for (const Breakage& breakage : outcome.breakages) {
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

void AddRun(const HuntOptions& options, uint64_t run, const RunOutcome& outcome, HuntTally& tally) {
  ++tally.runs;
  tally.hash += Combine(Mix(run), outcome.digest.hash);
  tally.checked += outcome.is_checked ? 1 : 0;
  if (outcome.differs) tally.differing.push_back(run);
  const RunName& name = outcome.digest.name;
  for (size_t i = 0; i < kCountOf<Sometimes>; ++i) {
    if (outcome.metrics.met[i] > 0) tally.met[i].Add(name);
  }
  tally.reached.resize(options.reach.size());
  for (uint32_t i = 0; i < outcome.reached; ++i) tally.reached[i].Add(name);
  for (size_t i = 0; i < kFaultKindCount; ++i) tally.struck[i] += outcome.struck[i] ? 1 : 0;
  for (size_t i = 0; i < kCountOf<Invariant>; ++i) {
    tally.held[i] += outcome.held[i] ? 1 : 0;
    tally.unknown[i] += outcome.unknown[i] ? 1 : 0;
    for (const PromiseGap& gap : outcome.not_promised[i]) {
      tally.not_promised[i][static_cast<size_t>(gap.circumstance)] += gap.time;
    }
  }
  tally.simulated += outcome.simulated;
  tally.kinds.Add(run, outcome.kinds);
  tally.faults.Add(outcome.faults_struck);
  tally.nodes.Add(outcome.size.nodes);
  tally.takeovers.Add(outcome.metrics[Metric::kTakeovers]);
  tally.unknown_outcomes.Add(outcome.metrics[Sometimes::kUnknownOutcome]);
  for (const Breakage& breakage : outcome.breakages) {
    ++tally.violated[static_cast<size_t>(breakage.kind.invariant)];
  }
  AddFindings(options, run, outcome, tally);
}

}  // namespace whorl::sim
