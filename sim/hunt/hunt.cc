#include "sim/hunt/hunt.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/hunt/shrink.h"
#include "sim/hunt/variation.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/error_text.h"
#include "sim/scenario/number_text.h"
#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

constexpr uint64_t kCheckOneIn = 20;

// What the hunt draws for a run.
enum class Purpose : uint64_t { kProtocol, kWorld, kCheck };
uint64_t Bits(const HuntOptions& options, Purpose purpose, uint64_t n) {
  return Combine(Combine(Mix(options.seed), static_cast<uint64_t>(purpose)), n);
}

bool IsCheckedTwice(const HuntOptions& options, uint64_t run) {
  return run % kCheckOneIn == Bits(options, Purpose::kCheck, run / kCheckOneIn) % kCheckOneIn;
}

// What a hunt keeps of a run.
struct RunOutcome {
  std::string protocol;
  RunDigest digest;
  Size size;
  Metrics metrics;
  std::array<bool, kFaultKindCount> struck{};
  std::array<bool, kCountOf<Invariant>> held{};
  std::array<bool, kCountOf<Invariant>> unknown{};
  int64_t faults_struck = 0;
  std::vector<Breakage> breakages;
  bool is_checked = false;
  bool differs = false;
};

RunOutcome RunOne(const HuntOptions& options, uint64_t run) {
  const Scenario world = WorldOfRun(options, run);
  WatchedRun watched = RunWatched(world);
  RunOutcome outcome;
  outcome.protocol = world.protocol;
  outcome.digest.hash = watched.result.hash;
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
  outcome.is_checked = IsCheckedTwice(options, run);
  if (outcome.is_checked) {
    outcome.differs = !(RunScenario(world, world.seed, nullptr) == watched.result);
  }
  // A run that left its schedule is another run than its scenario says.
  if (watched.result.schedule_problem.empty()) outcome.breakages = std::move(watched.breakages);
  return outcome;
}

void AddTo(HuntTally& tally, const HuntOptions& options, uint64_t run, const RunOutcome& outcome) {
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
  tally.faults.Add(outcome.faults_struck);
  tally.nodes.Add(outcome.size.nodes);
  tally.takeovers.Add(outcome.metrics[Metric::kTakeovers]);
  tally.unknown_outcomes.Add(outcome.metrics[Sometimes::kUnknownOutcome]);
  for (const Breakage& breakage : outcome.breakages) {
    ++tally.violated[static_cast<size_t>(breakage.kind.invariant)];
    if (!options.Wants(breakage.kind.invariant, breakage.promised)) continue;
    tally.findings[breakage.kind].Add({.runs = 1,
                                       .run = run,
                                       .promised = breakage.promised,
                                       .size = outcome.size,
                                       .at = breakage.at,
                                       .shrunk = {}});
  }
}

template <typename Counts>
void AddEach(Counts& counts, const Counts& other) {
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other[i];
}

// --- shrinking ---------------------------------------------------------------------------------

// Adds to the scenario what it violates, and a description.
void Describe(const ViolationKind& kind, Scenario& scenario) {
  const WatchedRun watched = RunWatched(scenario);
  scenario.expect = {};
  for (const Breakage& breakage : watched.breakages) {
    scenario.expect.violates.push_back(breakage.kind.invariant);
  }
  const Breakage* found = Find(watched.breakages, kind);
  if (found == nullptr) return;
  scenario.about =
      Cat("Found by whorl hunt. ", WordOf(kind.invariant), " is violated at ",
          SecondsText(found->at - Instant{}, 3), " s (", kind.where, "): ", found->text, ".");
  scenario.name = Cat(scenario.protocol, ".", WordOf(kind.invariant), ".", kind.where);
}

// Removes the faults that did not strike: they did nothing, and would fail the scenario.
void DropUnfired(Scenario& scenario) {
  const RunResult result = RunScenario(scenario, scenario.seed, nullptr);
  for (size_t i = result.unfired_faults.size(); i-- > 0;) {
    TakeOutFault(scenario, result.unfired_faults[i]);
  }
}

void ShrinkFinding(const HuntOptions& options, const ViolationKind& kind, Finding& finding) {
  Scenario world = WorldOfRun(options, finding.run);
  const int64_t rate = options.world.rate_ppm_max;
  const bool keeps_assumptions = BrokenAssumptions(world, rate).empty();
  const auto keeps = [&](const Scenario& scenario) {
    // A finding within the protocol's assumptions is not shrunk to a scenario beyond them.
    if (keeps_assumptions && !BrokenAssumptions(scenario, rate).empty()) return false;
    const WatchedRun watched = RunWatched(scenario);
    return watched.result.schedule_problem.empty() && Find(watched.breakages, kind) != nullptr;
  };
  Shrunk shrunk = Shrink(std::move(world), keeps, kShrinkRuns);
  Describe(kind, shrunk.scenario);
  finding.shrunk = std::move(shrunk.scenario);
  finding.shrink_runs = shrunk.runs;
}

}  // namespace

bool HuntOptions::Wants(Invariant found, bool promised) const {
  if (invariant && *invariant != found) return false;
  return promised || !promised_only;
}

