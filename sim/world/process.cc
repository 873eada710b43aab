// Inside a process: its life, its timers, its protocols' machines and the applications that use
// them.
#include <algorithm>
#include <utility>

#include "sim/world/hosting.h"
#include "sim/world/resource.h"
#include "sim/world/turn.h"

namespace whorl::sim {
namespace {

// The stream of draws from which the way of an announcement comes.
constexpr StepName kAnnouncedRelease{"release"};

}  // namespace

// Hosts the application of one participant (hosting.h).
class Turn::Hosting {
 public:
  Hosting(Turn& turn, int16_t node, Participant& participant)
      : turn_(turn), node_(node), participant_(participant) {}

  ProcessId process() const { return turn_.ProcessOf(node_); }
  uint16_t lock() const { return participant_.lock; }
  Instant Now() const { return turn_.state_.now; }
  LocalTime Clocks() const { return turn_.ClocksOf(node_); }
  const ApplicationConfig& application_config() const {
    return turn_.setup_.applications[static_cast<size_t>(node_)];
  }
  ApplicationState& application() { return participant_.application; }
  Instant& asked_at() { return participant_.asked_at; }
  std::vector<ApplicationEffect>& application_effects() { return turn_.out_.application_effects; }

  void Observe(ObservedEvent what) { turn_.Observe(std::move(what)); }
  void Queue(Event event) { turn_.TellMachine(node_, participant_, std::move(event)); }
  void SetTimer(ApplicationTimer timer, Duration at) {
    turn_.SetTimerAt(node_, participant_, TimerOwner::kApplication, static_cast<uint16_t>(timer),
                     at);
  }
  void CancelTimer(ApplicationTimer timer) {
    turn_.CancelTimerOf(participant_, TimerOwner::kApplication, static_cast<uint16_t>(timer));
  }
  void SendWrite(const WriteToResource& write) {
    const Duration way =
        turn_.PickLatency(turn_.latencies_.resource, Draw::kResourceLatency,
                          {.node = node_, .lock = participant_.lock, .step = steps::kWrite});
    turn_.Schedule(
        turn_.state_.now + way, ChoiceKind::kDeliver, -1,
        ResourceWrite{.process = process(), .lock = participant_.lock, .token = write.token});
  }

 private:
  Turn& turn_;
  const int16_t node_;
  Participant& participant_;
};

void Turn::TellApplication(int16_t node, Participant& participant, const ApplicationEvent& event) {
  Hosting host(*this, node, participant);
  GiveApplication(host, event);
}

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
  TellApplication(node, participant, ApplicationStarted{});
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
    const bool believed = participant.believes;
    UpdateBelief(node_index, participant);
    TellApplication(node_index, participant, ApplicationStopRequested{.believes = believed});
  }
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
                                     {.node = sender, .lock = lock, .step = kAnnouncedRelease});
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
      return TellApplication(node, *participant,
                             ApplicationTimerFired{.timer = static_cast<ApplicationTimer>(due.id)});
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
  Hosting host(*this, node, participant);
  if (auto* run = std::get_if<RunTransaction>(&effect)) {
    StartRunnerFor(node, participant, std::move(*run));
  } else if (const auto* set = std::get_if<SetTimer>(&effect)) {
    SetTimerAt(node, participant, TimerOwner::kMachine, set->timer, set->at);
  } else if (const auto* cancel = std::get_if<CancelTimer>(&effect)) {
    CancelTimerOf(participant, TimerOwner::kMachine, cancel->timer);
  } else if (const auto* given_up = std::get_if<CancelTransaction>(&effect)) {
    CancelRunnerOf(node, participant, given_up->request);
  } else if (const auto* changed = std::get_if<LeadershipChanged>(&effect)) {
    sim::Carry(host, *changed);
  } else if (auto* answer = std::get_if<Answer>(&effect)) {
    sim::Carry(host, std::move(*answer));
  } else if (std::holds_alternative<AnnounceRelease>(effect)) {
    AnnounceReleaseOf(node, participant);
  } else {
    sim::Carry(host, std::move(std::get<Note>(effect)));
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

// --- the resource ------------------------------------------------------------------------------

void Turn::OnResourceWrite(const ResourceWrite& write) {
  const auto writer = static_cast<size_t>(write.process.node);
  const ResourceKind kind = setup_.applications[writer].resource;
  for (const bool fenced : {true, false}) {
    if (WritesTo(kind, fenced)) ResourceHears(write, fenced);
  }
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
