// Lays out the lines of a timeline on a screen. timeline.h says what the lines are.
//
// Invariants:
//   1. No line is longer than the screen; a text that does not fit continues in the next line.
//   2. Colour codes are the only difference between coloured and plain output.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sim/scenario/instant.h"

namespace whorl::sim {

struct TimelineStyle {
  int width = 100;  // columns of the screen; at least 60 are used
  bool colour = false;
  bool tells_pauses = true;  // whether a lane can be one of a pause
};

// What a node's process is doing; shown to the left of its column.
enum class Lane : uint8_t { kAbsent, kRuns, kBelieves, kPaused, kPausedBelieving };

enum class Tone : uint8_t { kPlain, kGood, kBad, kWarning };

struct TimelineLine {
  static constexpr int16_t kSpanner = -1;  // the column of Spanner
  static constexpr int16_t kAll = -2;      // across all columns

  Instant at;
  uint64_t ordinal = 0;       // the observation's number
  int16_t node = kSpanner;    // a node, or one of the two constants above
  Lane lane = Lane::kAbsent;  // the node's lane from this line on
  Tone tone = Tone::kPlain;
  std::string text;
};

// Prints the lines in order, under a header that names the columns.
void PrintTimelineLines(const std::vector<std::string>& nodes,
                        const std::vector<TimelineLine>& lines, const TimelineStyle& style,
                        std::ostream& out);

}  // namespace whorl::sim
