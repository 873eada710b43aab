// Writes the Chrome trace event format, which ui.perfetto.dev and chrome://tracing open.
//
//   {"displayTimeUnit":"ms","otherData":{...},"traceEvents":[
//   {"ph":"M","name":"process_name","pid":1,"args":{"name":"Spanner"}},
//   {"ph":"B","name":"check","cat":"transaction","pid":4,"tid":9,"ts":1002660.123,"args":{...}},
//   ...
//   ]}
//
// Invariants:
//   1. Events are not stored: each is written at once, on a line of its own.
//   2. `ts` and `dur` are microseconds with three decimals, made from whole nanoseconds without
//      floating point.
//   3. Process and thread numbers are assigned here, each once, and each has a name.
// Deliberately left out: checks of the stream (its owner checks its state afterwards), and async
// events: Perfetto attaches arrows to slices of threads only, so slices that overlap get lanes
// (below) instead of ids.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/json_print.h"
#include "sim/scenario/instant.h"

namespace whorl::sim {

// A row of the picture, which the format calls a thread of a process.
struct TraceTrack {
  int process = 0;
  int thread = 0;
};

class ChromeTrace {
 public:
  // Writes the head. `out` outlives this.
  ChromeTrace(std::ostream& out, const Json& about);

  // Processes, and the tracks of a process, are shown in ascending `order`.
  int AddProcess(std::string_view name, int order);
  TraceTrack AddTrack(int process, std::string_view name, int order);

  // Begin and End make a slice; slices of a track nest. `args` of both ends are shown when the
  // slice is selected.
  void Begin(TraceTrack track, Instant at, std::string_view name, std::string_view category,
             const Json& args = Json::object());
  void End(TraceTrack track, Instant at, const Json& args = Json::object());
  void Slice(TraceTrack track, Instant from, Instant to, std::string_view name,
             std::string_view category, const Json& args = Json::object());
  void Point(TraceTrack track, Instant at, std::string_view name, std::string_view category,
             const Json& args = Json::object());
  // An arrow between two slices that have been written: those open at its ends.
  void Arrow(TraceTrack from, Instant leaves, TraceTrack to, Instant arrives,
             std::string_view name);

  // REQUIRES: nothing is written afterwards.
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

// Tracks for slices that overlap: each slice gets the first free lane.
class TraceLanes {
 public:
  // If there are several lanes, each has its number, from 1, after `name`.
  TraceLanes(int process, std::string name, int order)
      : process_(process), name_(std::move(name)), order_(order) {}

  // Takes a lane until Release().
  TraceTrack Take(ChromeTrace& trace, Instant now) { return Take(trace, now, kNever); }
  // Takes a lane until `until`.
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
