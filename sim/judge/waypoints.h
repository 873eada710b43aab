// How far a run comes along the waypoints that its scenario names, and the phases that its processes
// reach.
//
// Invariants:
//   1. A phase of a step is reached with any call of the step: sent, served, its reply heard (replied).
//      `committed` and `ended` are its transaction's. For a write of the application: sent, and served
//      when it arrives.
//   2. The leader of a lock is the node that owns the newest version of its row; the old leader is the
//      last other node that did.
//   3. One observation reaches at most one waypoint.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/judge/ledger.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// A process reaches a phase of a step.
struct ReachedPhase {
  ProcessId process;
  uint16_t lock = 0;
  StepName step;
  Phase phase = Phase::kSent;
  // The code or the outcome that it comes with; of a write, whether it was accepted.
  uint8_t told = 0;
};
std::optional<ReachedPhase> PhaseReachedBy(const ObservedEvent& what);

class WaypointsOfRun {
 public:
  explicit WaypointsOfRun(const Scenario& scenario)
      : waypoints_(scenario.expect.reach), owners_(scenario.locks.size()) {}

  // After the ledger has heard it.
  void Hear(const Observation& observation, const Ledger& ledger);

  // How many were reached, in their order.
  uint32_t reached() const { return reached_; }
  bool empty() const { return waypoints_.empty(); }

 private:
  struct Owners {
    int16_t newest = -1;  // the node; -1: nobody so far
    int16_t before = -1;
  };
  bool IsAt(const Waypoint& waypoint, const ObservedEvent& what) const;
  bool Is(int16_t wanted, int16_t node, std::optional<uint16_t> lock) const;

  std::vector<Waypoint> waypoints_;
  std::vector<Owners> owners_;  // by lock
  uint32_t reached_ = 0;
};

}  // namespace whorl::sim
