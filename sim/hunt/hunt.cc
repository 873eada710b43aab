#include "sim/hunt/hunt.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "sim/hunt/outcome.h"
#include "sim/hunt/shrink.h"
#include "sim/scenario/assumptions.h"

namespace whorl::sim {
namespace {

template <typename Counts>
void AddEach(Counts& counts, const Counts& other) {
  for (size_t i = 0; i < counts.size(); ++i) counts[i] += other[i];
}

absl::Status CannotRun(uint64_t run, const std::string& error) {
  return absl::InternalError(Cat("run ", std::to_string(run), " cannot be run: ", error));
}

void LearnFrom(const HuntOptions& options, const RunOutcome& outcome,
               const std::shared_ptr<const Scenario>& world, GuidanceState& guidance) {
  if (options.guided && world->schedule.empty()) {
    guidance.guides[outcome.protocol].Learn(outcome.digest.name, world, outcome.kinds,
                                            outcome.nearest);
  }
  if (!guidance.corpus) return;
  std::vector<Invariant> violates;
  for (const Breakage& breakage : outcome.breakages) violates.push_back(breakage.kind.invariant);
  if (!outcome.digest.name.entry.empty() && outcome.digest.name.branches.empty()) {
    violates = world->expect.violates;  // its name says that it was kept with these
  }
  guidance.corpus->Add(*world, violates, FeaturesOf(outcome));
}

// --- generations -------------------------------------------------------------------------------

// The runs of a hunt between two decisions of its guide; all of them, if it has none.
class Generation {
 public:
  // Decides what its runs are: those after the first `done` ones of the hunt or its shard.
  Generation(const HuntOptions& options, uint64_t done, uint64_t size, GuidanceState& guidance)
      : options_(options), done_(done), runs_(std::min<uint64_t>(size, kBatchWindow)) {
    if (!options.guided) return;
    for (uint64_t i = 0; i < size; ++i) {
      if (!Guide::Branches(done + i, !options.reach.empty())) continue;
      const std::string protocol(ProtocolOfRun(options, NumberOf(i)).name);
      runs_[i].departure =
          guidance.guides[protocol].PickBranchPoint(BitsOfPlace(options, NumberOf(i)));
    }
  }

  uint64_t NumberOf(size_t i) const { return options_.shard + (done_ + i) * options_.shards; }

  // On any thread.
  void Run(size_t i) {
    OfRun& run = runs_[i % runs_.size()];
    const uint64_t number = NumberOf(i);
    Scenario world = WorldOf(run.departure, number);
    RunName name{.run = number};
    if (run.departure) {
      name = run.departure->name;
      name.branches.push_back(world.branches.back());
    }
    run.outcome = OutcomeOf(options_, name, world, nullptr);
    run.world = std::make_shared<const Scenario>(std::move(world));
  }

  // In the order of the runs.
  const RunDigest& Count(size_t i, HuntTallies& tallies, GuidanceState& guidance) const {
    const OfRun& run = runs_[i % runs_.size()];
    LearnFrom(options_, run.outcome, run.world, guidance);
    AddRun(options_, NumberOf(i), run.outcome, tallies[run.outcome.protocol]);
    return run.outcome.digest;
  }

 private:
  struct OfRun {
    std::optional<BranchPoint> departure;  // from where it branches, if it does
    RunOutcome outcome;
    std::shared_ptr<const Scenario> world;
  };

  Scenario WorldOf(const std::optional<BranchPoint>& departure, uint64_t number) const {
    if (!departure) return WorldOfRun(options_, number);
    if (departure->world) {
      return BranchOf(options_.world, *departure->world, departure->at, number);
    }
    return BranchOf(options_.world, sim::WorldOf(options_, departure->name), departure->at, number);
  }

