// What faults do.
#include <algorithm>
#include <utility>

#include "sim/world/fault_effects.h"
#include "sim/world/turn.h"

namespace whorl::sim {

// A fault that finds nothing to strike (a crash of a process that is down) does not begin.
void Turn::OnFaultBegins(const FaultBegins& begins) {
  const FaultSpec& fault = scenario_.faults[begins.fault];
  if (!CanStrike(fault)) return;
  if (StrikesOneCall(fault)) return StrikeOneCall(begins, fault);
  Observe(FaultBegan{.fault = begins.fault});
  const bool lasts = Strike(begins, fault);
  if (!lasts) Observe(FaultEnded{.fault = begins.fault});
}

bool Turn::CanStrike(const FaultSpec& fault) {
  switch (fault.kind) {
    case FaultKind::kPause:
    case FaultKind::kCrash:
      return NodeAt(fault.node).life != Life::kDown;
    case FaultKind::kStop:
      return NodeAt(fault.node).life == Life::kRunning;
    case FaultKind::kStart:
      return NodeAt(fault.node).life != Life::kRunning;
    case FaultKind::kClock:
      return !fault.clock.stands || NodeAt(fault.node).life != Life::kDown;
    case FaultKind::kSessionLoss:
      return SessionOfNode(fault.node) != nullptr;
    case FaultKind::kDeleteRow:
      return model::FindNewest(state_.database.tables.front(), {KeyOfDeleted(scenario_, fault)}) !=
             nullptr;
    default:
      return true;
  }
}

// Whether the fault goes on: its end will be said by what ends it.
bool Turn::Strike(const FaultBegins& begins, const FaultSpec& fault) {
  const auto end_after = [&](Duration duration) {
    const uint32_t incarnation =
        fault.node == FaultSpec::kNoNode ? 0 : NodeAt(fault.node).incarnation;
    Schedule(state_.now + duration, ChoiceKind::kFault, -1,
             FaultEnds{.fault = begins.fault, .incarnation = incarnation});
  };
  switch (fault.kind) {
    case FaultKind::kPause:
      PauseNode(fault.node);
      break;
    case FaultKind::kCrash:
    case FaultKind::kStop:
      fault.kind == FaultKind::kCrash ? LetGo(fault.node, /*crashed=*/true) : StopNode(fault.node);
      if (!fault.restart_after) return false;
      Schedule(state_.now + *fault.restart_after, ChoiceKind::kFault, fault.node,
               NodeStarts{.fault = begins.fault});
      return true;
    case FaultKind::kStart:
      StartNode(fault.node, std::nullopt);
      return false;
    case FaultKind::kPartition:
      NodeAt(fault.node).active.push_back(begins.fault);
      UpdateLinks(fault.node);
      if (fault.lasts) end_after(*fault.lasts);
      return true;
    case FaultKind::kLatency:
      NodeAt(fault.node).active.push_back(begins.fault);
      if (fault.lasts) end_after(*fault.lasts);
      return true;
    case FaultKind::kAbort:
      NodeAt(fault.node).active.push_back(begins.fault);
      break;
    case FaultKind::kUnavailable:
      if (state_.spanner.unavailable++ == 0) Observe(SpannerAvailability{.available = false});
      break;
    case FaultKind::kSessionLoss:
      LoseSession(fault.node);
      return false;
    case FaultKind::kClock:
      ChangeClock(fault);
      break;
    case FaultKind::kTrueTime:
    case FaultKind::kCurrentTimestamp:
      state_.spanner.active.push_back(begins.fault);
      UpdateSpannerClocks();
      break;
    case FaultKind::kDeleteRow:
      DeleteRow({.fault = begins.fault});
      return true;
    case FaultKind::kDropRequest:
    case FaultKind::kDropReply:
      return false;
  }
  // A setting for good is how the world is from now on, and no disturbance that goes on.
  if (fault.lasts) end_after(*fault.lasts);
  return fault.lasts.has_value();
}

void Turn::OnFaultEnds(const FaultEnds& ends) {
  const FaultSpec& fault = scenario_.faults[ends.fault];
  const auto same_process = [&] { return NodeAt(fault.node).incarnation == ends.incarnation; };
  switch (fault.kind) {
    case FaultKind::kPause:
      if (same_process()) ResumeNode(fault.node);
      break;
    case FaultKind::kPartition:
      std::erase(NodeAt(fault.node).active, ends.fault);
      UpdateLinks(fault.node);
      break;
    case FaultKind::kLatency:
      std::erase(NodeAt(fault.node).active, ends.fault);
      EndLatency(fault.node);
      break;
    case FaultKind::kAbort:
      std::erase(NodeAt(fault.node).active, ends.fault);
      break;
    case FaultKind::kUnavailable:
      if (--state_.spanner.unavailable == 0) Observe(SpannerAvailability{.available = true});
      break;
    case FaultKind::kClock:
      if (!same_process() || NodeAt(fault.node).clock.stands == 0) break;
      if (NodeAt(fault.node).clock.stands == 1) {
        ClockGoesOn(fault.node);
      } else {
        --NodeAt(fault.node).clock.stands;
      }
      ResumeNode(fault.node);
      break;
    case FaultKind::kTrueTime:
    case FaultKind::kCurrentTimestamp:
      std::erase(state_.spanner.active, ends.fault);
      UpdateSpannerClocks();
      break;
    default:
      break;
  }
  Observe(FaultEnded{.fault = ends.fault});
}

// --- faults of one call ------------------------------------------------------------------------

// Strikes the call that the trigger names, or waits for the node's next one.
void Turn::StrikeOneCall(const FaultBegins& begins, const FaultSpec& fault) {
  const auto target = begins.trigger ? TargetOf(fault, *begins.trigger) : std::nullopt;
  if (!target) {
    NodeAt(fault.node).armed.push_back(begins.fault);
    return;
  }
  Observe(FaultBegan{.fault = begins.fault});
  Call& call = *state_.calls[*target].call;
  if (fault.kind == FaultKind::kAbort) {
    call.abort = true;
  } else if (fault.kind == FaultKind::kDropReply) {
    LoseReply(*target);
  } else {
    Cancel(*FindRequestOnItsWay(*target));
    call.held.reset();
    call.at_spanner = false;
    MarkHanging(*target);
  }
  Observe(FaultEnded{.fault = begins.fault});
}

// The place of the call, if it is still there for the fault to strike.
std::optional<uint32_t> Turn::TargetOf(const FaultSpec& fault, const CallName& name) const {
  const std::optional<uint32_t> place = FindCall(name);
  if (!place || name.process.node != fault.node) return std::nullopt;
  const Call& call = *state_.calls[*place].call;
  if (!call.awaited) return std::nullopt;
  if (fault.kind == FaultKind::kDropReply) return place;
  if (!FindRequestOnItsWay(*place)) return std::nullopt;
  if (fault.kind == FaultKind::kAbort && !model::IsOfReadWrite(call.request)) return std::nullopt;
  return place;
}

void Turn::LoseReply(uint32_t place) {
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

// Whether a fault has waited for this call of the node; then it has struck.
bool Turn::StrikesNextCall(int16_t node, FaultKind kind) {
  std::vector<uint32_t>& armed = NodeAt(node).armed;
  const auto found = std::find_if(armed.begin(), armed.end(), [&](uint32_t fault) {
    return scenario_.faults[fault].kind == kind;
  });
  if (found == armed.end()) return false;
  const uint32_t fault = *found;
  armed.erase(found);
  Observe(FaultBegan{.fault = fault});
  Observe(FaultEnded{.fault = fault});
  return true;
}

// --- latency -----------------------------------------------------------------------------------

// Calls that are still on their slow way are what the fault leaves behind.
void Turn::EndLatency(int16_t node) {
  for (CallSlot& slot : state_.calls) {
    if (!slot.call || slot.call->name.process.node != node) continue;
    if (!slot.call->slowed || !slot.call->awaited) continue;
    slot.call->slowed = false;
    Observe(CallHangs{.call = slot.call->name, .step = slot.call->step});
  }
}

// --- clocks ------------------------------------------------------------------------------------

void Turn::ChangeClock(const FaultSpec& fault) {
  const ClockChange& change = fault.clock;
  NodeClock& clock = NodeAt(fault.node).clock;
  if (change.offset) clock.offset += *change.offset - WallError(clock, state_.now);
  if (change.step) clock.offset += *change.step;
  // A belief that lasts by the wall clock lasts as long as that says from now on.
  for (Participant& participant : NodeAt(fault.node).participants) {
    NoticeStanding(fault.node, participant);
  }
  if (change.rate_ppm || change.stands) {
    Rebase(clock, state_.now);
    clock.rate_ppm = change.rate_ppm.value_or(clock.rate_ppm);
    clock.stands += change.stands ? 1 : 0;
    RescheduleTimers(fault.node);
  }
  ObserveClock(fault.node);
  if (change.stands) PauseNode(fault.node);
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
