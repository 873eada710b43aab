// Keeps what is known of each process: its node, its lease, its clock, and how far its log has come.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "check/clock.h"
#include "check/operation.h"

namespace whorl::check {

struct Process {
  // Another process saw that it has ended, and said so at `at`, by its own clock.
  struct End {
    const Process* by = nullptr;
    Timestamp at;
  };

  std::string node;  // empty: its own
  // What it declared last, and the shortest and longest of all: one that was started anew may have another
  // lease than before.
  std::optional<Duration> lease;
  std::optional<Duration> lease_least;
  std::optional<Duration> lease_most;
  Clock clock;
  int64_t starts = 0;                          // how often it said that it starts anew
  std::optional<Timestamp> started;            // when it said so last, by its clock
  bool has_restarted = false;                  // it had lines before that
  bool clock_is_assumed = false;               // by what was said of all processes
  bool logs_renewals = false;                  // there was a line of one: then there is one of each
  std::array<bool, kCountOf<Kind>> logs = {};  // kinds of lines that are complete
  std::array<bool, kCountOf<Kind>> logs_ends = {};  // likewise of the ends of what lasts
  bool takes_part = false;    // it may lead: it has lines of its own, or made calls
  bool is_two = false;        // two processes have its id at one time
  std::string file;           // of its last line
  std::string file_of_start;  // of the line by which it started last
  // The file of the line before that, if the process of that line has logged its start there.
  std::string file_before;
  std::optional<int64_t> number;  // of its last line
  // The number of the last line of the process before it, while that one may go on.
  std::optional<int64_t> number_before;
  // How often in a row the two took turns, each going on where it had stopped.
  int turns = 0;
  std::optional<Timestamp> last_line;  // by its clock
  std::deque<End> ends;                // the newest kEndsKept
};
constexpr size_t kEndsKept = 64;

inline bool Logs(const Process& process, Kind kind) {
  return process.logs[static_cast<size_t>(kind)];
}
inline bool LogsEnds(const Process& process, Kind kind) {
  return process.logs_ends[static_cast<size_t>(kind)];
}

inline void DeclareLease(Process& process, Duration lease) {
  process.lease = lease;
  process.lease_least = std::min(process.lease_least.value_or(lease), lease);
  process.lease_most = std::max(process.lease_most.value_or(lease), lease);
}

// `process` may be null: nothing is known of it.
inline bool KnowsClock(const Process* process) {
  return process != nullptr && process->clock.IsKnown();
}

// When what began by `begun_by` and lasted until `until` for certain, in true time, was over at the latest since
// the process had ended. Nothing: nobody saw that.
inline std::optional<Timestamp> OverByEnd(const Process& process, Timestamp begun_by,
                                          Timestamp until) {
  for (const Process::End& end : process.ends) {
    if (!KnowsClock(end.by)) continue;
    const Between at = end.by->clock.TrueTime(end.at);
    // Otherwise it may be another one, which was started since then.
    if (begun_by <= at.earliest && until <= at.latest) return at.latest;
  }
  return std::nullopt;
}

class Processes {
 public:
  // The greatest offset that was ever declared or shown, the coarsest times, and when something was said.
  void Learn(Duration offset) { clock_most_ = std::max(clock_most_, offset); }
  void Shorten(Duration resolution) { resolution_ = std::max(resolution_, resolution); }
  void Saw(Timestamp at) {
    seen_from_ = std::min(seen_from_.value_or(at), at);
    seen_to_ = std::max(seen_to_.value_or(at), at);
  }
  // What calls show of a clock wears off.
  void Drifts() { drifts_ = true; }
  Duration clock_most() const { return clock_most_; }
  // No time that was seen, by a clock that is known, is further from true time.
  Duration FarthestOff() const {
    const Duration off = clock_most_ + resolution_;
    return drifts_ && seen_from_ ? off + Clock::DriftIn(*seen_to_ - *seen_from_) : off;
  }

  Process& At(const std::string& name) { return processes_[name]; }
  Process* Find(std::string_view name) {
    const auto found = processes_.find(name);
    return found == processes_.end() ? nullptr : &found->second;
  }
  const Process* Find(std::string_view name) const {
    const auto found = processes_.find(name);
    return found == processes_.end() ? nullptr : &found->second;
  }
  // Processes of one node are one candidate: a restarted process may take its own lease.
  bool AreOfOneNode(const std::string& a, const std::string& b) const {
    return a == b || NodeOf(a) == NodeOf(b);
  }
  const std::map<std::string, Process, std::less<>>& all() const { return processes_; }

 private:
  std::string NodeOf(const std::string& name) const {
    const Process* process = Find(name);
    return process == nullptr || process->node.empty() ? name : process->node;
  }

  std::map<std::string, Process, std::less<>> processes_;
  Duration clock_most_;
  Duration resolution_;
  bool drifts_ = false;
  std::optional<Timestamp> seen_from_;
  std::optional<Timestamp> seen_to_;
};

}  // namespace whorl::check
