// The rows that are there when a run starts.
#pragma once

#include <vector>

#include "protocol/spanner/mutation.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Those of the scenario, and the row that the protocol's `init` leaves, unless the scenario has
// another one in its place. Columns stand in the order of the protocol's table.
std::vector<Row> RowsOfTheStart(const Scenario& scenario);

}  // namespace whorl::sim
