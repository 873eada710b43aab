// Finds what a commit changed: the difference of two reads of a table, as of just before it and as
// of it.
#pragma once

#include <cstddef>
#include <vector>

#include "protocol/spanner/value.h"
#include "sim/world/observation.h"

namespace whorl::live {

// The rows that differ, in the order of their keys, with `before` and `after` only. `key`: the key
// column.
std::vector<sim::RowCommitted> ChangesBetween(const std::vector<Row>& before,
                                              const std::vector<Row>& after, size_t key);
// Whether both are the same rows, in any order.
bool SameRows(std::vector<Row> a, std::vector<Row> b, size_t key);

}  // namespace whorl::live
