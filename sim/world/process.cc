#include <algorithm>
#include <vector>

#include "sim/world/calls.h"
#include "sim/world/parts.h"

namespace whorl::sim {
namespace {

void StartParticipant(WorldContext& work, int16_t node, uint16_t place) {
  const NodeSpec& spec = work.SpecOf(node);
  Participant& participant = work.NodeAt(node).participants[place];
  participant.machine = MakeProtocolState(work.setup.configs[static_cast<size_t>(node)][place],
                                          spec.use == Use::kLock);
  StepApplication(work, node, participant, ApplicationStarted{});
}

}  // namespace

// --- lives -------------------------------------------------------------------------------------

void StartNode(WorldContext& work, int16_t node_index, std::optional<uint32_t> fault) {
  Node& node = work.NodeAt(node_index);
  if (node.life == Life::kRunning) {
    // Something else started it first; the fault is over all the same.
    if (fault) work.Observe(FaultEnded{.fault = *fault});
    return;
  }
  RemoveProcess(work, node_index, /*crashed=*/false);
  node.life = Life::kRunning;
  ++node.incarnation;
  node.started = Shows(node.clock, work.state.now);
  node.generation = 0;
  work.Observe(ProcessStarted{.process = work.ProcessOf(node_index)});
  const NodeSpec& spec = work.SpecOf(node_index);
  node.participants.resize(spec.locks.size());
  for (uint16_t place = 0; place < spec.locks.size(); ++place) {
    node.participants[place].lock = spec.locks[place];
  }
  if (work.setup.loses_session[static_cast<size_t>(node_index)] != 0) {
    MakeSessions(work, node_index);
  }
  for (uint16_t place = 0; place < spec.locks.size(); ++place) {
    StartParticipant(work, node_index, place);
  }
  if (fault) work.Observe(FaultEnded{.fault = *fault});
}

void RemoveProcess(WorldContext& work, int16_t node_index, bool crashed) {
  Node& node = work.NodeAt(node_index);
  if (node.life == Life::kDown) return;
  const ProcessId process = work.ProcessOf(node_index);
  node.life = Life::kDown;
  for (Participant& participant : node.participants) {
    UpdateBelief(work, node_index, participant);
    for (const ActiveTimer& timer : participant.timers) work.Cancel(timer.place);
  }
  AbandonCallsOf(work, process);
  node.held_up.clear();
  node.participants.clear();
  node.sessions.reset();
  node.pauses = 0;
  // Whatever kept its machine still is over with it.
  if (node.clock.stands > 0) LetClockRun(work, node_index);
  work.Observe(ProcessGone{.process = process, .crashed = crashed});
}

void StopNode(WorldContext& work, int16_t node_index) {
  Node& node = work.NodeAt(node_index);
  node.life = Life::kStopped;
  work.Observe(ProcessStopped{.process = work.ProcessOf(node_index)});
  for (Participant& participant : node.participants) {
    const bool believed = participant.believes;
    UpdateBelief(work, node_index, participant);
    StepApplication(work, node_index, participant, ApplicationStopRequested{.believes = believed});
  }
}

void PauseNode(WorldContext& work, int16_t node) {
  if (work.NodeAt(node).pauses++ == 0) {
    work.Observe(ProcessPaused{.process = work.ProcessOf(node)});
  }
}

void ResumeNode(WorldContext& work, int16_t node_index) {
  Node& node = work.NodeAt(node_index);
  if (node.pauses == 0 || --node.pauses > 0) return;
  work.Observe(ProcessResumed{.process = work.ProcessOf(node_index)});
  for (const PendingRef& event : node.held_up) {
    // Events that were cancelled meanwhile are gone.
    if (work.state.pending.Contains(event)) work.state.pending.Enqueue(event.place, work.state.now);
  }
  node.held_up.clear();
}

// --- what reaches a process --------------------------------------------------------------------

void OnTimer(WorldContext& work, const TimerDue& due) {
  Participant* participant = FindParticipant(work, due.process, due.lock);
  if (participant == nullptr) return;
  std::vector<ActiveTimer>& timers = participant->timers;
  const auto fired = std::ranges::find_if(timers, [&](const ActiveTimer& timer) {
    return timer.owner == due.owner && timer.id == due.id;
  });
  if (fired != timers.end()) timers.erase(fired);
  const int16_t node = due.process.node;
  switch (due.owner) {
    case TimerOwner::kMachine:
      return QueueForMachine(work, node, *participant, TimerFired{due.id});
    case TimerOwner::kRunner:
      return OnBackoffOver(work, node, *participant, due.id);
    case TimerOwner::kApplication:
      return StepApplication(work, node, *participant,
                             ApplicationTimerFired{.timer = static_cast<ApplicationTimer>(due.id)});
    case TimerOwner::kBeliefLapses:
      participant->belief_lapsed = true;
      return UpdateBelief(work, node, *participant);
    case TimerOwner::kSessions:
      return OnSessionsTimer(work, node);
  }
}

// The process that the node runs now hears it, whichever it ran when the announcement was sent.
void OnReleaseHeard(WorldContext& work, int16_t node, const ReleaseHeard& heard) {
  const Participant* participant = FindParticipant(work, work.ProcessOf(node), heard.lock);
  if (participant != nullptr) QueueForMachine(work, node, *participant, ReleaseAnnounced{});
}

}  // namespace whorl::sim
