#include "sim/world/calls.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace whorl::sim {

void CallSlot::Take() {
  is_taken_ = true;
  call_.awaited = true;
  call_.at_spanner = false;
  call_.hangs = false;
  call_.slowed = false;
  call_.drop_reply = false;
  call_.struck_by.reset();
  call_.held.reset();
  call_.timeout.reset();
  // Made anew in its place: moving an empty one there would cost more.
  std::destroy_at(&call_.response);
  std::construct_at(&call_.response);
}

uint32_t AddCall(WorldContext& work) {
  WorldState& state = work.state;
  auto place = static_cast<uint32_t>(state.calls.size());
  if (state.free_calls.empty()) {
    state.calls.emplace_back();
  } else {
    place = state.free_calls.back();
    state.free_calls.pop_back();
  }
  state.calls[place].Take();
  return place;
}

std::optional<uint32_t> FindCall(const WorldContext& work, const CallName& name) {
  const std::vector<CallSlot>& calls = work.state.calls;
  const auto holds = [&](uint32_t place) {
    return calls[place].is_taken() && calls[place].call().name == name;
  };
  if (work.call_of_event != PendingSlot::kNone && holds(work.call_of_event)) {
    return work.call_of_event;
  }
  for (uint32_t place = 0; place < calls.size(); ++place) {
    if (holds(place)) return place;
  }
  return std::nullopt;
}

void StopWaiting(WorldContext& work, Call& call) {
  call.awaited = false;
  if (call.timeout) work.Cancel(*call.timeout);
  call.timeout.reset();
}

void AbandonCall(WorldContext& work, uint32_t place) {
  Call& call = work.CallAt(place);
  StopWaiting(work, call);
  if (call.held) {
    work.Cancel(*call.held);
    call.held.reset();
    call.at_spanner = false;
  }
  FreeIfDone(work, place);
}

void AbandonCallsOf(WorldContext& work, ProcessId process) {
  const std::vector<CallSlot>& calls = work.state.calls;
  for (uint32_t place = 0; place < calls.size(); ++place) {
    if (!calls[place].is_taken() || calls[place].call().name.process != process) continue;
    AbandonCall(work, place);
  }
}

void FreeIfDone(WorldContext& work, uint32_t place) {
  const Call& call = work.CallAt(place);
  if (call.awaited || call.at_spanner || call.timeout) return;
  work.state.calls[place].Free();
  work.state.free_calls.push_back(place);
}

// --- how long a process waits ------------------------------------------------------------------

Instant DeadlineOf(WorldContext& work, const Call& call) {
  return work.WhenShown(call.name.process.node, call.deadline);
}

void SetTimeout(WorldContext& work, uint32_t place, Instant at) {
  Call& call = work.CallAt(place);
  if (call.timeout) {
    if (work.state.pending[*call.timeout].due <= at) return;
    work.Cancel(*call.timeout);
  }
  call.timeout = work.Schedule(at, ChoiceKind::kSettle, call.name.process.node,
                               CallTimesOut{.call = call.name}, place);
}

void RescheduleTimeouts(WorldContext& work, int16_t node) {
  for (uint32_t place = 0; place < work.state.calls.size(); ++place) {
    if (!work.state.calls[place].is_taken()) continue;
    Call& call = work.CallAt(place);
    if (!call.timeout) continue;
    if (call.name.process.node != node) continue;
    work.Cancel(*call.timeout);
    call.timeout.reset();
    const Instant connection = call.sent_at + work.scenario.network.connection_timeout;
    const Instant deadline = DeadlineOf(work, call);
    SetTimeout(work, place, call.hangs ? std::min(connection, deadline) : deadline);
  }
}

void ObserveHanging(WorldContext& work, Call& call) {
  if (call.hangs) return;
  call.hangs = true;
  work.Observe(CallHangs{.call = call.name, .step = call.step});
}

void LeaveHanging(WorldContext& work, uint32_t place) {
  Call& call = work.CallAt(place);
  ObserveHanging(work, call);
  SetTimeout(
      work, place,
      std::min(call.sent_at + work.scenario.network.connection_timeout, DeadlineOf(work, call)));
}

}  // namespace whorl::sim
