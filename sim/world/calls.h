// Keeps the table of calls that are under way: who still waits for a call, until when, and when its
// place is free again. `place` is an index into WorldState::calls.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/world/world_context.h"

namespace whorl::sim {

// CallName::call of calls for sessions, which belong to no transaction of a lock. No transaction
// makes that many calls.
inline constexpr uint16_t kSessionCall = 0xFFFF;

// The place of a new call. The caller sets its name, step, request and deadline.
uint32_t AddCall(WorldContext& work);
std::optional<uint32_t> FindCall(const WorldContext& work, const CallName& name);
// The place of the pending event of this kind that is about the call: CallArrives while its request is
// on its way, ReplyArrives while its reply is. Nothing if there is none.
template <typename Event>
std::optional<uint32_t> FindPendingOf(const WorldContext& work, uint32_t call) {
  std::optional<uint32_t> found;
  work.state.pending.ForEach([&](const PendingSlot& slot, uint32_t place) {
    if (slot.call == call && std::holds_alternative<Event>(slot.choice.event)) found = place;
  });
  return found;
}

// The process no longer waits for the call.
void StopWaiting(WorldContext& work, Call& call);
// The same; a message that the network holds back never arrives.
void AbandonCall(WorldContext& work, uint32_t place);
void AbandonCallsOf(WorldContext& work, ProcessId process);
void FreeIfDone(WorldContext& work, uint32_t place);

// --- how long a process waits --------------------------------------------------------------------

Instant DeadlineOf(WorldContext& work, const Call& call);
// Moves the call's timeout forward to `at`, never back.
void SetTimeout(WorldContext& work, uint32_t place, Instant at);
// After the node's clock has begun to run in another way.
void RescheduleTimeouts(WorldContext& work, int16_t node);
// Observes that a fault holds the call back or has lost it, once for each call.
void ObserveHanging(WorldContext& work, Call& call);
// The same, and the call ends when its connection times out.
void LeaveHanging(WorldContext& work, uint32_t place);

}  // namespace whorl::sim
