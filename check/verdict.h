// Holds the verdict on a recorded history.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "check/clock.h"
#include "check/record_counts.h"
#include "protocol/names.h"
#include "protocol/spanner/words.h"
#include "sim/scenario/verdict.h"

namespace whorl::check {

using sim::Verdict;

// As `whorl check` prints it. "n/a" would say that the protocol has no such thing.
constexpr std::string_view HistoryWordOf(Verdict verdict) {
  return verdict == Verdict::kNotApplicable ? "not judged" : WordOf(verdict);
}

struct InvariantResult {
  Invariant invariant = Invariant::kOneLiveToken;
  Verdict verdict = Verdict::kNotApplicable;
  int64_t violations = 0;
  int64_t possible = 0;         // violations that may have happened
  std::optional<Timestamp> at;  // of the first violation, in Spanner's or true time
  std::string lock;             // of the first violation; empty if it is of none
  std::string text;             // for people: the first violation, or why there is no verdict
  std::string remedy;           // for people: what to record; empty if nothing helps
  bool lacks_records = false;   // kUnknown, since records are missing; otherwise none would say
  std::optional<Duration> clocks_wanted;  // clocks known to this would have decided the first
};

// A change of a row that no process can have made. It is charged to nobody, and what it breaks neither.
struct OutsideWrite {
  Timestamp at;  // its commit
  std::string lock;
  std::string text;  // for people
  // It may have ended a lease that lasted, or have made a row that names a holder. Otherwise it broke nothing.
  bool matters = true;
};

// Of what was logged.
struct TakeoverCost {
  int64_t calls = 0;
  int64_t commits = 0;  // of them, those that committed
  int64_t aborted = 0;  // and those that Spanner aborted
};

// Durations in true time. Those of beliefs are at least, by what the clocks allow.
struct HistoryMetrics {
  int64_t row_changes = 0;
  int64_t statements = 0;  // of processes
  int64_t calls = 0;
  int64_t grants = 0;                        // tokens installed, renewals left out
  int64_t takeovers = 0;                     // grants to another process than the last owner
  std::vector<TakeoverCost> takeover_costs;  // of takeovers whose call was logged
  // From the end of each lease that ran out to the next grant.
  std::vector<Duration> without_holder;
  std::vector<Duration> belief_overlaps;
  std::vector<Duration> work_overlaps;
  int64_t renewals = 0;                 // of leases, by their owners
  std::vector<Duration> late_renewals;  // of those after the lease's end: how long after it
  int64_t duplicates = 0;               // records that were there before
  int64_t gaps = 0;                     // places where records are missing
  int64_t outside = 0;                  // changes of rows that no process can have made
  int64_t late = 0;  // records that came after the reorder window, and were left out
};

// What is known of the clock of a process that has lines, when it wrote the last one: at least and at most so
// much ahead of true time. Nothing: neither a declaration nor a call says so.
struct ClockFinding {
  std::string process;
  std::optional<Offsets> ahead;
};

constexpr size_t kOutsideKept = 20;

struct HistoryVerdict {
  std::vector<InvariantResult> invariants;   // all, in the order of Invariant
  std::vector<OutsideWrite> outside_writes;  // the first kOutsideKept that matter
  int64_t outside_count = 0;                 // all that matter
  bool only_ends = false;                    // what lasts ends, and no line says that it begins
  RecordCounts records;                      // what became of them; empty if nobody has counted
  HistoryMetrics metrics;
  std::vector<ClockFinding> clocks;   // by the names of processes
  std::vector<std::string> problems;  // for people: contradicting clocks, at most kProblems
  std::vector<std::string> assumptions;

  const InvariantResult& operator[](Invariant name) const {
    return invariants[static_cast<size_t>(name)];
  }
};

}  // namespace whorl::check
