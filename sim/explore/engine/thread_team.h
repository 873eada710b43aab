// A fixed number of threads that do one piece of work together, again and again.
//
// Invariants:
//   1. When Run returns, every worker has ended its part, and what it wrote is seen by the caller.
//   2. Worker 0 is the caller's thread. With one worker there is no other thread.
//   3. Run throws what a worker threw, that of the lowest number if several did.
#pragma once

#include <functional>
#include <memory>

namespace whorl::explore {

class ThreadTeam {
 public:
  // REQUIRES: workers >= 1. There are fewer if the system gives no more threads.
  explicit ThreadTeam(int workers);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  int size() const;

  // Calls work(i) for each worker i in [0, size()), each on its thread.
  void Run(const std::function<void(int worker)>& work);

 private:
  class Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace whorl::explore
