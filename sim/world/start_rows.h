// Makes the rows that exist when a run starts.
#pragma once

#include <vector>

#include "protocol/spanner/mutation.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// The rows of the scenario, and the row that the protocol's `init` writes unless the scenario has
// one with the same key. Columns are in the order of the protocol's table.
std::vector<Row> RowsOfTheStart(const Scenario& scenario);

// The observation of one of them: written by nobody at `at_least`, or at its latest timestamp if that
// is later, so that no version is older than the times in it.
RowCommitted RowOfTheStart(const Row& row, Timestamp at_least);

}  // namespace whorl::sim
