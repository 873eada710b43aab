// A scenario for real, beside the same scenario simulated: what each comes to, and where they part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "live/backend.h"
#include "sim/run.h"
#include "sim/scenario.h"
#include "sim/story.h"
#include "sim/timeline.h"

namespace whorl::live {

// One run for real.
struct RealRun {
  sim::RunResult result;
  std::vector<std::string> holes;
  // Where its verdicts are other than the simulation's, a sentence each. Unknown is no agreement.
  std::vector<std::string> parts;
  // What the scenario expects of verdicts and faults, and was not so.
  std::vector<std::string> failures;
  std::vector<sim::Observation> history;

  bool agrees() const { return parts.empty(); }
};

// The simulation, of the file's own seed.
sim::RunResult Simulate(const sim::Scenario& scenario);

// `scenario`: as AsOn() makes it. `number`: of the run among those of the scenario.
absl::StatusOr<RealRun> RunForReal(BackendKind kind, const sim::Scenario& scenario, uint64_t number,
                                   const sim::RunResult& simulated);

// Those of the scenario's expectations that a real run can be held to: verdicts, and that every
// fault struck. Its metrics and its `sometimes` are of one simulated run.
std::vector<std::string> FailuresOfReal(const sim::Scenario& scenario,
                                        const sim::RunResult& result);

}  // namespace whorl::live
