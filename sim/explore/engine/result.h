// Defines the options and the results of a search.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/explore/engine/model.h"

namespace whorl::explore {

// The progress of a search so far.
struct Progress {
  uint64_t states = 0;       // visited
  uint64_t transitions = 0;  // choices taken
  uint64_t frontier = 0;     // states that wait to be expanded, with those that need one more fault
  int faults = 0;            // the faults of the states that are expanded now
  int steps = 0;
  size_t bytes = 0;  // in all: visited set, links, frontier, buffers
  // Waiting states of a checkpoint are being made again: `made` of `frontier` are done.
  bool is_restoring = false;
  uint64_t made = 0;
};

enum class Continue { kYes, kSave, kNo };

struct SearchRecord;
struct WaitingLinks;

struct SearchOptions {
  int jobs = 1;
  int max_faults = std::numeric_limits<int>::max();
  // The search ends when it holds more bytes. It checks this between rounds, so it may exceed the limit by the memory
  // of one round.
  size_t max_bytes = std::numeric_limits<size_t>::max();
  uint32_t watched = ~uint32_t{0};  // properties to judge
  bool stop_at_violation = false;   // stop at the end of the level of the first violation
  bool each_kind = false;           // show a path for each kind, not only for each property
  // How many states a worker expands before it waits for the others and limits are checked. With enough of them the
  // waiting costs little. At least 1.
  size_t round = 4096;
  // Called on the caller's thread after each round; returns whether to go on, and whether to save first. The engine
  // reads no clock and handles no signal; the caller does so here.
  std::function<Continue(const Progress&)> progress = {};
  // Called when `progress` returns kSave, and when the search ends, unless it ends before all states of its checkpoint
  // are made again. A search can go on from the arguments (Checkpoint).
  std::function<void(const SearchRecord&, const WaitingLinks&)> save = {};
};

enum class Ending { kComplete, kViolation, kMemory, kStopped };

constexpr std::string_view EndingName(Ending ending) {
  switch (ending) {
    case Ending::kComplete:
      return "complete";
    case Ending::kViolation:
      return "violation";
    case Ending::kMemory:
      return "memory";
    case Ending::kStopped:
      return "stopped";
  }
  return "";
}

// The states whose shortest path has this many faults.
struct FaultLevel {
  uint64_t states = 0;
  uint64_t transitions = 0;  // from these states
  int steps = 0;             // the most steps of a shortest path to one of them

  friend bool operator==(const FaultLevel&, const FaultLevel&) = default;
};

// A path: the choices from an initial state on.
template <typename Choice>
struct Path {
  size_t initial = 0;  // number of the initial state
  std::vector<Choice> choices;

  friend bool operator==(const Path&, const Path&) = default;
};

// A violated property, with a path of the fewest faults and, among these, of the fewest steps.
template <typename Choice>
struct Violation {
  int property = 0;
  uint64_t kind = 0;  // 0 if the model has no Kind()
  int faults = 0;
  Path<Choice> path;

  friend bool operator==(const Violation&, const Violation&) = default;
};

// A search's result, except its violations.
struct SearchSummary {
  Ending ending = Ending::kComplete;
  uint64_t states = 0;
  uint64_t transitions = 0;
  uint64_t frontier = 0;  // states that were found and not expanded
  // All states with fewer faults were visited; and all states with this many faults, up to this many steps.
  int explored_faults = 0;
  int explored_steps = 0;
  std::vector<FaultLevel> levels;                       // by the number of faults
  std::array<uint64_t, kMaxProperties> violating = {};  // by property: states
  double expected_omissions =
      0;                     // states that may have been taken for others; see fingerprint_set.h
  size_t visited_bytes = 0;  // of the visited set and the links, at the end
  size_t peak_bytes = 0;     // the maximum of all bytes after a round
};

template <typename Choice>
struct SearchResult : SearchSummary {
  std::vector<Violation<Choice>> violations;  // in the order in which they were found
};

// Translates a result to other choices. `path_of`: translates a path.
template <typename To, typename From, typename PathOf>
SearchResult<To> WithPaths(const SearchResult<From>& found, const PathOf& path_of) {
  SearchResult<To> result = {found, {}};
  for (const Violation<From>& violation : found.violations) {
    result.violations.push_back({.property = violation.property,
                                 .kind = violation.kind,
                                 .faults = violation.faults,
                                 .path = path_of(violation.path)});
  }
  return result;
}

}  // namespace whorl::explore
