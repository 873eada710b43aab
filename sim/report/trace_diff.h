// Finds the first difference between two traces, and makes a page of one trace.
//
// Invariants:
//   1. Memory does not grow with the traces: one line of each, and kDiffContext lines before it.
//   2. Events are compared without their hash: with different seeds, the hashes differ from the
//      first event on. A difference of the hash alone is reported separately.
//   3. A file that is no trace, has another version or is truncated is an error that names the file
//      and the line. Nothing is read after the first difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/report/json_print.h"
#include "sim/report/page_model.h"
#include "sim/report/trace_reader.h"

namespace whorl::sim {

inline constexpr size_t kDiffContext = 3;

// One key of a header or an event; null on a side that does not have it.
struct FieldDifference {
  std::string field;
  Json a;
  Json b;
};

struct EventDifference {
  uint64_t n = 0;                   // the event's number
  std::vector<std::string> before;  // the last lines that are equal, without their hash
  std::optional<std::string> a;     // without its hash; nothing if that trace has ended
  std::optional<std::string> b;
  std::vector<FieldDifference> fields;  // if both traces have the event
};

struct TraceDifference {
  std::vector<FieldDifference> header;
  uint64_t equal_events = 0;          // how many events are equal from the first on, without hash
  std::optional<uint64_t> hash_from;  // the first of these whose hash differs
  std::optional<EventDifference> event;

  bool IsEqual() const { return header.empty() && !hash_from && !event; }
};

absl::StatusOr<TraceDifference> DiffTraces(TraceInput a, TraceInput b);

// Makes the data of a page from a trace: the same tables as those of a run's page (page_model.h), as far as a
// trace has them. It needs no scenario, so it reads traces of other versions of whorl and of real runs.
//
// Deliberately left out: verdicts, the story and holders of rows, which a trace does not have; the
// head says `from_trace`. Returns an error if the input is no whole trace; it names the file and the line.
absl::StatusOr<PageModel::Data> PageOfTrace(TraceInput input);

}  // namespace whorl::sim
