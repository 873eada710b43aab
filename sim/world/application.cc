#include "sim/world/application.h"

#include <bit>
#include <cstdlib>
#include <utility>

#include "protocol/protocols.h"

namespace whorl::sim {
namespace {

class ApplicationStep {
 public:
  ApplicationStep(const ApplicationConfig& config, ApplicationState& state, LocalInstant now,
                  std::vector<ApplicationEffect>& out)
      : config_(config), state_(state), now_(now), out_(out) {}

  void On(const ApplicationStarted&);
  void On(const ApplicationTimerFired& fired);
  void On(const LeadershipChanged& changed);
  void On(const ApplicationAnswered& answer);
  void On(const ApplicationStopRequested& stop);

 private:
  void BeginLeading();
  void EndLeading();
  void AskMore();
  void CallLock();
  void LockAgainLater();
  void AskOrWork();
  void BeginWork();
  void StopWork();
  void StopWorkInTime(bool at_work);
  void OnStopped();
  void OnHeldLongEnough();
  bool Unlock();
  void SendWrite();
  void EndParticipation(StopReason reason);

  void Ask(AskId ask, Question question) {
    out_.emplace_back(Asked{.ask = ask, .question = question});
  }
  void Set(ApplicationTimer timer, LocalInstant at) {
    out_.emplace_back(SetApplicationTimer{.timer = timer, .at = at});
  }
  bool AtWork() const { return sim::AtWork(config_, state_); }
  // A part that has ended is over when its work is.
  void TellIfWorkStopped() {
    if (state_.ended && !AtWork()) out_.emplace_back(WorkStopped{});
  }
  void Cancel(ApplicationTimer timer) { out_.emplace_back(CancelApplicationTimer{.timer = timer}); }

