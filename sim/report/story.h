// The story of a violation as lines, and how the lines that were thought of become few enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/instant.h"

namespace whorl::sim {

inline constexpr size_t kMaxStoryLines = 20;  // the head and the last line included

struct StoryLine {
  Instant at;
  std::string who;  // a node, or empty
  std::string text;
};

struct Story {
  // Empty when nothing was violated; then all else is empty, but for what was asked for.
  std::string invariant;
  std::string asked;  // an invariant, where one was named
  Instant at;
  std::string head;
  std::vector<StoryLine> lines;
  size_t left_out = 0;
  std::string end;  // what everybody was doing at that time

  std::vector<std::string> Lines() const;  // as above; one line when nothing was violated
};

// --- drafts ------------------------------------------------------------------------------------

// What is left out last stands first.
enum class Weight : uint8_t { kEvent, kRound, kFault, kAct, kBelief, kContext, kDetail };

// Of two lines of the same time, the one with the smaller rank stands first: a fault that struck at
// a time comes before what it held up, one that waited for a call comes after it.
enum class Rank : uint8_t { kAct, kTimedFault, kUnfinished, kTriggeredFault, kEvent };

struct StoryDraft {
  Instant at;
  int16_t node = -1;  // whose it is; -1 for nobody's
  Rank rank = Rank::kAct;
  size_t order = 0;  // in which it was thought of
  Weight weight = Weight::kDetail;
  std::string who;
  std::string text;
  // Lines that say the same again are told once, with their number; empty: never.
  std::string same;
  size_t times = 1;
  Instant last;

  // With how often it was so, and until when.
  std::string Text() const;
};

// In the order of time, those that say the same merged, and the lightest left out (and counted)
// until, with a line for what is left out, no more than `room` remain.
std::vector<StoryDraft> FitIn(size_t room, std::vector<StoryDraft> drafts, size_t& left_out);

}  // namespace whorl::sim
