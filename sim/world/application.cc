#include "sim/world/application.h"

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
  void AskOrWork();
  void BeginWork();
  void StopWork();
  void StopWorkInTime(bool at_work);
  void OnStopped();
  void Unlock();
  void SendWrite();
  void EndParticipation(StopReason reason);

  void Ask(AskId ask, Question question) {
    out_.emplace_back(Asked{.ask = ask, .question = question});
  }
  void Set(ApplicationTimer timer, LocalInstant at) {
    out_.emplace_back(SetApplicationTimer{.timer = timer, .at = at});
  }
  bool AtWork() const { return sim::AtWork(config_, state_); }
  void Cancel(ApplicationTimer timer) { out_.emplace_back(CancelApplicationTimer{.timer = timer}); }

  const ApplicationConfig& config_;
  ApplicationState& state_;
  const LocalInstant now_;
  std::vector<ApplicationEffect>& out_;
};

void ApplicationStep::On(const ApplicationStarted&) {
  state_.running = true;
  if (config_.deadline) Set(ApplicationTimer::kDeadline, LocalInstant{} + *config_.deadline);
  if (config_.use == Use::kLock) return Ask(kAskLock, Question::kLock);
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
  }
}

void ApplicationStep::On(const LeadershipChanged& changed) {
  if (config_.use != Use::kCallback || !state_.running) return;
  if (changed.leader && !state_.leading) BeginLeading();
  if (changed.leader) return;
  const bool at_work = AtWork();
  EndLeading();
  StopWorkInTime(at_work);
  if (state_.ended && !AtWork()) out_.emplace_back(WorkStopped{});
}

void ApplicationStep::On(const ApplicationAnswered& answer) {
  const bool has_lock = answer.question == Question::kHasLock;
  if (has_lock) state_.asking = false;
  if (!state_.running || !answer.yes) return;
  if (answer.question == Question::kLock) return BeginLeading();
  if (!has_lock) return;
  state_.token = answer.token;
  if (state_.stopping) return;
  if (config_.use == Use::kHasLock || state_.leading) BeginWork();
}

void ApplicationStep::On(const ApplicationStopRequested& stop) {
  const bool at_work = AtWork();
  EndLeading();
  state_.running = false;
  Cancel(ApplicationTimer::kNextWrite);
  StopWorkInTime(at_work);
  state_.unlocks = config_.use == Use::kLock && stop.believes;
  if (config_.use == Use::kLock && state_.stopping) return;
  Unlock();
  EndParticipation(StopReason::kCancelled);
}

void ApplicationStep::Unlock() {
  if (std::exchange(state_.unlocks, false)) Ask(kAskUnlock, Question::kUnlock);
}

void ApplicationStep::EndParticipation(StopReason reason) {
  if (state_.ended) return;
  state_.ended = true;
  Cancel(ApplicationTimer::kDeadline);
  out_.emplace_back(StopRequested{.reason = reason});
  if (!AtWork()) out_.emplace_back(WorkStopped{});
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
  Unlock();
  if (state_.leading) return AskOrWork();
  if (state_.ended) {
    out_.emplace_back(WorkStopped{});
  } else if (!state_.running) {
    EndParticipation(StopReason::kCancelled);
  }
}

void ApplicationStep::SendWrite() {
  state_.working = false;
  const std::optional<uint64_t> token = std::exchange(state_.write_token, std::nullopt);
  out_.emplace_back(WriteToResource{.resource = config_.resource, .token = token});
  if (state_.ended && !AtWork()) out_.emplace_back(WorkStopped{});
}

}  // namespace

bool AtWork(const ApplicationConfig& config, const ApplicationState& state) {
  if (state.stopping || state.working) return true;
  return config.use != Use::kHasLock && state.leading && !state.ended;
}

ApplicationConfig ApplicationConfigOf(const Scenario& scenario, const NodeSpec& node) {
  return {.use = node.use,
          .deadline = node.deadline,
          .write_every = scenario.workload.write_every,
          .work_for = scenario.workload.work_for,
          .stop_takes = scenario.workload.stop_takes,
          // Without tokens, no resource can fence.
          .resource = FindProtocol(scenario.protocol)->has_tokens ? scenario.workload.resource
                                                                  : ResourceKind::kUnfenced};
}

void Step(const ApplicationConfig& config, ApplicationState& state, LocalInstant now,
          const ApplicationEvent& event, std::vector<ApplicationEffect>& out) {
  ApplicationStep step(config, state, now, out);
  std::visit([&step](const auto& what) { step.On(what); }, event);
}

}  // namespace whorl::sim
