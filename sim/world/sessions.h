// The sessions of a process that may lose one to a fault: the pool of the real client, whose calls
// go through the simulated network.
#pragma once

#include <cstdint>

#include "sim/world/world_context.h"

namespace whorl::sim {

// The process's first session exists when it starts, as the permanent session of other processes
// does, so a scenario runs the same way until the fault strikes.
void MakeSessions(WorldContext& work, int16_t node);
// Gets a session for a transaction that has none or has lost it, and answers by OnSessionGranted or
// OnSessionRefused (transactions.h).
void RequestSession(WorldContext& work, int16_t node, Participant& participant,
                    const ActiveRunner& runner);
// A transaction has ended because its session was lost.
void OnSessionLost(WorldContext& work, int16_t node, const SessionName& name);
void OnSessionReply(WorldContext& work, int16_t node, const Response& response);
void OnSessionsTimer(WorldContext& work, int16_t node);

// --- the fault that takes a session away ---------------------------------------------------------

// The session that the node's process uses and Spanner knows; null if there is none at present.
const SessionName* SessionOfNode(WorldContext& work, int16_t node);
// REQUIRES: there is such a session.
void LoseSession(WorldContext& work, int16_t node);

}  // namespace whorl::sim
