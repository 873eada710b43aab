#include "live/comparison.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "live/coordinator.h"
#include "live/history.h"
#include "sim/judge/expectations.h"

namespace whorl::live {
namespace {

using sim::InvariantResult;
using sim::Verdict;

std::string TextOf(const InvariantResult& result) {
  std::string text(WordOf(result.verdict));
  if (result.verdict == Verdict::kUnknown) text += Cat(" (", result.unknown_because, ")");
  if (result.first) text += Cat(" (", result.first->text, ")");
  return text;
}

// "in 52 of 100 seeds"
std::string OfSeeds(uint64_t count) {
  return Cat("in ", std::to_string(count), " of ", std::to_string(Simulated::kSeeds), " seeds");
}

void Compare(const InvariantResult& real, const Simulated& simulated, RealRun& run) {
  const InvariantResult& own = simulated.own.checks[real.invariant];
  const bool unknown = real.verdict == Verdict::kUnknown;
  if (real.verdict == own.verdict && !unknown) return;
  const uint64_t seeds = simulated.Count(real.invariant, real.verdict);
  const std::string_view name = WordOf(real.invariant);
  if (seeds > 0 && !unknown) {
    run.chances.push_back(Cat(name, " ", WordOf(real.verdict), ", as simulated ", OfSeeds(seeds)));
  } else {
    run.parts.push_back(
        Cat(name, ": real ", TextOf(real), ", simulated ", TextOf(own), " in every seed"));
  }
}

// The scenario with the expectations that a real run has to meet: the verdicts that do not depend on
// the seed. Its metrics and its `sometimes` describe one simulated run.
sim::Scenario WithExpectationsOfReal(const sim::Scenario& scenario, const Simulated& simulated) {
  sim::Scenario real = scenario;
  real.expect.sometimes.clear();
  real.expect.metrics.clear();
  real.expect.takeover_within.reset();
  const auto varies = [&](Invariant invariant) { return simulated.Varies(invariant); };
  std::erase_if(real.expect.holds, varies);
  std::erase_if(real.expect.violates, varies);
  return real;
}

std::vector<std::string> FailuresOf(const sim::Scenario& scenario, const Simulated& simulated,
                                    sim::RunResult result) {
  // A violation that depends on the seed is no failure, even if the scenario does not list it.
  for (InvariantResult& invariant : result.checks.invariants) {
    if (simulated.Varies(invariant.invariant)) invariant.verdict = Verdict::kHolds;
  }
  return sim::FailuresOf(WithExpectationsOfReal(scenario, simulated), result);
}

}  // namespace

bool Simulated::Varies(Invariant invariant) const {
  const auto& counts = verdicts[static_cast<size_t>(invariant)];
  return std::ranges::count(counts, 0U) < static_cast<int64_t>(counts.size()) - 1;
}

Simulated Simulate(const sim::Scenario& scenario) {
  Simulated simulated;
  for (uint64_t i = 0; i < Simulated::kSeeds; ++i) {
    sim::RunResult result = sim::RunScenario(scenario, scenario.seed + i, nullptr);
    for (const InvariantResult& invariant : result.checks.invariants) {
      ++simulated.verdicts[static_cast<size_t>(invariant.invariant)]
                          [static_cast<size_t>(invariant.verdict)];
    }
    const sim::Metrics& metrics = result.checks.metrics;
    if (i == 0) simulated.least = simulated.most = metrics;
    for (size_t m = 0; m < kCountOf<sim::Metric>; ++m) {
      simulated.least.values[m] = std::min(simulated.least.values[m], metrics.values[m]);
      simulated.most.values[m] = std::max(simulated.most.values[m], metrics.values[m]);
    }
    if (i == 0) simulated.own = std::move(result);
  }
  return simulated;
}

absl::StatusOr<RealRun> RunForReal(BackendKind kind, const sim::Scenario& scenario, uint64_t number,
                                   const Simulated& simulated, const std::string& program) {
  absl::StatusOr<Record> record =
      Coordinator(kind, scenario, scenario.seed + number, program).Run();
  if (!record.ok()) return record.status();
  RealRun run;
  run.history = HistoryOf(scenario, *record);
  run.holes = record->holes;
  run.result = JudgeHistory(scenario, number, run.history, run.holes, nullptr);
  for (const InvariantResult& invariant : run.result.checks.invariants) {
    Compare(invariant, simulated, run);
  }
  run.failures = FailuresOf(scenario, simulated, run.result);
  return run;
}

}  // namespace whorl::live
