// Runs tasks that block on threads: one for each task under way, reused for later tasks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace whorl::live {

class Workers {
 public:
  using Task = std::function<void()>;

  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { Stop(); }

  // Callable from any thread. After Stop() it drops the task and returns false.
  bool Run(Task task);
  // Waits for the accepted tasks. REQUIRES: not called concurrently, nor on one of these threads.
  void Stop();

 private:
  void Work();

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace whorl::live