const ProtocolInfo& ProtocolOfRun(const HuntOptions& options, uint64_t run) {
  const uint64_t drawn = Bits(options, Purpose::kProtocol, run) % options.protocols.size();
  return *FindProtocol(options.protocols[drawn]);
}

Scenario WorldOfRun(const HuntOptions& options, uint64_t run) {
  if (options.from) {
    return VariationOf(*options.from, options.world, run, Bits(options, Purpose::kWorld, run));
  }
  return DrawWorld(options.world, ProtocolOfRun(options, run), Bits(options, Purpose::kWorld, run));
}

void Histogram::Add(const Histogram& other) {
  for (const auto& [value, count] : other.counts) counts[value] += count;
}

int64_t Histogram::Quantile(int64_t percent) const {
  int64_t all = 0;
  for (const auto& [value, count] : counts) all += count;
  int64_t below = 0;
  for (const auto& [value, count] : counts) {
    below += count;
    if (below * 100 >= all * percent) return value;
  }
  return 0;
}

Size SizeOf(const Scenario& scenario) {
  return {.faults = static_cast<int64_t>(scenario.faults.size()),
          .nodes = static_cast<int64_t>(scenario.nodes.size()),
          .locks = static_cast<int64_t>(scenario.locks.size()),
          .duration = scenario.duration};
}

void Finding::Add(const Finding& other) {
  const int64_t all = runs + other.runs;
  if (runs == 0 || other.Rank() < Rank()) *this = other;
  runs = all;
}

void HuntTally::Add(const HuntTally& other) {
  runs += other.runs;
  hash += other.hash;
  checked += other.checked;
  differing.insert(differing.end(), other.differing.begin(), other.differing.end());
  std::ranges::sort(differing);
  AddEach(met, other.met);
  AddEach(struck, other.struck);
  AddEach(violated, other.violated);
  AddEach(held, other.held);
  AddEach(unknown, other.unknown);
  faults.Add(other.faults);
  nodes.Add(other.nodes);
  takeovers.Add(other.takeovers);
  unknown_outcomes.Add(other.unknown_outcomes);
  for (const auto& [kind, finding] : other.findings) findings[kind].Add(finding);
}

int64_t RunCount(const HuntTallies& tallies) {
  int64_t runs = 0;
  for (const auto& [protocol, tally] : tallies) runs += tally.runs;
  return runs;
}

bool FoundAnything(const HuntTallies& tallies) {
  return std::ranges::any_of(tallies, [](const auto& entry) {
    return !entry.second.findings.empty() || !entry.second.differing.empty();
  });
}

RunDigest DigestOfRun(const HuntOptions& options, uint64_t run) {
  return RunOne(options, run).digest;
}

absl::Status RunHunt(const HuntOptions& options, uint64_t done, uint64_t count, int threads,
                     const HuntStep& go_on, HuntTallies& tallies) {
  for (const std::string& protocol : options.protocols) tallies[protocol];
  std::vector<RunOutcome> outcomes(std::min<uint64_t>(count - done, kBatchWindow));
  const auto run_of = [&](size_t i) { return options.shard + (done + i) * options.shards; };
  absl::Status status;
  RunBatch(
      count - done, threads,
      [&](size_t i) { outcomes[i % kBatchWindow] = RunOne(options, run_of(i)); },
      [&](size_t i, const std::optional<std::string>& error) {
        if (error.has_value()) {
          status = absl::InternalError(
              Cat("run ", std::to_string(run_of(i)), " cannot be run: ", *error));
          return BatchStep::kStop;
        }
        const RunOutcome& outcome = outcomes[i % kBatchWindow];
        AddTo(tallies[outcome.protocol], options, run_of(i), outcome);
        return go_on(done + i + 1, outcome.digest, tallies);
      });
  return status;
}

absl::Status ShrinkFindings(const HuntOptions& options, int threads,
                            const std::function<BatchStep(size_t done)>& go_on,
                            HuntTallies& tallies) {
  std::vector<std::pair<const ViolationKind*, Finding*>> work;
  for (auto& [protocol, tally] : tallies) {
    for (auto& [kind, finding] : tally.findings) work.emplace_back(&kind, &finding);
  }
  // Each job works on a copy, so an interrupted one changes nothing.
  std::vector<Finding> shrunk(work.size());
  absl::Status status;
  RunBatch(
      work.size(), threads,
      [&](size_t i) {
        shrunk[i] = *work[i].second;
        ShrinkFinding(options, *work[i].first, shrunk[i]);
      },
      [&](size_t i, const std::optional<std::string>& error) {
        if (error.has_value()) {
          status = absl::InternalError(
              Cat("run ", std::to_string(work[i].second->run), " cannot be shrunk: ", *error));
          return BatchStep::kStop;
        }
        *work[i].second = std::move(shrunk[i]);
        return go_on(i + 1);
      });
  return status;
}

Scenario ScenarioOf(const HuntOptions& options, const ViolationKind& kind, const Finding& finding) {
  if (finding.shrunk) return *finding.shrunk;
  Scenario world = WorldOfRun(options, finding.run);
  DropUnfired(world);
  Describe(kind, world);
  return world;
}

}  // namespace whorl::sim
