// The backend for callers on any thread: one lock around it, one thread for its timers, and the
// faults that tests put in the way.
//
// Invariants:
//   1. Every call is answered exactly once: by the backend, by a fault, or with UNAVAILABLE when
//      Shutdown comes first.
//   2. Answers are given without any lock held, on the thread of whoever brought them about.
//   3. A call that waits holds no thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "spanner_model/server/backend.h"
#include "spanner_model/server/clock.h"
#include "spanner_model/server/faults.h"
#include "spanner_model/server/methods.h"

namespace whorl::server {

class Frontend : public std::enable_shared_from_this<Frontend> {
 public:
  using AnswerFunction = std::function<void(Answer)>;

  Frontend(BackendOptions options, std::shared_ptr<ServerClock> clock);
  Frontend(const Frontend&) = delete;
  Frontend& operator=(const Frontend&) = delete;
  ~Frontend();

  // Makes the initial databases and starts the timers.
  Status Start();
  // Answers everything that is under way, and from now on every call at once. Idempotent.
  void Shutdown();

  // REQUIRES: `request` is what method.new_request makes.
  void Handle(const Method& method, MessagePtr request, AnswerFunction done);

  void SetFaults(FaultFunction faults);
  void SetObserver(ObserverFunction observer);

 private:
  struct Outstanding {
    CallInfo info;
    FaultAction action;
    AnswerFunction done;
    std::optional<Answer> held;  // while a gate keeps the reply back
  };
  // What is left to do when the lock is released.
  struct ToDo {
    std::vector<CallInfo> parked;
    std::vector<std::pair<Outstanding, Answer>> answers;
    std::vector<std::pair<std::shared_ptr<Gate>, CallTag>> held;
  };

  FaultAction ChooseFault(CallInfo& info);
  void Serve(const Method& method, const MessagePtr& request, CallTag tag);
  // REQUIRES: mutex_ is held.
  ToDo SortOut(std::vector<CallOutcome> outcomes);
  void Do(ToDo to_do);
  void AnswerHeld(CallTag tag);
  void GiveAnswer(Outstanding call, Answer answer);
  void Observe(const CallInfo& info, CallStage stage, const Status& status);
  void RunTimers();

  const std::shared_ptr<ServerClock> clock_;

  std::mutex mutex_;  // of the next block
  Backend backend_;
  std::map<CallTag, Outstanding> outstanding_;
  CallTag last_tag_ = 0;
  std::optional<Timestamp> next_wake_;  // of the timers' thread
  bool stopping_ = false;

  std::mutex tests_mutex_;  // of the next block
  FaultFunction faults_;
  ObserverFunction observer_;
  std::map<std::string_view, uint64_t> calls_;  // of each method of Spanner

  std::thread timers_;
};

}  // namespace whorl::server
