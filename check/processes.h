// What is known of each process: its node, its lease, its clock, and how far its log has come.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "check/clock.h"
#include "protocol/spanner/time.h"

namespace whorl::check {

struct Process {
  std::string node;  // empty: its own
  std::optional<Duration> lease;
  Clock clock;
  int64_t starts = 0;                  // how often it said that it starts anew
  std::optional<Timestamp> started;    // when it said so last, by its clock
  bool has_restarted = false;          // it had lines before that
  bool clock_is_assumed = false;       // by what was said of all processes
  bool logs_renewals = false;          // there was a line of one: then there is one of each
  std::optional<int64_t> number;       // of its last line
  std::optional<Timestamp> last_line;  // by its clock
};

// `process` may be null: nothing is known of it.
inline bool KnowsClock(const Process* process) {
  return process != nullptr && process->clock.IsKnown();
}

class Processes {
 public:
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
};

}  // namespace whorl::check
