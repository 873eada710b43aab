#include <algorithm>
#include <optional>
#include <variant>

#include "sim/world/call_draws.h"
#include "sim/world/calls.h"
#include "sim/world/fault_effects.h"
#include "sim/world/parts.h"
#include "sim/world/spanner_clocks.h"

namespace whorl::sim {
namespace {

unsigned LivesOf(Life life) { return 1U << static_cast<unsigned>(life); }
static_assert(1U << static_cast<unsigned>(Life::kDown) == kIsDown);
static_assert(1U << static_cast<unsigned>(Life::kRunning) == kIsRunning);
static_assert(1U << static_cast<unsigned>(Life::kStopped) == kIsStopped);

// --- what the machine asks its host -----------------------------------------------------------

bool Believes(const Node& node) {
  return std::ranges::any_of(node.participants, &Participant::believes);
}

// The node that the fault strikes now; below 0 if it strikes none.
int16_t NodeStruckBy(const WorldContext& work, const FaultSpec& fault) {
  if (fault.node != FaultSpec::kLeader) return fault.node;
  const auto leader = std::ranges::find_if(work.state.nodes, Believes);
  if (leader == work.state.nodes.end()) return FaultSpec::kNoNode;
  return static_cast<int16_t>(leader - work.state.nodes.begin());
}

bool HasTarget(WorldContext& work, const FaultSpec& fault, int16_t node) {
  if (fault.As<SessionLossFault>() != nullptr) {
    return node >= 0 && SessionOfNode(work, node) != nullptr;
  }
  const RowOfLock* target = TargetOf(fault.what);
  return target == nullptr || RowExists(work, *target);
}

// The place of the newest write of the process and lock that is on its way to the resource.
std::optional<uint32_t> FindNewestWrite(const WorldContext& work, ProcessId process,
                                        uint16_t lock) {
  std::optional<uint32_t> newest;
  work.state.pending.ForEach([&](const PendingSlot& slot, uint32_t place) {
    const auto* write = std::get_if<ResourceWrite>(&slot.choice.event);
    if (write == nullptr || write->process != process || write->lock != lock) return;
    if (!newest || work.state.pending[*newest].id < slot.id) newest = place;
  });
  return newest;
}

// Whether Spanner has done what the request asks for. A Commit that is answered by a token has not committed.
bool IsApplied(const Request& request, const Response& response) {
  if (!response.status.ok() || !response.result.status.ok()) return false;
  return !std::holds_alternative<Commit>(request) || response.precommit_token.empty();
}

// Whether the reply is on its way, and the fault can put an error in its place.
bool CanSpoil(const WorldContext& work, const FaultSpec& fault, const Call& call, uint32_t place) {
  if (!FindPendingOf<ReplyArrives>(work, place)) return false;
  if (!IsApplied(call.request, call.response)) return false;
  PassingCall passing = PassingOf(work, call);
  passing.is_applied = true;
  return CanAnswer(fault, passing);
}

void Spoil(Response& response, Code code) {
  response = {};
  response.status = Error(code, std::string(kFaultAnswersApplied));
}

// Whether the call, or the write, is still there for the fault to strike.
bool CanStrike(WorldContext& work, const FaultSpec& fault, int16_t node, const CallName& name) {
  if (name.process.node != node) return false;
  if (SlowsItsTrigger(fault)) return FindNewestWrite(work, name.process, name.lock).has_value();
  const auto* latency = fault.As<LatencyFault>();
  if (!StrikesOneCall(fault.what) && latency == nullptr) return false;
  const std::optional<uint32_t> place = FindCall(work, name);
  if (!place) return false;
  const Call& call = work.CallAt(*place);
  if (!call.awaited) return false;
  if (latency != nullptr) return FindMessageOnItsWay(work, *place, latency->direction).has_value();
  if (fault.As<DropReplyFault>() != nullptr) return true;
  const auto* error = fault.As<ErrorFault>();
  if (error != nullptr && error->applied) return CanSpoil(work, fault, call, *place);
  if (!FindPendingOf<CallArrives>(work, *place)) return false;
  const bool is_of_requests = fault.As<DropRequestFault>() || fault.As<DuplicateRequestFault>();
  return is_of_requests || CanAnswer(fault, PassingOf(work, call));
}

// --- the machine's effects ---------------------------------------------------------------------

void ApplyEffect(WorldContext& work, const ObserveFault& observed) { work.Observe(observed.what); }

void ApplyEffect(WorldContext& work, const PauseProcess& pause) { PauseNode(work, pause.node); }
void ApplyEffect(WorldContext& work, const ResumeProcess& resume) { ResumeNode(work, resume.node); }
void ApplyEffect(WorldContext& work, const CrashProcess& crash) {
  RemoveProcess(work, crash.node, /*crashed=*/true);
}
void ApplyEffect(WorldContext& work, const StopProcess& stop) { StopNode(work, stop.node); }
void ApplyEffect(WorldContext& work, const StartProcess& start) {
  StartNode(work, start.node, std::nullopt);
}
void ApplyEffect(WorldContext& work, const StartAgain& start) {
  work.Schedule(work.state.now + start.after, ChoiceKind::kFault, start.node,
                NodeStarts{.fault = start.fault});
}

void ApplyEffect(WorldContext& work, const EndLater& end) {
  work.Schedule(work.state.now + end.after, ChoiceKind::kFault, -1,
                FaultEnds{.fault = end.fault, .node = end.node, .incarnation = end.incarnation});
}

void ApplyEffect(WorldContext& work, const SetLink& set) { work.Observe(set.change); }
void ApplyEffect(WorldContext& work, const ReleaseMessages& release) {
  ReleaseHeld(work, release.node, release.requests, release.replies);
}
void ApplyEffect(WorldContext& work, const LeaveSlowCalls& leave) {
  for (CallSlot& slot : work.state.calls) {
    if (!slot.is_taken() || slot.call().name.process.node != leave.node) continue;
    if (!slot.call().slowed || !slot.call().awaited) continue;
    slot.call().slowed = false;
    work.Observe(CallHangs{.call = slot.call().name, .step = slot.call().step});
  }
}

void ApplyEffect(WorldContext& work, const TakeSession& take) { LoseSession(work, take.node); }

void ApplyEffect(WorldContext& work, const TellOfRelease& tell) {
  for (const uint16_t lock : work.SpecOf(tell.node).locks) {
    work.Schedule(work.state.now, ChoiceKind::kDeliver, tell.node, ReleaseHeard{.lock = lock});
  }
}

void ApplyEffect(WorldContext& work, const SetNodeClock& set) {
  SetClock(work, set.node, set.change);
  if (set.change.stands) PauseNode(work, set.node);
}
void ApplyEffect(WorldContext& work, const ReleaseNodeClock& release) {
  if (work.NodeAt(release.node).clock.stands == 0) return;
  ReleaseClock(work, release.node);
  ResumeNode(work, release.node);
}
void ApplyEffect(WorldContext& work, const SetSpannerClocks& set) { SetClocksOfSpanner(work, set); }

void ApplyEffect(WorldContext& work, const ActAsOperator& acts) {
  OnOperatorActs(work, {.fault = acts.fault});
}

void ApplyEffect(WorldContext& work, const DropRequest& drop) {
  const uint32_t place = *FindCall(work, drop.call);
  Call& call = work.CallAt(place);
  work.Cancel(*FindPendingOf<CallArrives>(work, place));
  call.held.reset();
  call.at_spanner = false;
  LeaveHanging(work, place);
}

void ApplyEffect(WorldContext& work, const DropReply& drop) {
  const uint32_t place = *FindCall(work, drop.call);
  Call& call = work.CallAt(place);
  if (const auto reply = FindPendingOf<ReplyArrives>(work, place)) {
    work.Cancel(*reply);
    call.response = {};
    call.held.reset();
    call.at_spanner = false;
    return LeaveHanging(work, place);
  }
  call.drop_reply = true;
}

void ApplyEffect(WorldContext& work, const DuplicateRequest& copy) {
  SendCopy(work, *FindCall(work, copy.call), copy.after);
}

void ApplyEffect(WorldContext& work, const MarkCall& mark) {
  Call& call = work.CallAt(*FindCall(work, mark.call));
  const auto* error = work.scenario.faults[mark.fault].As<ErrorFault>();
  if (error == nullptr || !error->applied) {
    call.struck_by = mark.fault;
    return;
  }
  ObserveHanging(work, call);
  Spoil(call.response, CodeOf(error->code));
}

void ApplyEffect(WorldContext& work, const DelayMessage& delay) {
  DelayMessageOf(work, *FindCall(work, delay.call), delay.fault);
}

void ApplyEffect(WorldContext& work, const DelayWrite& delay) {
  const uint32_t place = *FindNewestWrite(work, delay.process, delay.lock);
  const DrawnFor whom = {.node = delay.process.node, .lock = delay.lock, .step = steps::kWrite};
  DrawnFaultChance chance(*work.chance, Draw::kResourceLatency, whom);
  const auto& slow = *work.scenario.faults[delay.fault].As<SlowResourceFault>();
  Postpone(work, place, chance.Delay(delay.fault, slow.add));
}

void ApplyEffect(WorldContext& work, const FaultEffects& effects) {
  for (const FaultEffect& effect : effects) {
    std::visit([&work](const auto& what) { ApplyEffect(work, what); }, effect);
  }
}

// LosesRequest or LosesReply of the machine.
using Loses = bool (*)(const Scenario&, ActiveFaults&, int16_t node, FaultEffects& out);

bool LosesBy(Loses loses, WorldContext& work, int16_t node) {
  if (work.state.faults.At(node).armed.empty()) return false;
  FaultEffects effects;
  const bool lost = loses(work.scenario, work.state.faults, node, effects);
  ApplyEffect(work, effects);
  return lost;
}

}  // namespace

void OnFaultBegins(WorldContext& work, const FaultBegins& begins) {
  const FaultSpec& fault = work.scenario.faults[begins.fault];
  const int16_t node = NodeStruckBy(work, fault);
  FaultTarget target = {.node = node, .exists = HasTarget(work, fault, node), .call = {}};
  if (node >= 0) {
    target.life = LivesOf(work.NodeAt(node).life);
    target.incarnation = work.NodeAt(node).incarnation;
  }
  if (begins.trigger && CanStrike(work, fault, node, *begins.trigger)) target.call = begins.trigger;
  FaultEffects effects;
  OnFaultDue(work.scenario, work.state.faults, begins.fault, target, effects);
  ApplyEffect(work, effects);
}

void OnFaultEnds(WorldContext& work, const FaultEnds& ends) {
  const uint32_t incarnation = ends.node < 0 ? 0 : work.NodeAt(ends.node).incarnation;
  FaultEffects effects;
  OnFaultOver(work.scenario, work.state.faults, ends.fault, ends.node, incarnation,
              ends.incarnation, effects);
  ApplyEffect(work, effects);
}

bool LosesRequest(WorldContext& work, int16_t node) { return LosesBy(LosesRequest, work, node); }
bool LosesReply(WorldContext& work, int16_t node) { return LosesBy(LosesReply, work, node); }

void DuplicateIfArmed(WorldContext& work, uint32_t place) {
  const CallName& call = work.CallAt(place).name;
  if (call.call == kSessionCall || work.state.faults.At(call.process.node).armed.empty()) return;
  FaultEffects effects;
  DuplicateIfArmed(work.scenario, work.state.faults, call, effects);
  ApplyEffect(work, effects);
}

PassingCall PassingOf(const WorldContext& work, const Call& call) {
  const auto* statement = std::get_if<ExecuteSql>(&call.request);
  // Queries of their own have the number 1, too.
  const bool is_first = statement != nullptr && statement->sequence_number <= 1;
  return {.node = call.name.process.node,
          .step = call.step,
          .method = RequestName(call.request),
          .is_first_statement = is_first,
          .can_abort = model::IsOfReadWrite(call.request),
          .comes_again = model::IsCommitAgain(work.state.database, call.request),
          .struck_by = call.struck_by};
}

void AnswerAppliedByError(WorldContext& work, uint32_t place, Response& response) {
  Call& call = work.CallAt(place);
  const int16_t node = call.name.process.node;
  if (!ConcernsCalls(work.state.faults, node) || !IsApplied(call.request, response)) return;
  PassingCall passing = PassingOf(work, call);
  passing.is_applied = true;
  DrawnFaultChance chance(*work.chance, Draw::kServiceTime, DrawnForCall(call));
  const auto answer = AnswerByFault(work.scenario, work.state.faults, passing, chance);
  if (!answer) return;
  if (answer->armed) TakeArmed(work, node, *answer->armed);
  ObserveHanging(work, call);
  Spoil(response, answer->code);
}

void TakeArmed(WorldContext& work, int16_t node, uint32_t fault) {
  FaultEffects effects;
  TakeArmed(work.state.faults, node, fault, effects);
  ApplyEffect(work, effects);
}

}  // namespace whorl::sim
