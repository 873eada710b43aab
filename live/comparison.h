// Compares a real run of a scenario with simulated ones.
//
// A simulated run is one draw from the world that its scenario describes, and so is a real run. If
// the seeds of the simulation come to different verdicts (because they depend on which hash is
// greater, for example), a real run agrees if its verdict is that of at least one seed.
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

// The simulated runs: that of the file's own seed, and the verdicts of other seeds.
struct Simulated {
  static constexpr uint64_t kSeeds = 100;

  sim::RunResult own;
  // How many of the seeds had each verdict.
  std::array<std::array<uint64_t, kCountOf<sim::Verdict>>, kCountOf<Invariant>> verdicts{};
  sim::Metrics least;  // over the seeds, for each metric
  sim::Metrics most;

  uint64_t Count(Invariant invariant, sim::Verdict verdict) const {
    return verdicts[static_cast<size_t>(invariant)][static_cast<size_t>(verdict)];
  }
  // Whether the verdict depends on the seed.
  bool Varies(Invariant invariant) const;
};
Simulated Simulate(const sim::Scenario& scenario);

// A real run.
struct RealRun {
  sim::RunResult result;
  std::vector<std::string> holes;  // as in Record
  // One sentence for each verdict to which no seed of the simulation comes. A verdict of unknown
  // never agrees.
  std::vector<std::string> parts;
  // One for each verdict that differs from that of the file's own seed but is that of other seeds.
  std::vector<std::string> chances;
  // Failed expectations of the scenario about verdicts and faults, except verdicts that depend on the
  // seed.
  std::vector<std::string> failures;
  std::vector<sim::Observation> history;

  bool agrees() const { return parts.empty(); }
};

// `scenario` is what AsOn() returns. `number` counts the runs of the scenario. `program`, if not empty,
// takes part in the lock for each node.
absl::StatusOr<RealRun> RunForReal(BackendKind kind, const sim::Scenario& scenario, uint64_t number,
                                   const Simulated& simulated, const std::string& program = {});

}  // namespace whorl::live
