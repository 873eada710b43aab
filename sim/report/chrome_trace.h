// The Chrome trace event format: what ui.perfetto.dev and chrome://tracing open.
//
//   {"displayTimeUnit":"ms","otherData":{...},"traceEvents":[
//   {"ph":"M","name":"process_name","pid":1,"args":{"name":"Spanner"}},
//   {"ph":"B","name":"check","cat":"transaction","pid":4,"tid":9,"ts":1002660.123,"args":{...}},
//   ...
//   ]}
//
// Invariants:
//   1. Nothing is kept: an event is written when it is said, on a line of its own.
//   2. `ts` and `dur` are microseconds with three decimals, made from whole nanoseconds without
//      floating point.
//   3. Process and thread numbers are given out here, each once, and each has a name.
// Deliberately left out: any check of the stream (who opened it looks at its state afterwards), and
// async events: Perfetto ties a flow to slices of threads only, so what overlaps gets lanes (below)
// rather than ids.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/json_print.h"
#include "sim/scenario/instant.h"

namespace whorl::sim {

// A row of the picture: what the format calls a thread of a process.
struct TraceTrack {
  int process = 0;
  int thread = 0;
};

class ChromeTrace {
 public:
  // Writes the head. `out` outlives this.
  ChromeTrace(std::ostream& out, const Json& about);

  // Both are shown in the order of their numbers, smallest first.
  int AddProcess(std::string_view name, int order);
  TraceTrack AddTrack(int process, std::string_view name, int order);

  // A slice: Begin and End nest on a track. `args` are shown when the slice is chosen; those of
  // both ends are put together.
  void Begin(TraceTrack track, Instant at, std::string_view name, std::string_view category,
             const Json& args = Json::object());
  void End(TraceTrack track, Instant at, const Json& args = Json::object());
  void Slice(TraceTrack track, Instant from, Instant to, std::string_view name,
             std::string_view category, const Json& args = Json::object());
  void Point(TraceTrack track, Instant at, std::string_view name, std::string_view category,
             const Json& args = Json::object());
  // An arrow between the slices that are open at its ends, which were written before.
  void Arrow(TraceTrack from, Instant leaves, TraceTrack to, Instant arrives,
             std::string_view name);

  // Nothing may be written afterwards.
  void Close();

 private:
  void Write(std::string_view phase, std::string_view name, const std::string& rest,
             const Json& args);

  std::ostream& out_;
  bool is_first_ = true;
  int processes_ = 0;
  int threads_ = 0;
  uint64_t arrows_ = 0;
};

// Tracks for slices that overlap: each slice gets the first lane that is free.
class TraceLanes {
 public:
  // `name` is followed by the lane's number, from 1, when there are several.
  TraceLanes(int process, std::string name, int order)
      : process_(process), name_(std::move(name)), order_(order) {}

  // Taken until Release().
  TraceTrack Take(ChromeTrace& trace, Instant now) { return Take(trace, now, kNever); }
  // Taken until then.
  TraceTrack Take(ChromeTrace& trace, Instant now, Instant until);
  void Release(TraceTrack track, Instant now);

 private:
  struct Lane {
    TraceTrack track;
    Instant taken_until;
  };
  int process_;
  std::string name_;
  int order_;
  std::vector<Lane> lanes_;
};

}  // namespace whorl::sim
