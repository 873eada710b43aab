// Inside a process: its life, its timers, its protocol machines and the application that uses them.
#include <algorithm>
#include <utility>

#include "sim/world/fault_effects.h"
#include "sim/world/turn.h"

namespace whorl::sim {

// --- lives -------------------------------------------------------------------------------------

void Turn::StartNode(int16_t node_index, std::optional<uint32_t> fault) {
  Node& node = NodeAt(node_index);
  if (node.life == Life::kRunning) {
    // Something else started it first; the fault is over all the same.
    if (fault) Observe(FaultEnded{.fault = *fault});
    return;
  }
  LetGo(node_index, /*crashed=*/false);
  node.life = Life::kRunning;
  ++node.incarnation;
  node.started = Shows(node.clock, state_.now);
  node.generation = 0;
  Observe(ProcessStarted{.process = ProcessOf(node_index)});
  const NodeSpec& spec = SpecOf(node_index);
  node.participants.resize(spec.locks.size());
  for (uint16_t place = 0; place < spec.locks.size(); ++place) {
    node.participants[place].lock = spec.locks[place];
  }
  if (setup_.loses_session[static_cast<size_t>(node_index)] != 0) MakeSessions(node_index);
  for (uint16_t place = 0; place < spec.locks.size(); ++place) StartParticipant(node_index, place);
  if (fault) Observe(FaultEnded{.fault = *fault});
}

void Turn::StartParticipant(int16_t node, uint16_t place) {
  const NodeSpec& spec = SpecOf(node);
  Participant& participant = NodeAt(node).participants[place];
  participant.machine =
      MakeProtocolState(setup_.configs[static_cast<size_t>(node)][place], spec.use == Use::kLock);
  participant.application.running = true;
  if (spec.deadline) {
    SetTimerAt(node, participant, TimerOwner::kDeadline, 0, *spec.deadline);
  }
  if (spec.use == Use::kLock) return Ask(node, participant, kAskLock, Question::kLock);
  TellMachine(node, participant, Started{});
  if (spec.use == Use::kHasLock) {
    SetTimerAt(node, participant, TimerOwner::kApplication, 0, scenario_.workload.write_every);
  }
}

// The process is gone with all that it knew; what it sent stays on its way.
void Turn::LetGo(int16_t node_index, bool crashed) {
  Node& node = NodeAt(node_index);
  if (node.life == Life::kDown) return;
  const ProcessId process = ProcessOf(node_index);
  node.life = Life::kDown;
  for (Participant& participant : node.participants) {
    UpdateBelief(node_index, participant);
    for (const ActiveTimer& timer : participant.timers) Cancel(timer.place);
  }
  for (uint32_t place = 0; place < state_.calls.size(); ++place) {
    if (!state_.calls[place].call || state_.calls[place].call->name.process != process) continue;
    Abandon(place);
  }
  node.held_up.clear();
  node.participants.clear();
  node.sessions.reset();
  node.pauses = 0;
  // Whatever kept its machine still is over with it.
  if (node.clock.stands > 0) ClockGoesOn(node_index);
  Observe(ProcessGone{.process = process, .crashed = crashed});
}

void Turn::StopNode(int16_t node_index) {
  Node& node = NodeAt(node_index);
  node.life = Life::kStopped;
  Observe(ProcessStopped{.process = ProcessOf(node_index)});
  for (Participant& participant : node.participants) {
    const bool locked = SpecOf(node_index).use == Use::kLock && participant.believes;
    EndLeading(participant);
    participant.application.running = false;
    CancelTimerOf(participant, TimerOwner::kApplication, 0);
    StopWork(participant);
    UpdateBelief(node_index, participant);
    if (locked) Ask(node_index, participant, kAskUnlock, Question::kUnlock);
    EndParticipation(node_index, participant, StopReason::kCancelled);
  }
}

void Turn::EndParticipation(int16_t node, Participant& participant, StopReason reason) {
  if (participant.ended) return;
  participant.ended = true;
  CancelTimerOf(participant, TimerOwner::kDeadline, 0);
  Observe(
      ParticipationEnded{.process = ProcessOf(node), .lock = participant.lock, .reason = reason});
  TellMachine(node, participant, StopRequested{.reason = reason});
  if (!participant.application.working) TellMachine(node, participant, WorkStopped{});
}

// Not by Spanner, and so past every fault that is between a node and Spanner.
void Turn::AnnounceReleaseOf(int16_t sender, const Participant& participant) {
  if (!scenario_.network.announce_releases) return;
  const uint16_t lock = participant.lock;
  for (size_t i = 0; i < state_.nodes.size(); ++i) {
    const std::vector<uint16_t>& locks = scenario_.nodes[i].locks;
    const auto node = static_cast<int16_t>(i);
    if (node == sender || std::ranges::find(locks, lock) == locks.end()) continue;
    // As far as the resource is: another service of the same kind of place.
    const Duration way = PickLatency(latencies_.resource, Draw::kResourceLatency,
                                     {.node = sender, .lock = lock, .step = StepName::kRelease});
    Schedule(state_.now + way, ChoiceKind::kDeliver, node, ReleaseHeard{.lock = lock});
  }
}

// By whatever process the node runs by then.
void Turn::OnReleaseHeard(int16_t node, const ReleaseHeard& heard) {
  const Participant* participant = FindParticipant(ProcessOf(node), heard.lock);
  if (participant != nullptr) TellMachine(node, *participant, ReleaseAnnounced{});
}

void Turn::PauseNode(int16_t node) {
  if (NodeAt(node).pauses++ == 0) Observe(ProcessPaused{.process = ProcessOf(node)});
}

void Turn::ResumeNode(int16_t node_index) {
  Node& node = NodeAt(node_index);
  if (node.pauses == 0 || --node.pauses > 0) return;
  Observe(ProcessResumed{.process = ProcessOf(node_index)});
  for (const Choice& choice : node.held_up) {
    // What was cancelled meanwhile has another stamp.
    const PendingSlot& slot = state_.pending[choice.place];
    if (slot.event && slot.stamp == choice.stamp) out_.scheduled.push_back({state_.now, choice});
  }
  node.held_up.clear();
}

Participant* Turn::FindParticipant(ProcessId process, uint16_t lock) {
  Node& node = NodeAt(process.node);
  if (node.life == Life::kDown || node.incarnation != process.incarnation) return nullptr;
  for (Participant& participant : node.participants) {
    if (participant.lock == lock) return &participant;
  }
  return nullptr;
}

// --- timers ------------------------------------------------------------------------------------

void Turn::SetTimerAt(int16_t node, Participant& participant, TimerOwner owner, uint16_t id,
                      Duration local) {
  CancelTimerOf(participant, owner, id);
  const uint32_t place = Schedule(
      WhenShown(node, local), ChoiceKind::kFire, node,
      TimerDue{.process = ProcessOf(node), .lock = participant.lock, .owner = owner, .id = id});
  participant.timers.push_back({.owner = owner, .id = id, .place = place, .at = local});
}

// After the node's clock has begun to run in another way: what is due by it is due at another time.
void Turn::RescheduleTimers(int16_t node_index) {
  for (Participant& participant : NodeAt(node_index).participants) {
    for (ActiveTimer& timer : participant.timers) {
      PendingEvent event = std::move(*state_.pending[timer.place].event);
      Cancel(timer.place);
      timer.place = Schedule(WhenShown(node_index, timer.at), ChoiceKind::kFire, node_index,
                             std::move(event));
    }
  }
  for (uint32_t place = 0; place < state_.calls.size(); ++place) {
    if (!state_.calls[place].call || !state_.calls[place].call->timeout) continue;
    Call& call = *state_.calls[place].call;
    if (call.name.process.node != node_index) continue;
    Cancel(*call.timeout);
    call.timeout.reset();
    const Instant connection = call.sent_at + scenario_.network.connection_timeout;
    SetTimeout(place, call.hangs ? std::min(connection, DeadlineOf(call)) : DeadlineOf(call));
  }
}

void Turn::CancelTimerOf(Participant& participant, TimerOwner owner, uint16_t id) {
  for (size_t i = 0; i < participant.timers.size(); ++i) {
    const ActiveTimer& timer = participant.timers[i];
    if (timer.owner != owner || timer.id != id) continue;
    Cancel(timer.place);
    participant.timers.erase(participant.timers.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

void Turn::OnTimer(const TimerDue& due) {
  Participant* participant = FindParticipant(due.process, due.lock);
  if (participant == nullptr) return;
  std::erase_if(participant->timers, [&](const ActiveTimer& timer) {
    return timer.owner == due.owner && timer.id == due.id;
  });
  const int16_t node = due.process.node;
  switch (due.owner) {
    case TimerOwner::kMachine:
      return TellMachine(node, *participant, TimerFired{due.id});
    case TimerOwner::kRunner:
      return OnRunnerWaited(node, *participant, due.id);
    case TimerOwner::kApplication:
      return OnApplicationTimer(node, *participant);
    case TimerOwner::kWork:
      return SendWrite(node, *participant);
    case TimerOwner::kDeadline:
      return EndParticipation(node, *participant, StopReason::kDeadline);
    case TimerOwner::kBeliefLapses:
      participant->belief_lapsed = true;
      return UpdateBelief(node, *participant);
    case TimerOwner::kSessions:
      return OnSessionsTimer(node);
  }
}

// --- machines ----------------------------------------------------------------------------------

void Turn::TellMachine(int16_t node, const Participant& participant, Event event) {
  const auto place = static_cast<uint16_t>(&participant - NodeAt(node).participants.data());
  out_.machine_events.push_back({.node = node, .participant = place, .event = std::move(event)});
}

void Turn::RunMachines() {
  // What a step queues is taken after what was queued before it.
  for (size_t next = 0; next < out_.machine_events.size(); ++next) {
    const Outbox::MachineEvent queued = std::move(out_.machine_events[next]);
    Node& node = NodeAt(queued.node);
    if (node.life == Life::kDown) continue;
    StepMachine(queued.node, node.participants[queued.participant], queued.event);
  }
  out_.machine_events.clear();
}

void Turn::StepMachine(int16_t node, Participant& participant, const Event& event) {
  const auto place = static_cast<size_t>(&participant - NodeAt(node).participants.data());
  const ProtocolConfig& config = setup_.configs[static_cast<size_t>(node)][place];
  ProcessEntropy entropy(*chance_, ProcessOf(node), participant.lock);
  out_.effects.clear();
  Step(config, participant.machine, ClocksOf(node), entropy, event, out_.effects);
  NoticeStanding(node, participant);
  for (Effect& effect : out_.effects) DoEffect(node, participant, std::move(effect));
}

void Turn::DoEffect(int16_t node, Participant& participant, Effect effect) {
  if (auto* run = std::get_if<RunTransaction>(&effect)) {
    StartRunnerFor(node, participant, std::move(*run));
  } else if (const auto* set = std::get_if<SetTimer>(&effect)) {
    SetTimerAt(node, participant, TimerOwner::kMachine, set->timer, set->at);
  } else if (const auto* cancel = std::get_if<CancelTimer>(&effect)) {
    CancelTimerOf(participant, TimerOwner::kMachine, cancel->timer);
  } else if (const auto* given_up = std::get_if<CancelTransaction>(&effect)) {
    CancelRunnerOf(node, participant, given_up->request);
  } else if (const auto* changed = std::get_if<LeadershipChanged>(&effect)) {
    OnCallback(node, participant, changed->leader);
  } else if (auto* answer = std::get_if<Answer>(&effect)) {
    OnAnswer(node, participant, std::move(*answer));
  } else if (std::holds_alternative<AnnounceRelease>(effect)) {
    AnnounceReleaseOf(node, participant);
  } else {
    Observe(Noted{.process = ProcessOf(node),
                  .lock = participant.lock,
                  .note = std::move(std::get<Note>(effect))});
  }
}

void Turn::NoticeStanding(int16_t node, Participant& participant) {
  Standing standing = StandingOf(participant.machine, ClocksOf(node));
  if (standing == participant.standing) return;
  if (standing.believes_until != participant.standing.believes_until) {
    participant.belief_lapsed = false;
    CancelTimerOf(participant, TimerOwner::kBeliefLapses, 0);
    if (standing.believes_until) {
      SetTimerAt(node, participant, TimerOwner::kBeliefLapses, 0, *standing.believes_until);
    }
  }
  participant.standing = standing;
  Observe(StandingChanged{
      .process = ProcessOf(node), .lock = participant.lock, .standing = std::move(standing)});
  UpdateBelief(node, participant);
}

void Turn::UpdateBelief(int16_t node, Participant& participant) {
  const bool believes = participant.standing.believes && !participant.belief_lapsed &&
                        NodeAt(node).life == Life::kRunning;
  if (believes == participant.believes) return;
  participant.believes = believes;
  Observe(
      BeliefChanged{.process = ProcessOf(node), .lock = participant.lock, .believes = believes});
}

// --- the application ---------------------------------------------------------------------------

void Turn::Ask(int16_t node, Participant& participant, AskId ask, Question question) {
  Observe(QuestionAsked{
      .process = ProcessOf(node), .lock = participant.lock, .ask = ask, .question = question});
  if (question == Question::kHasLock) {
    participant.application.asking = true;
    participant.application.asked_at = state_.now;
  }
  TellMachine(node, participant, Asked{.ask = ask, .question = question});
}

void Turn::OnAnswer(int16_t node, Participant& participant, Answer answer) {
  Application& application = participant.application;
  const bool has_lock = answer.question == Question::kHasLock;
  Observe(QuestionAnswered{.process = ProcessOf(node),
                           .lock = participant.lock,
                           .answer = answer,
                           .asked_at = has_lock ? application.asked_at : state_.now});
  if (has_lock) application.asking = false;
  if (!application.running || !answer.yes) return;
  if (answer.question == Question::kLock) return BeginLeading(node, participant);
  if (!has_lock) return;
  application.token = answer.token;
  if (SpecOf(node).use == Use::kHasLock || application.leading) BeginWork(node, participant);
}

void Turn::OnCallback(int16_t node, Participant& participant, bool leader) {
  Observe(CalledBack{.process = ProcessOf(node), .lock = participant.lock, .leader = leader});
  if (SpecOf(node).use != Use::kCallback || !participant.application.running) return;
  if (leader && !participant.application.leading) BeginLeading(node, participant);
  if (leader) return;
  EndLeading(participant);
  StopWork(participant);
  if (participant.ended) TellMachine(node, participant, WorkStopped{});
}

// A leader by callback or by Lock asks for its token once, and writes from then on.
void Turn::BeginLeading(int16_t node, Participant& participant) {
  participant.application.leading = true;
  participant.application.token.reset();
  OnApplicationTimer(node, participant);
}

void Turn::EndLeading(Participant& participant) {
  if (!participant.application.leading) return;
  participant.application.leading = false;
  participant.application.token.reset();
  CancelTimerOf(participant, TimerOwner::kApplication, 0);
}

// In the middle: nothing is written.
void Turn::StopWork(Participant& participant) {
  participant.application.working = false;
  CancelTimerOf(participant, TimerOwner::kWork, 0);
}

void Turn::OnApplicationTimer(int16_t node, Participant& participant) {
  Application& application = participant.application;
  SetTimerAt(node, participant, TimerOwner::kApplication, 0,
             ClocksOf(node).monotonic + scenario_.workload.write_every);
  if (application.asking || application.working) return;
  const bool has_token = application.leading && application.token.has_value();
  if (has_token) return BeginWork(node, participant);
  Ask(node, participant, kAskHasLock, Question::kHasLock);
}

void Turn::BeginWork(int16_t node, Participant& participant) {
  participant.application.working = true;
  if (scenario_.workload.work_for.ns == 0) return SendWrite(node, participant);
  SetTimerAt(node, participant, TimerOwner::kWork, 0,
             ClocksOf(node).monotonic + scenario_.workload.work_for);
}

void Turn::SendWrite(int16_t node, Participant& participant) {
  participant.application.working = false;
  const ResourceKind kind = setup_.resource;
  for (const bool fenced : {true, false}) {
    if (kind == (fenced ? ResourceKind::kUnfenced : ResourceKind::kFenced)) continue;
    Observe(WriteSent{.process = ProcessOf(node),
                      .lock = participant.lock,
                      .fenced = fenced,
                      .token = participant.application.token});
  }
  Schedule(
      state_.now + PickLatency(latencies_.resource, Draw::kResourceLatency,
                               {.node = node, .lock = participant.lock, .step = StepName::kWrite}),
      ChoiceKind::kDeliver, -1,
      ResourceWrite{.process = ProcessOf(node),
                    .lock = participant.lock,
                    .token = participant.application.token});
  if (participant.ended) TellMachine(node, participant, WorkStopped{});
}

// --- the resource ------------------------------------------------------------------------------

void Turn::OnResourceWrite(const ResourceWrite& write) {
  const ResourceKind kind = setup_.resource;
  if (kind != ResourceKind::kUnfenced) ResourceHears(write, /*fenced=*/true);
  if (kind != ResourceKind::kFenced) ResourceHears(write, /*fenced=*/false);
}

void Turn::ResourceHears(const ResourceWrite& write, bool fenced) {
  const bool accepted = ResourceTakes(fenced, write.token, state_.resources[write.lock].greatest);
  Observe(WriteArrived{.process = write.process,
                       .lock = write.lock,
                       .fenced = fenced,
                       .token = write.token,
                       .accepted = accepted});
}

}  // namespace whorl::sim
