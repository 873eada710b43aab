#include "spanner_model/splits.h"

#include <algorithm>

namespace whorl::model {
namespace {

// How many points stand left of a place in the table: those in earlier tables, and those in the
// table for which `is_left(key)` holds. It is also the number of the split at that place.
template <typename IsLeft>
uint32_t SplitWhere(std::span<const SplitPoint> points, uint32_t table, const IsLeft& is_left) {
  const auto at = std::partition_point(points.begin(), points.end(), [&](const SplitPoint& point) {
    if (point.table != table) return point.table < table;
    return is_left(point.key);
  });
  return static_cast<uint32_t>(at - points.begin());
}

}  // namespace

uint32_t SplitOf(std::span<const SplitPoint> points, uint32_t table, const Key& key) {
  return SplitWhere(points, table, [&](const Key& point) { return CompareKeys(point, key) <= 0; });
}

SplitRange SplitsOf(std::span<const SplitPoint> points, uint32_t table, const KeyRange& range) {
  if (points.empty()) return {};
  if (range.kind == RangeKind::kKey) {
    const uint32_t split = SplitOf(points, table, range.key);
    return {.first = split, .last = split};
  }
  if (range.kind == RangeKind::kPrefix) {
    // A point that begins with the prefix divides the range; a point before it does not.
    const Key first = {range.prefix};
    return {.first = SplitOf(points, table, first),
            .last = SplitWhere(points, table, [&](const Key& point) {
              return CompareKeys(point, first) <= 0 || Contains(range, point);
            })};
  }
  if (range.kind == RangeKind::kSpan) {
    return {.first = SplitOf(points, table, range.span.start),
            .last = SplitWhere(points, table, [&](const Key& point) {
              return CompareKeys(point, range.span.start) <= 0 || Contains(range, point);
            })};
  }
  return {.first = SplitWhere(points, table, [](const Key&) { return false; }),
          .last = SplitWhere(points, table, [](const Key&) { return true; })};
}

}  // namespace whorl::model
