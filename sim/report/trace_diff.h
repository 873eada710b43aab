// Where two traces differ first.
//
// Invariants:
//   1. Memory does not grow with the traces: a line of each, and kDiffContext lines before it.
//   2. Events are compared without their hash, which is begun from the seed and so differs from
//      the first event on where the seeds do; a hash that differs by itself is told apart.
//   3. What is no trace, of another version or cut off is an error that names the file and the
//      line. After the first difference nothing is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/report/json_print.h"

namespace whorl::sim {

inline constexpr size_t kDiffContext = 3;
inline constexpr size_t kMaxTraceLine = size_t{1} << 22;  // bytes

// One key of a header or an event; null where a side does not have it.
struct FieldDifference {
  std::string field;
  Json a;
  Json b;
};

struct EventDifference {
  uint64_t n = 0;                   // the event's number
  std::vector<std::string> before;  // lines that both have, without their hash; the last ones
  std::optional<std::string> a;     // without its hash; nothing when that trace has ended
  std::optional<std::string> b;
  std::vector<FieldDifference> fields;  // where both have it
};

struct TraceDifference {
  std::vector<FieldDifference> header;
  uint64_t equal_events = 0;          // from the first on, but for the hash
  std::optional<uint64_t> hash_from;  // the first of these whose hash differs
  std::optional<EventDifference> event;

  bool IsEqual() const { return header.empty() && !hash_from && !event; }
};

struct TraceInput {
  std::istream* stream = nullptr;
  std::string name;  // for messages
};

absl::StatusOr<TraceDifference> DiffTraces(TraceInput a, TraceInput b);

}  // namespace whorl::sim
