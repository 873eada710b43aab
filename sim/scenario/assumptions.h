// Lists the assumptions under which each protocol makes its promises, as far as a scenario can
// break them.
//
// If a promise is violated in a world that keeps the assumptions, the protocol (or this program) is
// wrong. If the world breaks an assumption, the violation shows what the assumption is for.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "protocol/protocols.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct Assumptions {
  int64_t rate_ppm_max = 1000;     // rho: how much faster or slower a node's clocks may run
  int64_t grid_rate_ppm_max = 0;   // the same with constants on the grid, if it is more
  Duration wall_clock_error_max;   // how far a node's wall clock may be off, either way
  Duration current_timestamp_max;  // how far CURRENT_TIMESTAMP may be off, either way
  bool truetime_may_lie = false;
  bool clocks_may_stand = false;     // a machine may be suspended
  bool ids_may_be_shared = false;    // two nodes may have the same id
  bool rows_may_be_deleted = false;  // an operator may delete them, or write to them otherwise
  bool leases_may_differ = false;    // nodes may have different leases
  // How often a process may call Lock in a run: where each call that timed out beats on for ever, the work of a run
  // grows with the square of their number.
  int64_t lock_calls_max = std::numeric_limits<int64_t>::max();
};
// Whether the scenario contains the circumstance.
bool Has(const Scenario& scenario, Circumstance circumstance);

// The strictest assumptions, where the protocol has none of its own.
const Assumptions& AssumptionsOf(std::string_view protocol);

// Called by AddProtocol. REQUIRES: `protocol` lives as long as the program.
void AddAssumptions(std::string_view protocol, const Assumptions& assumptions);

// How many ppm fast or slow the protocol assumes at most that clocks run, with these constants.
int64_t RateAssumedBy(std::string_view protocol, Constants constants);

// The assumptions that the scenario breaks, in words: "TrueTime lies". Empty if it keeps them all.
// If `rate_ppm_max` is not 0, it replaces the protocol's own bound: for a protocol that was built
// for other clocks.
std::vector<std::string> BrokenAssumptions(const Scenario& scenario, int64_t rate_ppm_max = 0);

}  // namespace whorl::sim
