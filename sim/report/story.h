// Writes the story of a violation as lines, and selects at most kMaxStoryLines lines from drafts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/instant.h"

namespace whorl::sim {

inline constexpr size_t kMaxStoryLines = 20;  // including the head and the last line

struct StoryLine {
  Instant at;
  std::string who;  // a node, or empty
  std::string text;
};

struct Story {
  // Empty if nothing was violated; then every other field except `asked` is empty.
  std::string invariant;
  std::string asked;  // the invariant that the caller named, if any
  Instant at;
  std::string head;
  std::vector<StoryLine> lines;
  size_t left_out = 0;
  std::string end;               // the state of the nodes at that time
  std::vector<StoryLine> after;  // the harm that came of it

  std::vector<std::string> Lines() const;  // as in explain.h; one line if nothing was violated
};

// --- drafts ------------------------------------------------------------------------------------

// How important a line is; the first is the most important one.
enum class Weight : uint8_t { kEvent, kRound, kFault, kAct, kBelief, kContext, kDetail };

// The order of lines of the same time: a timed fault comes before the lines that it affects, a
// fault that waited for a call comes after the call.
enum class Rank : uint8_t { kAct, kTimedFault, kUnfinished, kTriggeredFault, kEvent };

struct StoryDraft {
  Instant at;
  int16_t node = -1;  // the node that the line is about; -1 for none
  Rank rank = Rank::kAct;
  size_t order = 0;  // the number of drafts that were added before it
  Weight weight = Weight::kDetail;
  std::string who;
  std::string text;
  // Repeated lines with the same key are merged into one, with their number; empty: never merged.
  std::string same;
  size_t times = 1;
  Instant last;

  // The text, with the number of repetitions and the time of the last one.
  std::string Text() const;
};

// Merges repeated drafts and leaves out (and counts) the least important ones until at most `room`
// lines remain; one of them says how many were left out. The result is in the order of time.
std::vector<StoryDraft> FitIn(size_t room, std::vector<StoryDraft> drafts, size_t& left_out);

}  // namespace whorl::sim
