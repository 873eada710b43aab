// Tells what several protocols have in common, so that a world can be drawn in which each of them runs.
//
// Invariants:
//   1. Neither the order in which protocols are named nor naming one twice changes anything.
//   2. A single protocol shares all its capabilities.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/protocols.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct SharedCapabilities {
  // REQUIRES: at least one, each one of Protocols().
  explicit SharedCapabilities(std::span<const ProtocolInfo* const> named);

  std::vector<const ProtocolInfo*> protocols;  // each once, in the order of Protocols()
  Assumptions may;                             // as the strictest of them
  std::vector<StepName> steps;                 // those that all have, without has_lock and write
  Duration lease_min;
  Duration lease_max = Duration::Max();
  bool takes_one_lock = false;
  bool has_blocking_wrapper = true;
  bool has_one_table = true;  // a row of one is a row of all

  // A hash of the protocols' names, for a seed.
  uint64_t Hash() const;
  // Whether the step reaches the phase in every protocol.
  bool ReachesPhase(StepName step, Phase phase) const;

  // Whether `test` holds with each of the protocols as the world's. Leaves the world with the first of them.
  template <typename Test>
  bool HoldsOfEach(Scenario& world, const Test& test) const {
    const bool holds = std::ranges::all_of(protocols, [&](const ProtocolInfo* protocol) {
      world.protocol = protocol->name;
      return test();
    });
    world.protocol = protocols.front()->name;
    return holds;
  }
};

}  // namespace whorl::sim
