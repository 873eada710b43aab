// Hosts the machine of active faults (fault_effects.h) in the simulated world.
#include <algorithm>
#include <utility>

#include "sim/world/fault_effects.h"
#include "sim/world/turn.h"

namespace whorl::sim {
namespace {

unsigned LivesOf(Life life) { return 1U << static_cast<unsigned>(life); }
static_assert(1U << static_cast<unsigned>(Life::kDown) == kIsDown);
static_assert(1U << static_cast<unsigned>(Life::kRunning) == kIsRunning);
static_assert(1U << static_cast<unsigned>(Life::kStopped) == kIsStopped);

}  // namespace

void Turn::OnFaultBegins(const FaultBegins& begins) {
  const FaultSpec& fault = scenario_.faults[begins.fault];
  FaultTarget target = {.exists = HasTarget(fault), .call = {}};
  if (fault.node != FaultSpec::kNoNode) {
    target.life = LivesOf(NodeAt(fault.node).life);
    target.incarnation = NodeAt(fault.node).incarnation;
  }
  if (begins.trigger && TargetOf(fault, *begins.trigger)) target.call = begins.trigger;
  FaultEffects effects;
  OnFaultDue(scenario_, state_.faults, begins.fault, target, effects);
  CarryOut(effects);
}

void Turn::OnFaultEnds(const FaultEnds& ends) {
  const int16_t node = scenario_.faults[ends.fault].node;
  const uint32_t incarnation = node == FaultSpec::kNoNode ? 0 : NodeAt(node).incarnation;
  FaultEffects effects;
  OnFaultOver(scenario_, state_.faults, ends.fault, incarnation, ends.incarnation, effects);
  CarryOut(effects);
}

bool Turn::HasTarget(const FaultSpec& fault) {
  if (fault.As<SessionLossFault>() != nullptr) return SessionOfNode(fault.node) != nullptr;
  const auto* deletion = fault.As<DeleteRowFault>();
  return deletion == nullptr ||
         model::FindNewest(state_.database.tables.front(),
                           {KeyOfRow(scenario_, deletion->target)}) != nullptr;
}

// The place of the call, if it is still there for the fault to strike.
std::optional<uint32_t> Turn::TargetOf(const FaultSpec& fault, const CallName& name) const {
  if (!StrikesOneCall(fault.what) || name.process.node != fault.node) return std::nullopt;
  const std::optional<uint32_t> place = FindCall(name);
  if (!place) return std::nullopt;
  const Call& call = *state_.calls[*place].call;
  if (!call.awaited) return std::nullopt;
  if (fault.As<DropReplyFault>() != nullptr) return place;
  if (!FindRequestOnItsWay(*place)) return std::nullopt;
  const bool is_dropped = fault.As<DropRequestFault>() != nullptr;
  const PassingCall passing = {.node = fault.node,
                               .step = call.step,
                               .can_abort = model::IsOfReadWrite(call.request),
                               .struck_by = {}};
  return is_dropped || CanAnswer(fault, passing) ? place : std::nullopt;
}

// --- effects -----------------------------------------------------------------------------------

void Turn::CarryOut(const FaultEffects& effects) {
  for (const FaultEffect& effect : effects) {
    std::visit([this](const auto& what) { CarryOut(what); }, effect);
  }
}

void Turn::CarryOut(const ObserveFault& observed) { Observe(observed.what); }

void Turn::CarryOut(const StartAgain& start) {
  Schedule(state_.now + start.after, ChoiceKind::kFault, start.node,
           NodeStarts{.fault = start.fault});
}

void Turn::CarryOut(const EndLater& end) {
  Schedule(state_.now + end.after, ChoiceKind::kFault, -1,
           FaultEnds{.fault = end.fault, .incarnation = end.incarnation});
}

void Turn::CarryOut(const LeaveSlowCalls& leave) {
  for (CallSlot& slot : state_.calls) {
    if (!slot.call || slot.call->name.process.node != leave.node) continue;
    if (!slot.call->slowed || !slot.call->awaited) continue;
    slot.call->slowed = false;
    Observe(CallHangs{.call = slot.call->name, .step = slot.call->step});
  }
}

void Turn::CarryOut(const DropRequest& drop) {
  const uint32_t place = *FindCall(drop.call);
  Call& call = *state_.calls[place].call;
  Cancel(*FindRequestOnItsWay(place));
  call.held.reset();
  call.at_spanner = false;
  MarkHanging(place);
}

void Turn::CarryOut(const DropReply& drop) {
  const uint32_t place = *FindCall(drop.call);
  Call& call = *state_.calls[place].call;
  for (uint32_t at = 0; at < state_.pending.size(); ++at) {
    if (!state_.pending[at].event) continue;
    const auto* reply = std::get_if<ReplyArrives>(&*state_.pending[at].event);
    if (reply == nullptr || reply->call != place) continue;
    Cancel(at);
    call.response = {};
    call.held.reset();
    call.at_spanner = false;
    return MarkHanging(place);
  }
  call.drop_reply = true;
}

void Turn::CarryOut(const MarkCall& mark) {
  state_.calls[*FindCall(mark.call)].call->struck_by = mark.fault;
}

// --- clocks ------------------------------------------------------------------------------------

void Turn::CarryOut(const SetNodeClock& set) {
  const ClockFault& change = set.change;
  NodeClock& clock = NodeAt(set.node).clock;
  if (change.offset) clock.offset += *change.offset - WallError(clock, state_.now);
  if (change.step) clock.offset += *change.step;
  // A belief that lasts by the wall clock lasts as long as that says from now on.
  for (Participant& participant : NodeAt(set.node).participants) {
    NoticeStanding(set.node, participant);
  }
  if (change.rate_ppm || change.stands) {
    Rebase(clock, state_.now);
    clock.rate_ppm = change.rate_ppm.value_or(clock.rate_ppm);
    clock.stands += change.stands ? 1 : 0;
    RescheduleTimers(set.node);
  }
  ObserveClock(set.node);
  if (change.stands) PauseNode(set.node);
}

void Turn::CarryOut(const ReleaseNodeClock& release) {
  NodeClock& clock = NodeAt(release.node).clock;
  if (clock.stands == 0) return;
  if (clock.stands == 1) {
    ClockGoesOn(release.node);
  } else {
    --clock.stands;
  }
  ResumeNode(release.node);
}

void Turn::ClockGoesOn(int16_t node) {
  NodeClock& clock = NodeAt(node).clock;
  Rebase(clock, state_.now);
  clock.stands = 0;
  RescheduleTimers(node);
  ObserveClock(node);
}

void Turn::ObserveClock(int16_t node) {
  const NodeClock& clock = NodeAt(node).clock;
  Observe(ClockChanged{.node = node,
                       .error = WallError(clock, state_.now),
                       .rate_ppm = clock.rate_ppm,
                       .stands = clock.stands > 0});
}

}  // namespace whorl::sim
