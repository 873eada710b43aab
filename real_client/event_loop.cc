#include "real_client/event_loop.h"

#include <algorithm>
#include <utility>

#include "real_client/os.h"

namespace whorl::real_client {

gpr_timespec ToGrpcDeadline(LocalInstant at) {
  const int64_t pause = std::max<int64_t>(0, (at - MonotonicNow()).ns);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(pause, GPR_TIMESPAN));
}

// Wakes the loop for tasks of other threads. It is set when a task is added to an empty list, so it
// is never set twice at a time.
class EventLoop::Wake final : public Completion {
 public:
  explicit Wake(EventLoop& loop) : loop_(loop) {}
  void Set() {
    alarm_.Set(&loop_.queue_, gpr_time_0(GPR_CLOCK_MONOTONIC), static_cast<Completion*>(this));
  }
  void Complete(bool) override { loop_.RunTasks(); }

 private:
  EventLoop& loop_;
  grpc::Alarm alarm_;
};

// gRPC returns a cancelled alarm through the queue, too, so a timer lives until then.
class EventLoop::Timer final : public Completion {
 public:
  Timer(EventLoop& loop, TimerId id, LocalInstant at, Task task)
      : loop_(loop), id_(id), at_(at), task_(std::move(task)) {
    Set();
  }
  void Cancel() {
    cancelled_ = true;
    alarm_.Cancel();
  }
  void Complete(bool) override {
    if (!cancelled_ && MonotonicNow() < at_) return Set();  // gRPC's clock is a little ahead
    const std::unique_ptr<Timer> self = std::move(loop_.timers_.extract(id_).mapped());
    if (!cancelled_) task_();
  }

 private:
  void Set() { alarm_.Set(&loop_.queue_, ToGrpcDeadline(at_), static_cast<Completion*>(this)); }

  EventLoop& loop_;
  TimerId id_;
  LocalInstant at_;
  Task task_;
  bool cancelled_ = false;
  grpc::Alarm alarm_;
};

EventLoop::EventLoop() : wake_(std::make_unique<Wake>(*this)), thread_([this] { Run(); }) {}

EventLoop::~EventLoop() {
  Stop();
  Join();
}

void EventLoop::Join() {
  if (thread_.joinable()) thread_.join();
}

bool EventLoop::Post(Task task) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  tasks_.push_back(std::move(task));
  if (tasks_.size() == 1) wake_->Set();
  return true;
}

void EventLoop::Stop() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  stopping_ = true;
  tasks_.emplace_back([this] { StopNow(); });
  if (tasks_.size() == 1) wake_->Set();
}

void EventLoop::StopNow() {
  closed_ = true;
  for (auto& [id, timer] : timers_) timer->Cancel();
  queue_.Shutdown();
}

EventLoop::TimerId EventLoop::At(LocalInstant time, Task task) {
  const TimerId id = ++last_timer_;
  if (closed_) return id;
  timers_[id] = std::make_unique<Timer>(*this, id, time, std::move(task));
  return id;
}

void EventLoop::Cancel(TimerId timer) {
  const auto found = timers_.find(timer);
  if (found != timers_.end()) found->second->Cancel();
}

void EventLoop::Run() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) static_cast<Completion*>(tag)->Complete(ok);
}

void EventLoop::RunTasks() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (Task& task : tasks) task();
}

}  // namespace whorl::real_client
