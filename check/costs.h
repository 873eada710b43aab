// Counts what a takeover costs: the calls about a lock, of all processes but its last owner, from that owner's
// last renewal to the commit by which another process took it.
//
// Only what is logged can be counted. Where not even the call that took the lock is, the cost is not known.
//
// Memory: of each lock, three numbers for each process that has called since the last renewal.
#pragma once

#include <map>
#include <string>

#include "check/verdict.h"

namespace whorl::check {

class Costs {
 public:
  // A call that committed; a call that Spanner aborted; any other one.
  void Committed(const std::string& process, const std::string& lock) {
    ++At(process, lock).commits;
  }
  void Aborted(const std::string& process, const std::string& lock) { ++At(process, lock).aborted; }
  void Called(const std::string& process, const std::string& lock) { At(process, lock); }

  // REQUIRES, of both: the call that committed it, if there is one, was counted before.
  void Renewed(const std::string& lock) { locks_.erase(lock); }
  // The cost, or nothing if the new owner's calls were not logged.
  std::optional<TakeoverCost> Taken(const std::string& lock, const std::string& owner,
                                    const std::string& last_owner);

 private:
  using OfLock = std::map<std::string, TakeoverCost>;  // by process

  TakeoverCost& At(const std::string& process, const std::string& lock) {
    TakeoverCost& cost = locks_[lock][process];
    ++cost.calls;
    return cost;
  }

  std::map<std::string, OfLock> locks_;
};

}  // namespace whorl::check
