#include "sim/explore/engine/thread_team.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace whorl::explore {

class ThreadTeam::Threads {
 public:
  explicit Threads(int workers) : errors_(static_cast<size_t>(workers)) {
    while (size() < workers && AddOne()) {
    }
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() {
    Begin(nullptr);
    for (std::thread& thread : threads_) thread.join();
  }

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  void Run(const std::function<void(int)>& work) {
    Begin(&work);
    Do(work, 0);
    Await();
    for (std::exception_ptr& error : errors_) {
      if (error) std::rethrow_exception(std::exchange(error, nullptr));
    }
  }

 private:
  // Adds a thread. False if the system gives no more threads.
  bool AddOne() {
    try {
      threads_.emplace_back([this, worker = size()] { Work(worker); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  // Begins the next round. Null: the threads end.
  void Begin(const std::function<void(int)>* work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = work;
      ++round_;
      working_ = threads_.size();
    }
    begun_.notify_all();
  }

  void Await() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return working_ == 0; });
  }

  void Work(int worker) {
    for (uint64_t done = 0;;) {
      const std::function<void(int)>* work = nullptr;
      {
        std::unique_lock lock(mutex_);
        begun_.wait(lock, [&] { return round_ != done; });
        done = round_;
        work = work_;
      }
      if (work == nullptr) return;
      Do(*work, worker);
      const std::lock_guard lock(mutex_);
      if (--working_ == 0) ended_.notify_one();
    }
  }

  void Do(const std::function<void(int)>& work, int worker) {
    try {
      work(worker);
    } catch (...) {
      errors_[static_cast<size_t>(worker)] = std::current_exception();
    }
  }

  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  const std::function<void(int)>* work_ = nullptr;
  uint64_t round_ = 0;
  size_t working_ = 0;
  std::vector<std::exception_ptr> errors_;  // by worker, of the current round
  std::vector<std::thread> threads_;
};

ThreadTeam::ThreadTeam(int workers) : threads_(std::make_unique<Threads>(workers)) {}
ThreadTeam::~ThreadTeam() = default;
int ThreadTeam::size() const { return threads_->size(); }
void ThreadTeam::Run(const std::function<void(int)>& work) { threads_->Run(work); }

}  // namespace whorl::explore
