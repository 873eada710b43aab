#include "live/participant.h"

#include <string>
#include <variant>

#include "protocol/protocols.h"
#include "sim/scenario/scenario.h"

namespace whorl::live {
namespace {

using real_client::BootClock;
using real_client::LoopTimer;
using sim::Use;

// The questions that an application may have under way, as in the simulation.
constexpr AskId kAskHasLock = 0;
constexpr AskId kAskLock = 1;
constexpr AskId kAskUnlock = 2;

ProtocolConfig ConfigOf(const sim::Scenario& scenario, const sim::NodeSpec& spec, uint16_t lock) {
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  return protocol.make_config(std::string(protocol.table), scenario.locks[lock], spec.id,
                              spec.lease);
}

}  // namespace

Participant::Participant(Surroundings around, uint16_t lock)
    : around_(around), lock_(lock), config_(ConfigOf(around.scenario, spec(), lock)) {}

CallName Participant::OwnName() const {
  CallName name;
  name.process = around_.process;
  name.lock = lock_;
  return name;
}

// --- its life ------------------------------------------------------------------------------------

void Participant::Start() {
  machine_ = MakeProtocolState(config_, spec().use == Use::kLock);
  application_.running = true;
  if (spec().deadline) SetTimerAt({TimerOwner::kDeadline, 0}, *spec().deadline);
  if (spec().use == Use::kLock) return Ask(kAskLock, Question::kLock);
  Give(Started{});
  if (spec().use == Use::kHasLock) {
    SetTimerAt({TimerOwner::kApplication, 0}, around_.scenario.workload.write_every);
  }
}

void Participant::StopGracefully() {
  const bool locked = spec().use == Use::kLock && Believes();
  stopped_ = true;
  EndLeading();
  application_.running = false;
  timers_.erase({TimerOwner::kApplication, 0});
  StopWork();
  if (locked) Ask(kAskUnlock, Question::kUnlock);
  EndParticipation(StopReason::kCancelled);
}

void Participant::EndParticipation(StopReason reason) {
  if (ended_) return;
  ended_ = true;
  timers_.erase({TimerOwner::kDeadline, 0});
  around_.reporter.Tell(
      sim::ParticipationEnded{.process = around_.process, .lock = lock_, .reason = reason});
  Give(StopRequested{.reason = reason});
  if (!application_.working) Give(WorkStopped{});
}

void Participant::ClockChanged() {
  NoticeStanding();
  for (auto& [key, timer] : timers_) Arm(key, timer);
}

// --- timers --------------------------------------------------------------------------------------

void Participant::SetTimerAt(TimerKey key, Duration local) {
  timers_.erase(key);
  Timer& timer =
      timers_
          .emplace(key, Timer{.timer = LoopTimer(around_.loop.context()), .number = 0, .at = local})
          .first->second;
  Arm(key, timer);
}

void Participant::Arm(TimerKey key, Timer& timer) {
  timer.number = ++last_timer_;
  timer.timer.expires_at(BootClock::At(around_.time.BootWhenShown(timer.at)));
  timer.timer.async_wait([this, key, number = timer.number](auto cancelled) {
    if (cancelled) return;
    const auto found = timers_.find(key);
    if (found == timers_.end() || found->second.number != number) return;
    timers_.erase(found);
    OnTimer(key);
    StopAtReached();
  });
}

void Participant::OnTimer(TimerKey key) {
  switch (key.first) {
    case TimerOwner::kMachine:
      return Give(TimerFired{.timer = key.second});
    case TimerOwner::kApplication:
      return OnApplicationTimer();
    case TimerOwner::kWork:
      return SendWrite();
    case TimerOwner::kDeadline:
      return EndParticipation(StopReason::kDeadline);
  }
}

// --- the machine ---------------------------------------------------------------------------------

void Participant::Give(Event event) {
  events_.push_back(std::move(event));
  if (stepping_) return;
  stepping_ = true;
  while (!events_.empty()) {
    const Event next = std::move(events_.front());
    events_.pop_front();
    StepMachine(next);
  }
  stepping_ = false;
}

void Participant::StepMachine(const Event& event) {
  std::vector<Effect> effects;
  Step(config_, machine_, around_.time.Local(), entropy_, event, effects);
  NoticeStanding();
  for (Effect& effect : effects) {
    std::visit([this](auto& what) { Do(what); }, effect);
  }
}

void Participant::NoticeStanding() {
  Standing standing = StandingOf(machine_, around_.time.Local());
  std::optional<sim::Instant> lapses_at;
  if (standing.believes_until) lapses_at = around_.time.WhenShown(*standing.believes_until);
  if (standing == standing_) return;
  standing_ = standing;
  around_.reporter.Tell(
      sim::StandingChanged{
          .process = around_.process, .lock = lock_, .standing = std::move(standing)},
      lapses_at);
}

bool Participant::Believes() const {
  if (!standing_.believes || stopped_) return false;
  return !standing_.believes_until || around_.time.Local().monotonic < *standing_.believes_until;
}

void Participant::Do(RunTransaction& effect) {
  const RequestId request = effect.request;
  const StepName step = effect.transaction.step;
  around_.reporter.Tell(sim::TransactionStarted{
      .process = around_.process, .lock = lock_, .request = request, .step = step});
  std::optional<Duration>& give_up_at = effect.transaction.give_up_at;
  // The client counts by the machine's clock.
  if (give_up_at) give_up_at = around_.time.BootWhenShown(*give_up_at);
  CallName name = OwnName();
  name.request = request;
  const auto ended = [this, name, step, request](TransactionResult result) {
    // On the client's thread: the machine has not heard of it yet.
    if (around_.points.Has(step, Phase::kReplied)) {
      around_.reporter.StopAt(name, step, Phase::kReplied);
    }
    around_.loop.Post([this, request, result = std::move(result)]() mutable {
      OnEnded(request, std::move(result));
    });
  };
  flights_[request] = {
      .run = around_.calls.Start(
          name, step, [&] { return around_.client.Run(std::move(effect.transaction), ended); }),
      .step = step};
}

void Participant::OnEnded(RequestId request, TransactionResult result) {
  const auto flight = flights_.extract(request);
  const StepName step = flight.mapped().step;
  around_.calls.Forget(flight.mapped().run);
  const sim::TransactionFinished finished{.process = around_.process,
                                          .lock = lock_,
                                          .request = request,
                                          .step = step,
                                          .outcome = result.outcome,
                                          .code = result.status.code};
  around_.reporter.Tell(finished);
  reached_.push_back({.step = step, .what = finished});
  // The machine counts by the process's own clock.
  if (result.commit_sent) result.commit_sent = around_.time.LocalOf(*result.commit_sent);
  Give(TransactionEnded{.request = request, .step = step, .result = std::move(result)});
  StopAtReached();
}

void Participant::StopAtReached() {
  for (ReachedPoint& point : std::exchange(reached_, {})) {
    if (!around_.points.Has(point.step, Phase::kEnded)) continue;
    around_.reporter.StopAt(OwnName(), point.step, Phase::kEnded, {std::move(point.what)});
  }
}

void Participant::Do(const CancelTransaction& effect) {
  const auto found = flights_.find(effect.request);
  if (found != flights_.end()) around_.client.Cancel(found->second.run);
}

void Participant::Do(Note& effect) {
  around_.reporter.Tell(
      sim::Noted{.process = around_.process, .lock = lock_, .note = std::move(effect)});
}

// --- the application -----------------------------------------------------------------------------

void Participant::Ask(AskId ask, Question question) {
  around_.reporter.Tell(sim::QuestionAsked{
      .process = around_.process, .lock = lock_, .ask = ask, .question = question});
  if (question == Question::kHasLock) {
    application_.asking = true;
    application_.asked_at = around_.time.Now();
  }
  Give(Asked{.ask = ask, .question = question});
}

void Participant::Do(Answer& effect) {
  const bool has_lock = effect.question == Question::kHasLock;
  const sim::QuestionAnswered answered{
      .process = around_.process,
      .lock = lock_,
      .answer = effect,
      .asked_at = has_lock ? application_.asked_at : around_.time.Now()};
  around_.reporter.Tell(answered);
  // Where asking is a transaction, its end ends the step.
  const bool local = FindProtocol(around_.scenario.protocol)->answers_locally;
  if (has_lock && local) reached_.push_back({.step = StepName::kHasLock, .what = answered});
  if (has_lock) application_.asking = false;
  if (!application_.running || !effect.yes) return;
  if (effect.question == Question::kLock) return BeginLeading();
  if (!has_lock) return;
  application_.token = effect.token;
  if (spec().use == Use::kHasLock || application_.leading) BeginWork();
}

void Participant::Do(const LeadershipChanged& effect) {
  around_.reporter.Tell(
      sim::CalledBack{.process = around_.process, .lock = lock_, .leader = effect.leader});
  if (spec().use != Use::kCallback || !application_.running) return;
  if (effect.leader && !application_.leading) BeginLeading();
  if (effect.leader) return;
  EndLeading();
  StopWork();
  if (ended_) Give(WorkStopped{});
}

// A leader by callback or by Lock asks for its token once, and writes from then on.
void Participant::BeginLeading() {
  application_.leading = true;
  application_.token.reset();
  OnApplicationTimer();
}

void Participant::EndLeading() {
  if (!application_.leading) return;
  application_.leading = false;
  application_.token.reset();
  timers_.erase({TimerOwner::kApplication, 0});
}

// In the middle: nothing is written.
void Participant::StopWork() {
  application_.working = false;
  timers_.erase({TimerOwner::kWork, 0});
}

void Participant::OnApplicationTimer() {
  SetTimerAt({TimerOwner::kApplication, 0},
             around_.time.Local().monotonic + around_.scenario.workload.write_every);
  if (application_.asking || application_.working) return;
  if (application_.leading && application_.token) return BeginWork();
  Ask(kAskHasLock, Question::kHasLock);
}

void Participant::BeginWork() {
  application_.working = true;
  const Duration work = around_.scenario.workload.work_for;
  if (work.ns == 0) return SendWrite();
  SetTimerAt({TimerOwner::kWork, 0}, around_.time.Local().monotonic + work);
}

void Participant::SendWrite() {
  application_.working = false;
  const bool has_tokens = FindProtocol(around_.scenario.protocol)->has_tokens;
  const sim::ResourceKind kind =
      has_tokens ? around_.scenario.workload.resource : sim::ResourceKind::kUnfenced;
  std::vector<sim::ObservedEvent> sent;
  for (const bool fenced : {true, false}) {
    if (kind == (fenced ? sim::ResourceKind::kUnfenced : sim::ResourceKind::kFenced)) continue;
    const sim::WriteSent write{
        .process = around_.process, .lock = lock_, .fenced = fenced, .token = application_.token};
    around_.reporter.Tell(write);
    sent.emplace_back(write);
  }
  if (around_.points.Has(StepName::kWrite, Phase::kSent)) {
    around_.reporter.StopAt(OwnName(), StepName::kWrite, Phase::kSent, std::move(sent));
  }
  if (ended_) Give(WorkStopped{});
}

}  // namespace whorl::live
