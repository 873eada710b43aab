// Declares what a test of the contract can do to its processes, and observe of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace whorl {

struct Contender {
  std::string id;  // a word
  std::string lock;
  Duration lease;
};

// One term, from the time at which the process reported that it leads until it could no longer do
// so. Times are those of one clock for all processes.
struct Term {
  std::string id;
  std::string lock;
  std::optional<uint64_t> token;
  LocalInstant began;
  LocalInstant ended;  // LocalInstant::Max(): it has not ended
};

// An Await function that waits longer than this, by the processes' clock, fails the test.
inline constexpr Duration kWaitLimit = Seconds(60);

class LockBackend {
 public:
  virtual ~LockBackend() = default;

  // Starts a process that competes for the lock.
  virtual void Start(const Contender& contender) = 0;
  // Waits until the process leads, or no longer leads.
  virtual void AwaitTerm(const std::string& id) = 0;
  virtual void AwaitEnd(const std::string& id) = 0;
  // Waits until the process has run `count` more transactions (reads of the lock or renewals).
  virtual void AwaitTransactions(const std::string& id, int count) = 0;
  virtual void Crash(const std::string& id) = 0;
  virtual void Pause(const std::string& id) = 0;
  virtual void Resume(const std::string& id) = 0;
  // Ends the process, which releases the lock first.
  virtual void Stop(const std::string& id) = 0;
  // Loses the next reply to a Commit, or to the process; its call hangs. False if it cannot.
  virtual bool LoseReply(const std::string& id) = 0;
  // Fails the next Commit, which then has no effect, with FAILED_PRECONDITION. False if it cannot.
  virtual bool RefuseCommit() = 0;
  // Deletes the sessions of the process, or all sessions. False if it cannot.
  virtual bool DeleteSessions(const std::string& id) = 0;
  // In the order in which they began.
  virtual std::vector<Term> Terms() = 0;
  virtual LocalInstant Now() = 0;
};

}  // namespace whorl
