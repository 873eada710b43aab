#include "sim/batch.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace whorl::sim {
namespace {

std::optional<std::string> RunJob(const BatchJob& job, size_t i) {
  try {
    job(i);
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no exception was thrown";
  }
}

// Jobs that threads take one after the other, and the news of their ends.
class Queue {
 public:
  Queue(size_t count, const BatchJob& job)
      : count_(count), job_(job), errors_(count), ended_(new std::atomic<int>[count]()) {}

  void Work() {
    while (!stop_.load(std::memory_order_relaxed)) {
      const size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count_) return;
      errors_[i] = RunJob(job_, i);
      ended_[i].store(1, std::memory_order_release);
      ended_[i].notify_one();
    }
  }

  // Waits for job `i`.
  const std::optional<std::string>& Wait(size_t i) {
    ended_[i].wait(0, std::memory_order_acquire);
    return errors_[i];
  }

  void Stop() { stop_.store(true, std::memory_order_relaxed); }

 private:
  size_t count_;
  const BatchJob& job_;
  std::vector<std::optional<std::string>> errors_;  // element i is job i's until `ended_[i]`
  std::unique_ptr<std::atomic<int>[]> ended_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
};

// The threads that work on a queue. They are joined when this goes away.
class Crew {
 public:
  Crew(Queue& queue, size_t size) : queue_(queue) {
    threads_.reserve(size);
    try {
      while (threads_.size() < size) threads_.emplace_back([&queue] { queue.Work(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that are there do the work.
    }
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    queue_.Stop();
    for (std::thread& thread : threads_) thread.join();
  }

  bool empty() const { return threads_.empty(); }

 private:
  Queue& queue_;
  std::vector<std::thread> threads_;
};

void RunHere(size_t count, const BatchJob& job, const BatchDone& done) {
  for (size_t i = 0; i < count; ++i) {
    if (done(i, RunJob(job, i)) == BatchStep::kStop) return;
  }
}

}  // namespace

void RunBatch(size_t count, int threads, const BatchJob& job, const BatchDone& done) {
  const size_t size = std::min(static_cast<size_t>(threads), count);
  if (size <= 1) return RunHere(count, job, done);
  Queue queue(count, job);
  const Crew crew(queue, size);
  if (crew.empty()) return RunHere(count, job, done);
  for (size_t i = 0; i < count; ++i) {
    if (done(i, queue.Wait(i)) == BatchStep::kStop) return;
  }
}

}  // namespace whorl::sim
