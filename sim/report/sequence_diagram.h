// Writes a run as the text of a Mermaid sequence diagram, to paste into a ticket: what the timeline
// and the page tell, as messages between processes, Spanner and the resource.
//
//   sequenceDiagram
//   participant n0 as a
//   participant spanner as Spanner
//   n0->>spanner: 0.012625 first_insert<br/>lock: token 0.008625 by a
//   Note over n0: 20.000809 paused
//
// Invariants:
//   1. At most kMaxLines lines. Changes that do not fit are left out, those of the least weight and
//      farthest from the first violation first, and a note says how many they are.
//   2. Whatever comes from the scenario is text to Mermaid: no name ends a statement or begins one.
//   3. Memory is bounded as the timeline's is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/judge/run.h"
#include "sim/report/timeline.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// The text as Mermaid shows it unchanged: what could be syntax stands as a character reference.
std::string MermaidText(std::string_view text);

class SequenceDiagram : public ObservationSink {
 public:
  static constexpr size_t kMaxLines = 60;

  // `scenario` outlives this. REQUIRES: it came from the loader, or is valid as the loader would have
  // it.
  explicit SequenceDiagram(const Scenario& scenario);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  // The diagram, each line ended by a newline. REQUIRES: it has heard the run with that result.
  std::string Text(const RunResult& result) const;

 private:
  // The sender and the receiver of a line. A line that is no message is a note.
  enum class Arrow : uint8_t { kToSpanner, kFailsFromSpanner, kToResource, kRefusedByResource };
  struct Message {
    int16_t node = -1;
    Arrow arrow = Arrow::kToSpanner;
    std::string step;  // of a transaction
  };

  std::string HeadText(const RunResult& result) const;
  std::vector<TimelineLine> Chosen(const RunResult& result, size_t& left_out) const;
  std::string StatementOf(const TimelineLine& line, std::string_view over_all) const;
  // The node whose participant the line needs; -1 if it needs none.
  int16_t NodeOf(const TimelineLine& line) const;
  const Message* MessageOf(const TimelineLine& line) const;

  const Scenario& scenario_;
  Timeline timeline_;
  std::map<uint64_t, Message> messages_;  // by the ordinal of their lines
};

}  // namespace whorl::sim
