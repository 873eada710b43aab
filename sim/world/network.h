// The network between processes and Spanner: requests, replies, and what becomes of them on the way.
//
// A black hole holds messages back, as TCP does: they arrive when it ends. If the connection times
// out before, the call ends UNAVAILABLE and the message is lost.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/scenario/direction.h"
#include "sim/world/world_context.h"

namespace whorl::sim {

// Sends the call in this place, whose name, step, request and deadline are set.
void SendToSpanner(WorldContext& work, uint32_t place);
// Sends a reply from Spanner to the process that waits for it, after `service` at Spanner.
void SendReply(WorldContext& work, uint32_t place, Response&& response, Duration service);
// Sends the messages on that black holes have held back.
void ReleaseHeld(WorldContext& work, int16_t node, bool requests, bool replies);

// The pending event of the call's request or reply, if it is on its way and goes in that direction.
// Nothing for one that is held back, or that no longer comes from Spanner.
std::optional<uint32_t> FindMessageOnItsWay(const WorldContext& work, uint32_t call,
                                            Direction direction);
// Delays it by what the latency fault adds. REQUIRES: it is on its way in the fault's direction.
void DelayMessageOf(WorldContext& work, uint32_t call, uint32_t fault);
// The event happens so much later. REQUIRES: it is in the queue.
void Postpone(WorldContext& work, uint32_t event, Duration by);

void OnCallArrives(WorldContext& work, uint32_t place);
void OnReplyArrives(WorldContext& work, uint32_t place, const ReplyArrives& reply);
void OnCallTimesOut(WorldContext& work, uint32_t place);

}  // namespace whorl::sim
