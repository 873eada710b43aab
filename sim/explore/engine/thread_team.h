// Runs pieces of work, one after the other, each on a fixed number of threads.
//
// Invariants:
//   1. When Run returns, every worker has ended its part, and the caller sees what the worker wrote.
//   2. Worker 0 is the caller's thread. With one worker there is no other thread.
//   3. Run throws the exception that a worker threw; if several threw, that of the worker with the lowest number.
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
