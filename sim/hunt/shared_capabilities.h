// What protocols have in common: the ground on which a world can be drawn in which each of them runs.
//
// Invariants:
//   1. The order and the number of times in which protocols are named changes nothing.
//   2. The common ground of one protocol is all that the protocol has.
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
  Assumptions may;                             // what the strictest of them allows
  std::vector<StepName> steps;                 // that all have, without has_lock and write
  Duration lease_min;
  Duration lease_max = Duration::Max();
  bool takes_one_lock = false;
  bool has_blocking_wrapper = true;
  bool has_one_table = true;  // a row of one is a row of all

  // Of the protocols' names, for a seed.
  uint64_t Hash() const;
  // Whether the step reaches the phase in every protocol.
  bool ReachesPhase(StepName step, Phase phase) const;

  // Whether `test` holds, whichever of the protocols the world has. The world has the first in the end.
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
