// Under which conditions a protocol's promises are made, as far as a scenario can break them.
//
// A violation of a promise in a world that keeps them refutes the protocol (or this program); in
// one that does not, it says what the assumption is for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/spanner/time.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct Assumptions {
  int64_t rate_ppm_max = 1000;     // of a node's clocks, either way: rho
  Duration wall_clock_error_max;   // of a node, either way
  Duration current_timestamp_max;  // error of CURRENT_TIMESTAMP, either way
  bool truetime_may_lie = false;
  bool clocks_may_stand = false;             // a machine may be suspended
  bool ids_may_be_shared = false;            // by two nodes
  bool rows_may_be_deleted = false;          // by an operator
  bool leases_may_differ = false;            // from node to node
  bool deleted_only_with_one_lease = false;  // not both of them
};
// One without any licence for a protocol of which nothing is known.
const Assumptions& AssumptionsOf(std::string_view protocol);

// Part of AddProtocol. `protocol` lives as long as the program.
void AddAssumptions(std::string_view protocol, const Assumptions& assumptions);

// What the scenario does that its protocol's promises do not cover, for people: "TrueTime lies".
// Empty when they cover all of it. `rate_ppm_max`, where it is not 0, stands in for the protocol's:
// of a protocol that was built for other clocks.
std::vector<std::string> BrokenAssumptions(const Scenario& scenario, int64_t rate_ppm_max = 0);

}  // namespace whorl::sim
