// What faults do.
#include <algorithm>
#include <utility>

#include "sim/world/fault_effects.h"
#include "sim/world/turn.h"

namespace whorl::sim {
namespace {

Lives LivesOf(Life life) { return static_cast<Lives>(1U << static_cast<unsigned>(life)); }
static_assert(1U << static_cast<unsigned>(Life::kDown) == kIsDown);
static_assert(1U << static_cast<unsigned>(Life::kStopped) == kIsStopped);

}  // namespace

// A fault that finds nothing to strike (a crash of a process that is down) does not begin.
void Turn::OnFaultBegins(const FaultBegins& begins) {
  const FaultSpec& fault = scenario_.faults[begins.fault];
  if (!CanStrike(fault)) return;
  if (StrikesOneCall(fault.what)) return StrikeOneCall(begins, fault);
  Observe(FaultBegan{.fault = begins.fault});
  const bool lasts = Strike(begins, fault);
  if (!lasts) Observe(FaultEnded{.fault = begins.fault});
}

bool Turn::CanStrike(const FaultSpec& fault) {
  if (fault.As<SessionLossFault>() != nullptr) return SessionOfNode(fault.node) != nullptr;
  if (const auto* deletion = fault.As<DeleteRowFault>()) {
    return model::FindNewest(state_.database.tables.front(),
                             {KeyOfRow(scenario_, deletion->target)}) != nullptr;
  }
  if (fault.node == FaultSpec::kNoNode) return true;
  return (LivesOf(NodeAt(fault.node).life) & StrikesIn(fault.what)) != kNoLife;
}

// Whether the fault goes on: its end will be said by what ends it.
bool Turn::Strike(const FaultBegins& begins, const FaultSpec& fault) {
  const int16_t node = fault.node;
  const auto go_on = [&] { NodeAt(node).active.push_back(begins.fault); };
  const auto set_clocks = [&] {
    state_.spanner.active.push_back(begins.fault);
    UpdateSpannerClocks();
  };
  std::visit(Overloaded{[&](const PauseFault&) { PauseNode(node); },
                        [&](const CrashFault&) { LetGo(node, /*crashed=*/true); },
                        [&](const StopFault&) { StopNode(node); },
                        [&](const StartFault&) { StartNode(node, std::nullopt); },
                        [&](const PartitionFault&) {
                          go_on();
                          UpdateLinks(node);
                        },
                        [&](const LatencyFault&) { go_on(); }, [&](const AbortFault&) { go_on(); },
                        [&](const DropRequestFault&) {},  // StrikeOneCall
                        [&](const DropReplyFault&) {},
                        [&](const UnavailableFault&) {
                          if (state_.spanner.unavailable++ > 0) return;
                          Observe(SpannerAvailability{.available = false});
                        },
                        [&](const SessionLossFault&) { LoseSession(node); },
                        [&](const ClockFault& change) { ChangeClock(node, change); },
                        [&](const TrueTimeFault&) { set_clocks(); },
                        [&](const CurrentTimestampFault&) { set_clocks(); },
                        [&](const DeleteRowFault&) { DeleteRow({.fault = begins.fault}); }},
             fault.what);
  if (const std::optional<Duration> after = RestartAfterOf(fault.what)) {
    Schedule(state_.now + *after, ChoiceKind::kFault, node, NodeStarts{.fault = begins.fault});
    return true;
  }
  const std::optional<Duration> lasts = LastsOf(fault.what);
  if (lasts) {
    const uint32_t incarnation = node == FaultSpec::kNoNode ? 0 : NodeAt(node).incarnation;
    Schedule(state_.now + *lasts, ChoiceKind::kFault, -1,
             FaultEnds{.fault = begins.fault, .incarnation = incarnation});
  }
  // A setting for good is how the world is from now on, and no disturbance that goes on.
  return lasts || GoesOn(fault.what) || fault.As<DeleteRowFault>() != nullptr;
}

void Turn::OnFaultEnds(const FaultEnds& ends) {
  const FaultSpec& fault = scenario_.faults[ends.fault];
  const int16_t node = fault.node;
  const auto same_process = [&] { return NodeAt(node).incarnation == ends.incarnation; };
  const auto no_longer = [&] { std::erase(NodeAt(node).active, ends.fault); };
  const auto reset_clocks = [&] {
    std::erase(state_.spanner.active, ends.fault);
    UpdateSpannerClocks();
  };
  std::visit(Overloaded{[&](const PauseFault&) {
                          if (same_process()) ResumeNode(node);
                        },
                        [&](const PartitionFault&) {
                          no_longer();
                          UpdateLinks(node);
                        },
                        [&](const LatencyFault&) {
                          no_longer();
                          EndLatency(node);
                        },
                        [&](const AbortFault&) { no_longer(); },
                        [&](const UnavailableFault&) {
                          if (--state_.spanner.unavailable > 0) return;
                          Observe(SpannerAvailability{.available = true});
                        },
                        [&](const ClockFault&) {
                          if (same_process()) EndStanding(node);
                        },
                        [&](const TrueTimeFault&) { reset_clocks(); },
                        [&](const CurrentTimestampFault&) { reset_clocks(); },
                        [](const auto&) {}},  // lasts no time
             fault.what);
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
  if (fault.As<AbortFault>()) {
    call.abort = true;
  } else if (fault.As<DropReplyFault>()) {
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
  if (fault.As<DropReplyFault>()) return place;
  if (!FindRequestOnItsWay(*place)) return std::nullopt;
  if (fault.As<AbortFault>() && !model::IsOfReadWrite(call.request)) return std::nullopt;
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
    return scenario_.faults[fault].kind() == kind;
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

void Turn::ChangeClock(int16_t node, const ClockFault& change) {
  NodeClock& clock = NodeAt(node).clock;
  if (change.offset) clock.offset += *change.offset - WallError(clock, state_.now);
  if (change.step) clock.offset += *change.step;
  // A belief that lasts by the wall clock lasts as long as that says from now on.
  for (Participant& participant : NodeAt(node).participants) {
    NoticeStanding(node, participant);
  }
  if (change.rate_ppm || change.stands) {
    Rebase(clock, state_.now);
    clock.rate_ppm = change.rate_ppm.value_or(clock.rate_ppm);
    clock.stands += change.stands ? 1 : 0;
    RescheduleTimers(node);
  }
  ObserveClock(node);
  if (change.stands) PauseNode(node);
}

// When the fault that made them stand is over.
void Turn::EndStanding(int16_t node) {
  NodeClock& clock = NodeAt(node).clock;
  if (clock.stands == 0) return;
  if (clock.stands == 1) {
    ClockGoesOn(node);
  } else {
    --clock.stands;
  }
  ResumeNode(node);
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
