// Makes the backend thread-safe, with one lock around it and one thread for its timers, and injects
// the faults of tests.
//
// Invariants:
//   1. Every call is answered exactly once: by the backend, by a fault, or with UNAVAILABLE if
//      Shutdown comes first.
//   2. Answers are given without holding a lock, on the thread whose call or timer caused them.
//   3. A waiting call holds no thread.
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

  // Creates the initial databases and starts the timers.
  Status Start();
  // Answers UNAVAILABLE to all calls under way and to all later ones. Idempotent.
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
    std::optional<Answer> held;  // the answer, while a gate holds it back
  };
  // Work to do after the lock is released.
  struct Deliveries {
    std::vector<CallInfo> parked;
    std::vector<std::pair<Outstanding, Answer>> answers;
    std::vector<std::pair<std::shared_ptr<Gate>, CallTag>> held;
  };

  FaultAction ChooseFault(CallInfo& info);
  void Serve(const Method& method, const MessagePtr& request, CallTag tag);
  // What can be done without the lock; null if nothing is worth it.
  std::unique_ptr<PlannedRequest> Plan(const Method& method,
                                       const google::protobuf::Message& request);
  // REQUIRES: mutex_ is held.
  Deliveries TakeOutcomes(std::vector<CallOutcome> outcomes);
  void Deliver(Deliveries deliveries);
  void AnswerHeld(CallTag tag);
  void GiveAnswer(Outstanding call, Answer answer);
  void Observe(const CallInfo& info, CallPhase phase, const Status& status);
  void RunTimers();

  const std::shared_ptr<ServerClock> clock_;

  std::mutex mutex_;  // guards the rest of this block
  Backend backend_;
  std::map<CallTag, Outstanding> outstanding_;
  CallTag last_tag_ = 0;
  std::optional<Timestamp> next_wake_;  // when the timer thread wakes
  bool stopping_ = false;

  std::mutex tests_mutex_;  // guards the rest of this block
  FaultFunction faults_;
  ObserverFunction observer_;
  std::map<std::string_view, uint64_t> calls_;  // count of calls by method

  std::thread timers_;
};

}  // namespace whorl::server
