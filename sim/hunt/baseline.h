// Records what runs of a hunt did, in figures with which another revision's runs of the same worlds can be
// compared.
//
// Invariants:
//   1. Which figures there are follows from the enumerations of invariants, metrics, goals and events, and from
//      what runs show (steps, kinds of violations, notes): none is listed by hand.
//   2. A figure that is 0 in every run has no column.
//   3. Threads change nothing.
// Deliberately left out: what decides whether a figure has moved (cli/hunt/baseline_comparison.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "protocol/spanner/words.h"
#include "sim/hunt/hunt.h"
#include "sim/judge/batch.h"

namespace whorl::sim {

// What kind of figure it is.
enum class FigureFamily : uint8_t {
  kBroken,      // 1 if the run broke the promise of the invariant
  kViolated,    // 1 if the run violated the invariant, promised or not
  kViolatedAt,  // 1 if it did so first at this step
  kMetric,      // sim/scenario/metrics.h; times in milliseconds, rounded up
  kGoal,        // how often the run met the goal
  kCalls,       // calls of the step that were sent
  kEvents,      // observations of what belongs to no step
  kUnknown,     // 1 if the judge of the invariant could not tell
};
constexpr auto WordTableOf(FigureFamily) {
  return MakeWordTable<FigureFamily>({
      {FigureFamily::kBroken, "broken"},
      {FigureFamily::kViolated, "violated"},
      {FigureFamily::kViolatedAt, "violated_at"},
      {FigureFamily::kMetric, "metric"},
      {FigureFamily::kGoal, "goal"},
      {FigureFamily::kCalls, "calls"},
      {FigureFamily::kEvents, "event"},
      {FigureFamily::kUnknown, "unknown"},
  });
}

struct FigureName {
  FigureFamily family = FigureFamily::kBroken;
  std::string word;  // "single_leader_belief", "single_leader_belief at heartbeat", "rpcs"
  friend auto operator<=>(const FigureName&, const FigureName&) = default;
};
// Whether the figure is a time, in milliseconds.
bool IsTime(const FigureName& name);
// Whether the figure is 1 or 0 in each run.
bool IsYesOrNo(const FigureName& name);

// Figures that follow from an enumeration. A revision that lacks the enumerator does not count it.
std::set<FigureName> FiguresOfEnumerations();

// A figure of one run, to within a fifth: 0 to 7 are levels of their own, and then there are four to each
// power of two. A change that is smaller moves as many runs by a level as its size says.
// REQUIRES: value >= 0.
uint8_t LevelOf(int64_t value);
inline constexpr size_t kLevels = 8 + 4 * 60;

// A figure of all runs of a protocol.
struct FigureColumn {
  int64_t runs = 0;  // in which it is not 0
  int64_t sum = 0;
  std::vector<uint8_t> levels;  // by run, in their order
  friend bool operator==(const FigureColumn&, const FigureColumn&) = default;
};

struct ProtocolRecord {
  uint64_t hash = 0;  // over all runs, as in HuntTally
  // By run of the protocol: its number in the hunt, and hashes of its world and of its events. Two worlds or runs
  // that differ have the same hash once in 16 million.
  std::vector<uint64_t> numbers;
  std::vector<uint32_t> worlds;
  std::vector<uint32_t> events;
  std::map<FigureName, FigureColumn> columns;
  // Runs that came out otherwise the second time; not a part of what is saved.
  std::vector<uint64_t> unrepeatable;
  friend bool operator==(const ProtocolRecord&, const ProtocolRecord&) = default;
};
inline constexpr uint32_t kShortHashMax = 0xFF'FFFF;

struct Baseline {
  HuntOptions hunt;  // which worlds
  uint64_t runs = 0;
  std::set<FigureName> enumerated;  // what the revision that recorded it counts, at least
  std::map<std::string, ProtocolRecord> protocols;
  friend bool operator==(const Baseline&, const Baseline&) = default;
};

// The greatest number of runs: a level is kept for each figure of each run.
inline constexpr uint64_t kBaselineRunsMax = 100'000;

// A record of no runs. REQUIRES: the hunt is in one piece, is not guided, and starts from no scenario.
Baseline BaselineOf(const HuntOptions& hunt);

// The numbers of those of the first `runs` runs of a hunt that are of the protocol.
std::vector<uint64_t> RunsOf(const HuntOptions& hunt, const std::string& protocol, uint64_t runs);

// Runs the first `count` runs and adds them. Calls `go_on` after each, on the caller's thread.
// kInternal: a run failed to run; the message says which.
absl::Status RecordRuns(uint64_t count, int threads,
                        const std::function<BatchStep(uint64_t done)>& go_on, Baseline& baseline);

}  // namespace whorl::sim
