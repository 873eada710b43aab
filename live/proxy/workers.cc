#include "live/proxy/workers.h"

#include <utility>

namespace whorl::live {

bool Workers::Run(Task task) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  tasks_.push_back(std::move(task));
  if (tasks_.size() > idle_) {
    threads_.emplace_back([this] { Work(); });
  } else {
    changed_.notify_one();
  }
  return true;
}

void Workers::Stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void Workers::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace whorl::live
