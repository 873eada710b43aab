// Runs replies, timers and tasks of other threads one at a time, on one thread with gRPC's
// completion queue.
//
// Invariants:
//   1. Every task, timer and completion runs on the loop's thread, so state that only they use
//      needs no lock. None of them may block.
//   2. The thread sleeps in the queue until something is due.
//   3. After Stop() the loop accepts nothing new, but waits for the completions that gRPC still
//      owes, so that none of them finds its owner destroyed.
// Times are those of the monotonic clock in os.h.
#pragma once

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/time.h"

namespace whorl::real_client {

// Converts a time of MonotonicNow() to a gRPC deadline. gRPC's own clock stops while the machine is
// suspended, so a timer that was set before is late by that time; its task has to read the clock
// again.
gpr_timespec ToGrpcDeadline(LocalInstant at);

// A tag in gRPC's completion queue.
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  virtual ~Completion() = default;
  // `ok` has the meaning that gRPC's documentation gives it for the operation.
  virtual void Complete(bool ok) = 0;
};

class EventLoop {
 public:
  using Task = std::function<void()>;
  using TimerId = uint64_t;  // never 0

  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  // Stops the loop and joins its thread. REQUIRES: not on the loop's thread.
  ~EventLoop();

  // Callable from any thread; tasks run in the order of posting. After Stop() it drops the task and
  // returns false.
  bool Post(Task task);
  // Callable from any thread. Drops the timers that are set.
  void Stop();
  // Waits until the loop has stopped. REQUIRES: Stop() was or will be called; not on the loop's
  // thread.
  void Join();

  // On the loop's thread only:
  TimerId At(LocalInstant time, Task task);
  void Cancel(TimerId timer);  // no effect if it has fired
  // REQUIRES: no new operation after Stop().
  grpc::CompletionQueue& queue() { return queue_; }

 private:
  class Wake;
  class Timer;

  void Run();
  void RunTasks();
  void StopNow();

  grpc::CompletionQueue queue_;
  std::mutex mutex_;
  std::vector<Task> tasks_;  // guarded by mutex_
  bool stopping_ = false;    // guarded by mutex_
  std::unique_ptr<Wake> wake_;
  std::map<TimerId, std::unique_ptr<Timer>> timers_;  // the set timers
  TimerId last_timer_ = 0;
  bool closed_ = false;  // the queue accepts no more operations
  std::thread thread_;
};

}  // namespace whorl::real_client
