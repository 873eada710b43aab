// Divides the key space into splits; each has its own leader.
//
// Splits are numbered from 0 in the order of (table, key); split i ends where point i begins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/spanner/fields.h"
#include "spanner_model/storage.h"

namespace whorl::model {

struct SplitPoint {  // the first key of a split
  uint32_t table = 0;
  Key key;
  WHORL_FIELDS(SplitPoint, table, key);
};

// Splits first, first + 1, ..., last.
struct SplitRange {
  uint32_t first = 0;
  uint32_t last = 0;
  WHORL_FIELDS(SplitRange, first, last);
};

uint32_t SplitOf(std::span<const SplitPoint> points, uint32_t table, const Key& key);
// The splits that may hold rows of the range.
SplitRange SplitsOf(std::span<const SplitPoint> points, uint32_t table, const KeyRange& range);

}  // namespace whorl::model
