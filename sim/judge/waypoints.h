// Tracks how far a run comes along the waypoints that its scenario names.
//
// Invariants:
//   1. A phase of a step is reached when a fault that waits for it would strike (world/reached_phase.h), but
//      for `replied`, which is reached with `ended`.
//   2. The leader of a lock is the node that owns the newest version of its row; the old leader is the
//      last other node that did.
//   3. One observation reaches at most one waypoint.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/protocols.h"
#include "sim/judge/ledger.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

class WaypointsOfRun {
 public:
  explicit WaypointsOfRun(const Scenario& scenario)
      : protocol_(FindProtocol(scenario.protocol)),
        waypoints_(scenario.expect.reach),
        owners_(scenario.locks.size()) {}

  // After the ledger has heard it.
  void Hear(const Observation& observation, const Ledger& ledger);

  // How many were reached, in their order.
  uint32_t reached() const { return reached_; }
  // When the last of these was.
  Instant reached_at() const { return reached_at_; }
  bool empty() const { return waypoints_.empty(); }
  // The next one; null if there is none.
  const Waypoint* next() const {
    return reached_ < waypoints_.size() ? &waypoints_[reached_] : nullptr;
  }
  // Whose it is by now, of the first lock that has such a node; -1 if any node will do, or none is it.
  int16_t NodeOf(const Waypoint& waypoint) const;

 private:
  struct Owners {
    int16_t newest = -1;  // the node; -1: nobody so far
    int16_t before = -1;
  };
  bool IsAt(const Waypoint& waypoint, const ObservedEvent& what) const;
  bool Is(int16_t wanted, int16_t node, std::optional<uint16_t> lock) const;

  const ProtocolInfo* protocol_;
  std::vector<Waypoint> waypoints_;
  std::vector<Owners> owners_;  // by lock
  uint32_t reached_ = 0;
  Instant reached_at_;
};

}  // namespace whorl::sim
