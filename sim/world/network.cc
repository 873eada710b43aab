#include <algorithm>
#include <utility>
#include <variant>

#include "sim/world/call_draws.h"
#include "sim/world/calls.h"
#include "sim/world/copied_call.h"
#include "sim/world/parts.h"

namespace whorl::sim {
namespace {

const Links& LinksOf(const WorldContext& work, int16_t node) {
  return work.state.faults.At(node).links;
}

// How long a message of the call takes, with `service` at Spanner added.
Duration LatencyOf(WorldContext& work, uint32_t place, Draw draw, Duration service = {}) {
  Call& call = work.CallAt(place);
  const int16_t node = call.name.process.node;
  const Duration usual =
      service + work.PickLatency(work.latencies.one_way, draw, DrawnForCall(call));
  if (work.state.faults.At(node).active.empty()) return usual;
  const Direction way = draw == Draw::kRequestLatency ? Direction::kTo : Direction::kFrom;
  DrawnFaultChance chance(*work.chance, draw, DrawnForCall(call));
  const Duration slow = usual + AddedLatency(work.scenario, work.state.faults, node, way, chance);
  // Without faults no call takes as long as its deadline, so there is no need for a timeout.
  if (call.awaited && slow > usual) {
    call.slowed = true;
    const Instant deadline = DeadlineOf(work, call);
    if (work.state.now + slow > deadline) SetTimeout(work, place, deadline);
  }
  return slow;
}

// The connection is refused; the process learns of it after one network latency.
void Refuse(WorldContext& work, uint32_t place) {
  Call& call = work.CallAt(place);
  const int16_t node = call.name.process.node;
  call.at_spanner = true;  // keeps the call's slot until the refusal has arrived
  ObserveHanging(work, call);
  call.response = {};
  call.response.status = Error(Code::kUnavailable, "connection refused");
  const Duration latency =
      work.PickLatency(work.latencies.one_way, Draw::kReplyLatency, DrawnForCall(call));
  work.Schedule(work.state.now + latency, ChoiceKind::kDeliver, node,
                ReplyArrives{.call = call.name, .from_spanner = false}, place);
}

// A black hole holds the message back: it is pending, but it is not due.
void Hold(WorldContext& work, uint32_t place, const PendingEvent& message) {
  LeaveHanging(work, place);
  work.CallAt(place).held = work.state.pending.Add({.event = message}, place);
}

void IgnoreLateReply(WorldContext& work, uint32_t place) {
  Call& call = work.CallAt(place);
  work.Observe(LateReplyIgnored{.call = call.name});
  call.at_spanner = false;
  FreeIfDone(work, place);
}

// The process hears how its call ended. `response` may be the call's own: it stays where it is
// until another call takes the place, and by then the process has taken what it needs.
void EndCall(WorldContext& work, uint32_t place, bool from_spanner, Response&& response) {
  Call& call = work.CallAt(place);
  StopWaiting(work, call);
  const CallName name = call.name;
  work.Observe(CallEnded{
      .call = name, .step = call.step, .code = response.status.code, .from_spanner = from_spanner});
  FreeIfDone(work, place);
  OnCallEnded(work, name, std::move(response));
}

}  // namespace

// --- requests ----------------------------------------------------------------------------------

void SendToSpanner(WorldContext& work, uint32_t place) {
  Call& call = work.CallAt(place);
  const int16_t node = call.name.process.node;
  call.sent_at = work.state.now;
  call.at_spanner = true;
  work.Observe(CallSent{
      .call = call.name, .step = call.step, .request = static_cast<uint8_t>(call.request.index())});
  if (LosesRequest(work, node)) {
    call.at_spanner = false;
    return LeaveHanging(work, place);
  }
  switch (LinksOf(work, node).to) {
    case LinkState::kUp:
      work.Schedule(work.state.now + LatencyOf(work, place, Draw::kRequestLatency),
                    ChoiceKind::kDeliver, -1, CallArrives{.call = call.name}, place);
      return DuplicateIfArmed(work, place);
    case LinkState::kBlackHoled:
      return Hold(work, place, CallArrives{.call = call.name});
    case LinkState::kRefused:
      return Refuse(work, place);
  }
}

// The copy is a call of its own, for which nobody waits, so no fault of the node's link holds it up.
void SendCopy(WorldContext& work, uint32_t place, Duration after) {
  const uint32_t other = AddCall(work);  // may move the calls
  const Call& call = work.CallAt(place);
  Call& copy = work.CallAt(other);
  copy.name = call.name;
  copy.name.generation |= kCopiedCall;
  copy.step = call.step;
  copy.request = call.request;
  copy.deadline = call.deadline;
  copy.sent_at = work.state.now;
  copy.awaited = false;
  copy.at_spanner = true;
  const Instant first = work.state.pending[*FindPendingOf<CallArrives>(work, place)].due;
  const Duration latency =
      work.PickLatency(work.latencies.one_way, Draw::kRequestLatency, DrawnForCall(call));
  work.Schedule(first + after + latency, ChoiceKind::kDeliver, -1, CallArrives{.call = copy.name},
                other);
}

void OnCallArrives(WorldContext& work, uint32_t place) {
  const Call& call = work.CallAt(place);
  const LinkState link = LinksOf(work, call.name.process.node).to;
  const bool sender_lives = FindParticipant(work, call.name.process, call.name.lock) != nullptr;
  if (sender_lives && call.awaited && link == LinkState::kBlackHoled) {
    return Hold(work, place, CallArrives{.call = call.name});
  }
  if (sender_lives && call.awaited && link == LinkState::kRefused) return Refuse(work, place);
  ServeCall(work, place);
}

// --- replies -----------------------------------------------------------------------------------

void SendReply(WorldContext& work, uint32_t place, Response&& response, Duration service) {
  Call& call = work.CallAt(place);
  const int16_t node = call.name.process.node;
  if (!call.awaited) return IgnoreLateReply(work, place);
  if (call.drop_reply || LosesReply(work, node)) {
    call.at_spanner = false;
    return LeaveHanging(work, place);
  }
  AnswerAppliedByError(work, place, response);
  call.response = std::move(response);
  work.Schedule(work.state.now + LatencyOf(work, place, Draw::kReplyLatency, service),
                ChoiceKind::kDeliver, node, ReplyArrives{.call = call.name, .from_spanner = true},
                place);
}

void OnReplyArrives(WorldContext& work, uint32_t place, const ReplyArrives& reply) {
  Call& call = work.CallAt(place);
  if (!call.awaited) return IgnoreLateReply(work, place);
  const int16_t node = call.name.process.node;
  const LinkState link = LinksOf(work, node).from;
  if (reply.from_spanner && link == LinkState::kBlackHoled) return Hold(work, place, reply);
  call.at_spanner = false;
  if (reply.from_spanner && link == LinkState::kRefused) {
    return Refuse(work, place);
  }
  const bool is_spanners = reply.from_spanner && !call.response.status.Says(kFaultAnswersApplied);
  EndCall(work, place, is_spanners, std::move(call.response));
}

void OnCallTimesOut(WorldContext& work, uint32_t place) {
  Call& call = work.CallAt(place);
  call.timeout.reset();
  if (!call.awaited) return FreeIfDone(work, place);
  if (call.held) {
    work.Cancel(*call.held);
    call.held.reset();
    call.at_spanner = false;
  }
  const bool deadline = work.state.now >= DeadlineOf(work, call);
  Response response;
  response.status = deadline ? Error(Code::kDeadlineExceeded, "the call's deadline passed")
                             : Error(Code::kUnavailable, "the connection timed out");
  EndCall(work, place, /*from_spanner=*/false, std::move(response));
}

// --- messages that a fault meets on their way --------------------------------------------------------

std::optional<uint32_t> FindMessageOnItsWay(const WorldContext& work, uint32_t call,
                                            Direction direction) {
  std::optional<uint32_t> found;
  work.state.pending.ForEach([&](const PendingSlot& slot, uint32_t place) {
    if (slot.call != call || slot.queued == PendingSlot::kNone) return;
    const auto* reply = std::get_if<ReplyArrives>(&slot.choice.event);
    const bool is_request = std::holds_alternative<CallArrives>(slot.choice.event);
    if (is_request && Covers(direction, Direction::kTo)) found = place;
    if (reply != nullptr && reply->from_spanner && Covers(direction, Direction::kFrom))
      found = place;
  });
  return found;
}

void DelayMessageOf(WorldContext& work, uint32_t place, uint32_t fault) {
  const auto& latency = *work.scenario.faults[fault].As<LatencyFault>();
  const uint32_t message = *FindMessageOnItsWay(work, place, latency.direction);
  const bool is_request =
      std::holds_alternative<CallArrives>(work.state.pending[message].choice.event);
  Call& call = work.CallAt(place);
  DrawnFaultChance chance(*work.chance, is_request ? Draw::kRequestLatency : Draw::kReplyLatency,
                          DrawnForCall(call));
  Postpone(work, message, chance.Delay(fault, latency.add));
  call.slowed = true;
  const Instant deadline = DeadlineOf(work, call);
  if (work.state.pending[message].due > deadline) SetTimeout(work, place, deadline);
}

void Postpone(WorldContext& work, uint32_t event, Duration by) {
  const Instant due = std::max(work.state.pending[event].due, work.state.now) + by;
  work.state.pending.Dequeue(event);
  work.state.pending.Enqueue(event, due);
}

// --- the end of a black hole -------------------------------------------------------------------

void ReleaseHeld(WorldContext& work, int16_t node, bool requests, bool replies) {
  if (!requests && !replies) return;
  for (uint32_t place = 0; place < work.state.calls.size(); ++place) {
    const CallSlot& slot = work.state.calls[place];
    if (!slot.is_taken() || !slot.call().held || slot.call().name.process.node != node) continue;
    const uint32_t held = *slot.call().held;
    const bool request = std::holds_alternative<CallArrives>(work.state.pending[held].choice.event);
    if (request ? !requests : !replies) continue;
    const PendingEvent message = work.state.pending[held].choice.event;
    work.Cancel(held);
    work.CallAt(place).held.reset();
    const Draw draw = request ? Draw::kRequestLatency : Draw::kReplyLatency;
    const Duration latency = LatencyOf(work, place, draw);
    const int16_t to = request ? int16_t{-1} : node;
    work.Schedule(work.state.now + latency, ChoiceKind::kDeliver, to, message, place);
  }
}

}  // namespace whorl::sim
