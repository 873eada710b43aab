// Threads for tasks that block: as many as there are tasks under way, kept for the next ones.
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

  // From any thread. False, and the task is dropped, after Stop().
  bool Run(Task task);
  // Waits for what was taken in. REQUIRES: one thread at a time, and none of these.
  void Stop();

 private:
  void Work();

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace whorl::live
