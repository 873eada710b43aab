// Runs all locks of a client on a single thread: tasks posted by other threads, and timers that
// count suspension.
//
// Invariants:
//   1. State of the loop is used on its thread only, so it needs no lock.
//   2. A timer never fires before its time by MonotonicNow(). If the machine was suspended, it
//      fires at most kLongestSleep after the machine resumes, since the kernel's own timers stop
//      meanwhile.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "base/time.h"
#include "real_client/os.h"

namespace whorl::real_client {

// MonotonicNow() as a clock for Asio.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  static time_point now() { return At(MonotonicNow()); }
  static time_point At(LocalInstant time) { return time_point(duration(time.ns)); }
};

struct BootWaits {
  static constexpr std::chrono::seconds kLongestSleep{1};

  static BootClock::duration to_wait_duration(const BootClock::duration& pause) {
    return pause < kLongestSleep ? pause : kLongestSleep;
  }
  static BootClock::duration to_wait_duration(const BootClock::time_point& at) {
    // A difference would overflow for a time that means "never".
    const BootClock::time_point now = BootClock::now();
    return at > now + kLongestSleep ? kLongestSleep : at - now;
  }
};

using LoopTimer = boost::asio::basic_waitable_timer<BootClock, BootWaits>;

class LockLoop {
 public:
  LockLoop() : work_(context_.get_executor()), thread_([this] { context_.run(); }) {}
  LockLoop(const LockLoop&) = delete;
  LockLoop& operator=(const LockLoop&) = delete;
  // Waits until all posted tasks have run. REQUIRES: not on the loop's thread; no timer is set.
  ~LockLoop() {
    work_.reset();
    thread_.join();
  }

  // Callable from any thread; tasks run in the order of posting.
  template <typename Task>
  void Post(Task task) {
    boost::asio::post(context_, std::move(task));
  }
  // The same, and waits until the task has run. REQUIRES: not on the loop's thread.
  template <typename Task>
  void PostAndWait(Task task) {
    std::promise<void> done;
    const std::future<void> end = done.get_future();
    Post([&task, done = std::move(done)]() mutable {
      task();
      done.set_value();
    });
    end.wait();
  }
  bool IsThisThread() const { return std::this_thread::get_id() == thread_.get_id(); }
  boost::asio::io_context& context() { return context_; }

 private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace whorl::real_client
