#include "live/comparison.h"

#include <utility>

#include "live/history.h"
#include "live/stage.h"
#include "sim/error_text.h"
#include "sim/expectations.h"

namespace whorl::live {
namespace {

using sim::Cat;
using sim::InvariantResult;
using sim::Verdict;

std::string TextOf(const InvariantResult& result) {
  std::string text(VerdictText(result.verdict));
  if (result.verdict == Verdict::kUnknown) text += Cat(" (", result.unknown_because, ")");
  if (result.first) text += Cat(" (", result.first->text, ")");
  return text;
}

std::vector<std::string> PartsOf(const sim::RunResult& real, const sim::RunResult& simulated) {
  std::vector<std::string> parts;
  for (const InvariantResult& of_real : real.checks.invariants) {
    const InvariantResult& of_model = simulated.checks[of_real.invariant];
    if (of_real.verdict == of_model.verdict && of_real.verdict != Verdict::kUnknown) continue;
    parts.push_back(Cat(InvariantText(of_real.invariant), ": real ", TextOf(of_real),
                        ", simulated ", TextOf(of_model)));
  }
  return parts;
}

}  // namespace

sim::RunResult Simulate(const sim::Scenario& scenario) {
  return sim::RunScenario(scenario, scenario.seed, nullptr);
}

absl::StatusOr<RealRun> RunForReal(BackendKind kind, const sim::Scenario& scenario, uint64_t number,
                                   const sim::RunResult& simulated) {
  absl::StatusOr<Record> record = Stage(kind, scenario, scenario.seed + number).Run();
  if (!record.ok()) return record.status();
  RealRun run;
  run.history = HistoryOf(scenario, *record);
  run.holes = record->holes;
  run.result = JudgeHistory(scenario, number, run.history, run.holes, nullptr);
  run.parts = PartsOf(run.result, simulated);
  run.failures = FailuresOfReal(scenario, run.result);
  return run;
}

std::vector<std::string> FailuresOfReal(const sim::Scenario& scenario,
                                        const sim::RunResult& result) {
  sim::Scenario verdicts = scenario;
  verdicts.expect.sometimes.clear();
  verdicts.expect.metrics.clear();
  verdicts.expect.takeover_within.reset();
  return sim::FailuresOf(verdicts, result);
}

}  // namespace whorl::live
