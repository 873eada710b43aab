// The rows that exist when a run starts.
#pragma once

#include <vector>

#include "protocol/spanner/mutation.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The rows of the scenario, and the row that the protocol's `init` writes unless the scenario has
// one with the same key. Columns are in the order of the protocol's table.
std::vector<Row> RowsOfTheStart(const Scenario& scenario);

}  // namespace whorl::sim
