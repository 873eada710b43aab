// Writes a run's observations as JSON lines.
//
//   {"format":"whorl-trace","version":1,"whorl":"0.1.0","scenario":"x","protocol":"spindle_v2",...}
//   {"n":1,"t":"0.000000000","hash":"0123456789abcdef","event":"process_started","process":"a#1"}
//
// Invariants:
//   1. A scenario and a seed decide every byte, with every compiler. So a trace contains no path,
//      host, wall time or number of threads.
//   2. Every observation is one line: `n` counts them from 1, `t` is true time in seconds since the
//      start, `hash` is the rolling hash up to and including it, and the fields of the observation
//      follow under their own names.
// Deliberately left out: checks of the stream; its owner checks its state afterwards.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "sim/judge/run.h"
#include "sim/report/json_print.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

inline constexpr int kTraceVersion = 1;

// "process_started" and so on: the alternative's name in snake_case.
std::string_view ObservedEventText(const ObservedEvent& event);

// One line of a trace, without its newline.
std::string TraceLine(const JsonPrinter& printer, const Observation& observation, uint64_t ordinal,
                      uint64_t hash);

class TraceWriter : public ObservationSink {
 public:
  // Writes the first line. `out` outlives the writer.
  TraceWriter(std::ostream& out, const Scenario& scenario, uint64_t seed,
              std::string_view whorl_version);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

 private:
  std::ostream& out_;
  JsonPrinter printer_;
};

}  // namespace whorl::sim
