// Counts what a takeover costs: the calls about a lock, of all processes but its last owner, from that owner's
// last renewal to the commit by which another process took it.
//
// Only what is logged can be counted. Where not even the call that took the lock is, the cost is not known.
//
// Memory: of each lock, three numbers for each process that has called since the last renewal.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "check/verdict.h"

namespace whorl::check {

class Costs {
 public:
  // A call as its process logged it, or as a program saw it that it passed. If there is both, the former
  // counts.
  struct Call {
    std::string process;
    std::string lock;
    int64_t attempts = 1;  // all but the last were aborted
    bool is_its_own_record = true;
  };
  // It committed; Spanner aborted it; neither.
  void Committed(const Call& call) { ++At(call).commits; }
  void Aborted(const Call& call) { ++At(call).aborted; }
  void Called(const Call& call) { At(call); }

  // REQUIRES, of both: the call that committed it, if there is one, was counted before.
  void Renewed(const std::string& lock) { locks_.erase(lock); }
  // The cost, or nothing if the new owner's calls were not logged.
  std::optional<TakeoverCost> Taken(const std::string& lock, const std::string& owner,
                                    const std::string& last_owner);

 private:
  struct OfProcess {
    TakeoverCost logged;  // by itself
    TakeoverCost seen;    // by another program

    const TakeoverCost& cost() const { return logged.calls > 0 ? logged : seen; }
  };
  using OfLock = std::map<std::string, OfProcess>;  // by process

  TakeoverCost& At(const Call& call) {
    OfProcess& of_process = locks_[call.lock][call.process];
    TakeoverCost& cost = call.is_its_own_record ? of_process.logged : of_process.seen;
    cost.calls += call.attempts;
    cost.aborted += call.attempts - 1;
    return cost;
  }

  std::map<std::string, OfLock> locks_;
};

}  // namespace whorl::check
