#include "sim/judge/batch.h"

#include <algorithm>
#include <atomic>
#include <exception>
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

// Hands jobs out to threads, and tells the caller when each has ended.
class Queue {
 public:
  Queue(size_t count, const BatchJob& job) : count_(count), job_(job), places_(kBatchWindow) {}

  void Work() {
    while (true) {
      const size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= count_ || !WaitForPlace(i)) return;
      Place& place = places_[i % kBatchWindow];
      place.error = RunJob(job_, i);
      place.ended.store(i + 1, std::memory_order_release);
      place.ended.notify_one();
    }
  }

  // Waits for the end of job `i`.
  const std::optional<std::string>& Wait(size_t i) {
    Place& place = places_[i % kBatchWindow];
    for (size_t ended = 0; (ended = place.ended.load(std::memory_order_acquire)) != i + 1;) {
      place.ended.wait(ended, std::memory_order_acquire);
    }
    return place.error;
  }

  // `done` has returned for the jobs before `i`, so their places are free.
  void Deliver(size_t i) {
    delivered_.store(i, std::memory_order_release);
    delivered_.notify_all();
  }

  // No further job begins.
  void Stop() { Deliver(kStopped); }

 private:
  static constexpr size_t kStopped = static_cast<size_t>(-1);

  struct Place {
    std::optional<std::string> error;
    std::atomic<size_t> ended = 0;  // 1 + the last job that ended in this place
  };

  // False once the queue has been stopped.
  bool WaitForPlace(size_t i) {
    size_t delivered = delivered_.load(std::memory_order_acquire);
    while (delivered != kStopped && i - delivered >= kBatchWindow) {
      delivered_.wait(delivered, std::memory_order_acquire);
      delivered = delivered_.load(std::memory_order_acquire);
    }
    return delivered != kStopped;
  }

  size_t count_;
  const BatchJob& job_;
  std::vector<Place> places_;
  std::atomic<size_t> next_ = 0;
  std::atomic<size_t> delivered_ = 0;  // jobs whose `done` has returned, or kStopped
};

// The threads that work on a queue. The destructor stops the queue and joins them.
class Workers {
 public:
  Workers(Queue& queue, size_t size) : queue_(queue) {
    threads_.reserve(size);
    while (threads_.size() < size && AddOne()) {
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    queue_.Stop();
    for (std::thread& thread : threads_) thread.join();
  }

  bool empty() const { return threads_.empty(); }

 private:
  // False if the system gives no more threads; the existing ones do the work.
  bool AddOne() {
    try {
      threads_.emplace_back([this] { queue_.Work(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  Queue& queue_;
  std::vector<std::thread> threads_;
};

void RunOnThisThread(size_t count, const BatchJob& job, const BatchDone& done) {
  for (size_t i = 0; i < count; ++i) {
    if (done(i, RunJob(job, i)) == BatchStep::kStop) return;
  }
}

}  // namespace

void RunBatch(size_t count, int threads, const BatchJob& job, const BatchDone& done) {
  const size_t size = std::min(static_cast<size_t>(threads), count);
  if (size <= 1) return RunOnThisThread(count, job, done);
  Queue queue(count, job);
  const Workers workers(queue, size);
  if (workers.empty()) return RunOnThisThread(count, job, done);
  for (size_t i = 0; i < count; ++i) {
    if (done(i, queue.Wait(i)) == BatchStep::kStop) return;
    queue.Deliver(i + 1);
  }
}

}  // namespace whorl::sim
