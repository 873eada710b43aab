// What a test of the contract can do to processes that take part in locks, and see of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/spanner/time.h"

namespace whorl {

struct Contender {
  std::string id;  // a word
  std::string lock;
  Duration lease;
};

// One leadership, from when the process said so to when it could not say so any more. Times are of
// one clock, for all processes.
struct Term {
  std::string id;
  std::string lock;
  std::optional<uint64_t> token;
  Duration began;
  Duration ended;  // Duration::Max(): it goes on
};

// An Await function that waits longer than this, by the processes' clock, fails the test.
inline constexpr Duration kWaitLimit = Seconds(60);

class LockBackend {
 public:
  virtual ~LockBackend() = default;

  // The process begins to take part.
  virtual void Start(const Contender& contender) = 0;
  // Until it leads, or leads no more.
  virtual void AwaitTerm(const std::string& id) = 0;
  virtual void AwaitEnd(const std::string& id) = 0;
  // Until it has looked at the lock so often from now on, or has renewed its lease.
  virtual void AwaitTransactions(const std::string& id, int count) = 0;
  virtual void Crash(const std::string& id) = 0;
  virtual void Pause(const std::string& id) = 0;
  virtual void Resume(const std::string& id) = 0;
  // Gives back what it holds, and is gone.
  virtual void Stop(const std::string& id) = 0;
  // The next reply to a Commit, or to the process, is lost, and its call hangs. False: cannot.
  virtual bool LoseReply(const std::string& id) = 0;
  // Spanner deletes the sessions of the process, or all. False: cannot.
  virtual bool DeleteSessions(const std::string& id) = 0;
  // By their beginning.
  virtual std::vector<Term> Terms() = 0;
  virtual Duration Now() = 0;
};

}  // namespace whorl
