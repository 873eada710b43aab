// Tells for each process of a history when it showed signs of life, held a lock, worked, and ended. Faults are
// inferred from this (infer.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "check/history.h"
#include "protocol/protocols.h"

namespace whorl::check {

// Something that a process did.
struct Activity {
  Timestamp at;
  bool commits = false;  // it needed Spanner: a call that was committed, or a change of its row
  bool is_busy = false;  // from then on it holds a lock, believes that it leads, or is at work
  bool lapses = false;   // it says that it leads no longer
};

struct TimeSpan {
  Timestamp from;
  Timestamp to;
};

// From a start of a process to its end, or to the end of the history.
struct Life {
  std::string process;
  std::optional<Timestamp> started;  // if it was said
  std::optional<Timestamp> stopped;  // it said that it leads no lock any more, and never did again
  std::optional<Timestamp> gone;     // it said that it has ended
  std::vector<Activity> signs;       // by time; never empty
  std::vector<TimeSpan> calls;       // from when each was sent to its reply
};

struct NodeLives {
  std::string name;
  std::vector<Life> lives;
  std::set<std::string> locks;
  std::vector<Timestamp> answers;  // that it has a lock
  std::vector<TimeSpan> work;      // that has ended
  bool works = false;
  bool takes_part = false;  // it is a candidate for a lock
};

struct Grant {
  std::string lock;
  Timestamp at;
  std::string node;
};

struct ProcessTimelines {
  std::vector<std::string> locks;
  std::vector<NodeLives> nodes;  // those that take part, in the order in which they appear
  std::vector<Grant> grants;     // to another node than the last
  // Who held each lock before the first change of it that is recorded; empty: nobody, or not known.
  std::map<std::string, std::string> held_before;
  std::vector<std::string> others;  // processes that take no part, such as resources
};

ProcessTimelines TimelinesOf(const ProtocolInfo& protocol, const std::vector<Moment>& moments,
                             const Processes& processes);

}  // namespace whorl::check