  const HuntOptions& options_;
  uint64_t done_;
  std::vector<OfRun> runs_;  // of run i: at i % size
};
static_assert(Guide::kGeneration <= kBatchWindow);

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
  scenario.about = Cat("Found by whorl hunt. ", WordOf(kind.invariant), " is violated at ",
                       FormatSeconds(found->at - Instant{}, 3), " s (", kind.WhereText(),
                       "): ", found->text, ".");
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
  Scenario world = WorldOf(options, finding.name);
  const int64_t rate = options.world.rate_ppm_max;
  const bool keeps_assumptions = BrokenAssumptions(world, rate).empty();
  const auto keeps = [&](const Scenario& scenario) {
    // A finding within the protocol's assumptions is not shrunk to a scenario beyond them.
    if (keeps_assumptions && !BrokenAssumptions(scenario, rate).empty()) return false;
    const WatchedRun watched = RunWatched(scenario);
    if (!watched.result.schedule_problem.empty()) return false;
    const Breakage* found = Find(watched.breakages, kind);
    // Nor is a broken promise shrunk to a violation while the promise is void.
    return found != nullptr && (found->promised || !finding.promised);
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

void RunsThat::Add(const RunsThat& other) {
  if (other.runs == 0) return;
  if (runs == 0 || other.first.Number() < first.Number()) first = other.first;
  runs += other.runs;
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
  for (size_t i = 0; i < met.size(); ++i) met[i].Add(other.met[i]);
  reached.resize(std::max(reached.size(), other.reached.size()));
  for (size_t i = 0; i < other.reached.size(); ++i) reached[i].Add(other.reached[i]);
  AddEach(struck, other.struck);
  AddEach(violated, other.violated);
  AddEach(held, other.held);
  AddEach(unknown, other.unknown);
  simulated += other.simulated;
  for (size_t i = 0; i < not_promised.size(); ++i) AddEach(not_promised[i], other.not_promised[i]);
  faults.Add(other.faults);
  nodes.Add(other.nodes);
  takeovers.Add(other.takeovers);
  unknown_outcomes.Add(other.unknown_outcomes);
  kinds.Add(other.kinds);
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

RunDigest DigestOfRun(const HuntOptions& options, const RunName& name) {
  HuntOptions alone = options;
  alone.counts_kinds = false;
  return OutcomeOf(alone, name, WorldOf(options, name), nullptr).digest;
}

absl::Status RunHunt(const HuntOptions& options, uint64_t done, uint64_t count, int threads,
                     const HuntStep& go_on, HuntTallies& tallies, GuidanceState& guidance) {
  for (const std::string& protocol : options.protocols) tallies[protocol];
  absl::Status status;
  bool is_over = false;
  while (done < count && !is_over) {
    const uint64_t left = count - done;
    const uint64_t size =
        options.guided ? std::min(left, Guide::kGeneration - done % Guide::kGeneration) : left;
    Generation generation(options, done, size, guidance);
    RunBatch(
        size, threads, [&](size_t i) { generation.Run(i); },
        [&](size_t i, const std::optional<std::string>& error) {
          if (error.has_value()) {
            status = CannotRun(generation.NumberOf(i), *error);
            is_over = true;
          } else {
            const RunDigest& digest = generation.Count(i, tallies, guidance);
            is_over = go_on(done + i + 1, digest, tallies) == BatchStep::kStop;
          }
          return is_over ? BatchStep::kStop : BatchStep::kGoOn;
        });
    done += size;
  }
  return status;
}

absl::Status RunHunt(const HuntOptions& options, uint64_t done, uint64_t count, int threads,
                     const HuntStep& go_on, HuntTallies& tallies) {
  GuidanceState guidance;
  return RunHunt(options, done, count, threads, go_on, tallies, guidance);
}

absl::Status RunEntries(const HuntOptions& options, int threads, bool is_begin,
                        HuntTallies& tallies, GuidanceState& guidance) {
  for (const std::string& protocol : options.protocols) tallies[protocol];
  std::vector<RunName> names;
  for (const auto& [entry, world] : options.entries.worlds) names.push_back({.entry = entry});
  std::vector<RunOutcome> outcomes(std::min(names.size(), kBatchWindow));
  std::vector<std::shared_ptr<const Scenario>> worlds(outcomes.size());
  absl::Status status;
  RunBatch(
      names.size(), threads,
      [&](size_t i) {
        const size_t place = i % kBatchWindow;
        worlds[place] = std::make_shared<const Scenario>(WorldOf(options, names[i]));
        outcomes[place] = OutcomeOf(options, names[i], *worlds[place], nullptr);
      },
      [&](size_t i, const std::optional<std::string>& error) {
        if (error.has_value()) {
          status = absl::InternalError(Cat(names[i].entry, " cannot be run: ", *error));
          return BatchStep::kStop;
        }
        const RunOutcome& outcome = outcomes[i % kBatchWindow];
        const std::shared_ptr<const Scenario>& world = worlds[i % kBatchWindow];
        if (is_begin) {
          LearnFrom(options, outcome, world, guidance);
          if (i % options.shards == options.shard) {
            AddFindings(options, 0, outcome, tallies[outcome.protocol]);
          }
        } else {
          guidance.corpus->Add(*world, world->expect.violates, FeaturesOf(outcome));
        }
        return BatchStep::kGoOn;
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
  Scenario world = WorldOf(options, finding.name);
  DropUnfired(world);
  Describe(kind, world);
  return world;
}

}  // namespace whorl::sim
