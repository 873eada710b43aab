// One thread with gRPC's completion queue: replies, timers and tasks of other threads, one at a
// time.
//
// Invariants:
//   1. Everything that is handed in runs on the loop's thread, so that what belongs to the loop
//      needs no lock. Nothing that runs there may block.
//   2. Nothing waits busily: the thread sleeps in the queue until something is due.
//   3. After Stop() nothing new is taken in; what gRPC still owes is waited for, so that no
//      completion finds its owner gone.
// Times are of the monotonic clock of os.h.
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

#include "protocol/spanner/time.h"

namespace whorl::real_client {

// `at` of MonotonicNow, as gRPC takes its deadlines. gRPC's own clock stands still in suspension,
// so a timer that was set before is late by as much; whoever acts on it reads the clock again.
gpr_timespec ToGrpcDeadline(Duration at);

// What gRPC's queue gives back.
class Completion {
 public:
  Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;
  virtual ~Completion() = default;
  // `ok` as gRPC's documentation says for the operation.
  virtual void Complete(bool ok) = 0;
};

class EventLoop {
 public:
  using Task = std::function<void()>;
  using TimerId = uint64_t;  // never 0

  EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  // Stops, and joins the thread. REQUIRES: another thread than the loop's.
  ~EventLoop();

  // From any thread, and in the order of posting. False, and the task is dropped, after Stop().
  bool Post(Task task);
  // From any thread. The timers that are set are dropped.
  void Stop();
  // Waits until the loop has stopped. REQUIRES: Stop() was or will be called; another thread than
  // the loop's.
  void Join();

  // From the loop's thread only:
  TimerId At(Duration time, Task task);
  void Cancel(TimerId timer);  // nothing happens when it has fired
  // REQUIRES: for a new operation, that the loop is not closed.
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
  std::map<TimerId, std::unique_ptr<Timer>> timers_;  // those that are set
  TimerId last_timer_ = 0;
  bool closed_ = false;  // gRPC takes no more operations
  std::thread thread_;
};

}  // namespace whorl::real_client