  const ApplicationConfig& config_;
  ApplicationState& state_;
  const LocalInstant now_;
  std::vector<ApplicationEffect>& out_;
};

void ApplicationStep::On(const ApplicationStarted&) {
  state_.running = true;
  if (!config_.ask.empty()) {
    Set(ApplicationTimer::kMoreQuestions, LocalInstant{} + config_.ask_every);
  }
  if (config_.use == Use::kLock) return CallLock();
  if (config_.deadline) Set(ApplicationTimer::kDeadline, LocalInstant{} + *config_.deadline);
  out_.emplace_back(Started{});
  if (config_.use == Use::kHasLock) {
    Set(ApplicationTimer::kNextWrite, LocalInstant{} + config_.write_every);
  }
}

void ApplicationStep::On(const ApplicationTimerFired& fired) {
  switch (fired.timer) {
    case ApplicationTimer::kNextWrite:
      return AskOrWork();
    case ApplicationTimer::kWorkDone:
      return SendWrite();
    case ApplicationTimer::kDeadline:
      return EndParticipation(StopReason::kDeadline);
    case ApplicationTimer::kStopped:
      return OnStopped();
    case ApplicationTimer::kMoreQuestions:
      return AskMore();
    case ApplicationTimer::kHeldLongEnough:
      return OnHeldLongEnough();
    case ApplicationTimer::kLockAgain:
      return CallLock();
  }
}

void ApplicationStep::On(const LeadershipChanged& changed) {
  if (config_.use != Use::kCallback || !state_.running) return;
  if (changed.leader && !state_.leading) BeginLeading();
  if (changed.leader) return;
  const bool at_work = AtWork();
  EndLeading();
  StopWorkInTime(at_work);
  TellIfWorkStopped();
}

void ApplicationStep::On(const ApplicationAnswered& answer) {
  if (answer.ask >= kAskMore) {
    state_.asked &= ~(1U << (answer.ask - kAskMore));
    return;
  }
  const bool has_lock = answer.question == Question::kHasLock;
  if (has_lock) state_.asking = false;
  if (!state_.running) return;
  if (!has_lock && (!answer.yes || answer.question == Question::kUnlock)) return LockAgainLater();
  if (!answer.yes) return;
  if (answer.question == Question::kLock) {
    if (config_.hold_for) Set(ApplicationTimer::kHeldLongEnough, now_ + *config_.hold_for);
    return BeginLeading();
  }
  state_.token = answer.token;
  if (state_.stopping) return;
  if (config_.use == Use::kHasLock || state_.leading) BeginWork();
}

void ApplicationStep::On(const ApplicationStopRequested& stop) {
  const bool at_work = AtWork();
  EndLeading();
  state_.running = false;
  Cancel(ApplicationTimer::kNextWrite);
  if (config_.hold_for) Cancel(ApplicationTimer::kHeldLongEnough);
  if (config_.lock_again) Cancel(ApplicationTimer::kLockAgain);
  StopWorkInTime(at_work);
  if (config_.use == Use::kLock && stop.believes) state_.unlocks = true;
  if (config_.use == Use::kLock && state_.stopping) return;
  Unlock();
  // Its part may have ended before, while it was at work.
  if (at_work) TellIfWorkStopped();
  EndParticipation(StopReason::kCancelled);
}

// Each call of Lock has a context of its own, and with it the process takes part again.
void ApplicationStep::CallLock() {
  state_.ended = false;
  if (config_.deadline) Set(ApplicationTimer::kDeadline, now_ + *config_.deadline);
  Ask(kAskLock, Question::kLock);
}

void ApplicationStep::LockAgainLater() {
  if (config_.lock_again) Set(ApplicationTimer::kLockAgain, now_ + *config_.lock_again);
}

// Whether it had to unlock.
bool ApplicationStep::Unlock() {
  if (!std::exchange(state_.unlocks, false)) return false;
  Ask(kAskUnlock, Question::kUnlock);
  return true;
}

// As when it is told to stop, except that its process goes on.
void ApplicationStep::OnHeldLongEnough() {
  const bool at_work = AtWork();
  EndLeading();
  StopWorkInTime(at_work);
  state_.unlocks = true;
  if (state_.stopping) return;
  Unlock();
  EndParticipation(StopReason::kCancelled);
}

// A question beyond those that may be under way at once is not asked.
void ApplicationStep::AskMore() {
  Set(ApplicationTimer::kMoreQuestions, now_ + config_.ask_every);
  for (const Question question : config_.ask) {
    const int place = std::countr_one(state_.asked);
    if (place >= kAskedAtOnceMax) return;
    state_.asked |= 1U << place;
    Ask(static_cast<AskId>(kAskMore + place), question);
  }
}

void ApplicationStep::EndParticipation(StopReason reason) {
  if (state_.ended) return;
  state_.ended = true;
  Cancel(ApplicationTimer::kDeadline);
  out_.emplace_back(StopRequested{.reason = reason});
  TellIfWorkStopped();
}

// A leader by callback or by Lock asks for its token once, and then writes repeatedly.
void ApplicationStep::BeginLeading() {
  state_.leading = true;
  state_.token.reset();
  if (!state_.stopping) AskOrWork();
}

void ApplicationStep::EndLeading() {
  if (!state_.leading) return;
  state_.leading = false;
  state_.token.reset();
  Cancel(ApplicationTimer::kNextWrite);
}

// Asks or works every `write_every`, unless the last question or work is still going on.
void ApplicationStep::AskOrWork() {
  Set(ApplicationTimer::kNextWrite, now_ + config_.write_every);
  if (state_.asking || state_.working) return;
  if (state_.leading && state_.token) return BeginWork();
  state_.asking = true;
  Ask(kAskHasLock, Question::kHasLock);
}

void ApplicationStep::BeginWork() {
  state_.working = true;
  state_.write_token = state_.token;
  if (config_.work_for.ns == 0) return SendWrite();
  Set(ApplicationTimer::kWorkDone, now_ + config_.work_for);
}

// Stops work in progress without a write.
void ApplicationStep::StopWork() {
  if (!state_.working) return;
  state_.working = false;
  state_.write_token.reset();
  Cancel(ApplicationTimer::kWorkDone);
}

// Told to stop: one that was at work needs its time for that.
void ApplicationStep::StopWorkInTime(bool at_work) {
  if (state_.stopping) return;
  if (!at_work || config_.stop_takes.ns == 0) return StopWork();
  state_.stopping = true;
  Set(ApplicationTimer::kStopped, now_ + config_.stop_takes);
}

void ApplicationStep::OnStopped() {
  state_.stopping = false;
  StopWork();
  const bool unlocked = Unlock();
  if (state_.leading) return AskOrWork();
  if (state_.ended) {
    out_.emplace_back(WorkStopped{});
  } else if (unlocked || !state_.running) {
    EndParticipation(StopReason::kCancelled);
  }
}

void ApplicationStep::SendWrite() {
  state_.working = false;
  const std::optional<uint64_t> token = std::exchange(state_.write_token, std::nullopt);
  out_.emplace_back(WriteToResource{.resource = config_.resource, .token = token});
  TellIfWorkStopped();
}

Question QuestionOf(SideQuestion question) {
  switch (question) {
    case SideQuestion::kHasLock:
      return Question::kHasLock;
    case SideQuestion::kHasLock2:
      return Question::kHasLock2;
    case SideQuestion::kLeader:
      return Question::kLeader;
    case SideQuestion::kDuration:
      return Question::kDuration;
    case SideQuestion::kIterations:
      return Question::kIterations;
  }
  std::abort();
}

}  // namespace

bool AtWork(const ApplicationConfig& config, const ApplicationState& state) {
  if (state.stopping || state.working) return true;
  return config.use != Use::kHasLock && state.leading && !state.ended;
}

ApplicationConfig ApplicationConfigOf(const Scenario& scenario, const NodeSpec& node) {
  std::vector<Question> ask;
  for (const SideQuestion question : scenario.workload.ask) ask.push_back(QuestionOf(question));
  return {.use = node.use,
          .deadline = node.deadline,
          .write_every = scenario.workload.write_every,
          .work_for = scenario.workload.work_for,
          .stop_takes = scenario.workload.stop_takes,
          // Without tokens, no resource can fence.
          .resource = FindProtocol(scenario.protocol)->has_tokens ? scenario.workload.resource
                                                                  : ResourceKind::kUnfenced,
          .ask = std::move(ask),
          .ask_every = scenario.workload.ask_every,
          .hold_for = scenario.workload.hold_for,
          .lock_again = scenario.workload.lock_again};
}

void Step(const ApplicationConfig& config, ApplicationState& state, LocalInstant now,
          const ApplicationEvent& event, std::vector<ApplicationEffect>& out) {
  ApplicationStep step(config, state, now, out);
  std::visit([&step](const auto& what) { step.On(what); }, event);
}

}  // namespace whorl::sim
