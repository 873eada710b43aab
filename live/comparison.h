// A scenario for real, beside the same scenario simulated: what each comes to, and where they part.
//
// A simulated run is one draw of the world that its scenario describes, and so is a real one: where
// seeds of the simulation come to different verdicts (whether one hash is greater than another,
// say), a real run agrees that comes to one of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "live/backend.h"
#include "sim/judge/run.h"
#include "sim/scenario/scenario.h"

namespace whorl::live {

// The simulation: of the file's own seed, and what other seeds come to.
struct Simulated {
  static constexpr uint64_t kSeeds = 100;

  sim::RunResult own;
  // How many of the seeds came to each verdict.
  std::array<std::array<uint64_t, kCountOf<sim::Verdict>>, kCountOf<Invariant>> verdicts{};
  sim::Metrics least;  // over the seeds, each metric by itself
  sim::Metrics most;

  uint64_t Count(Invariant invariant, sim::Verdict verdict) const {
    return verdicts[static_cast<size_t>(invariant)][static_cast<size_t>(verdict)];
  }
  // Whether the verdict is a matter of chance: seeds differ.
  bool Varies(Invariant invariant) const;
};
Simulated Simulate(const sim::Scenario& scenario);

// One run for real.
struct RealRun {
  sim::RunResult result;
  std::vector<std::string> holes;
  // Verdicts that no seed of the simulation comes to, a sentence each. Unknown is no agreement.
  std::vector<std::string> parts;
  // Verdicts other than that of the file's own seed, where other seeds come to them, too.
  std::vector<std::string> chances;
  // What the scenario expects of verdicts and faults, and was not so; verdicts of chance left out.
  std::vector<std::string> failures;
  std::vector<sim::Observation> history;

  bool agrees() const { return parts.empty(); }
};

// `scenario`: as AsOn() makes it. `number`: of the run among those of the scenario.
absl::StatusOr<RealRun> RunForReal(BackendKind kind, const sim::Scenario& scenario, uint64_t number,
                                   const Simulated& simulated);

}  // namespace whorl::live
