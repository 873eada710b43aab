// The transactions that a protocol's machine runs. Each is a TransactionRunner, the client library's
// own code, which runs inside its process; its calls go through the simulated network.
#pragma once

#include <cstdint>

#include "sim/world/world_context.h"

namespace whorl::sim {

void StartTransaction(WorldContext& work, int16_t node, Participant& participant,
                      RunTransaction&& run);
// The transaction's caller no longer wants it. Messages that were sent stay on their way, and their
// replies are ignored. A transaction that waits for a session still gets it.
void GiveUpTransaction(WorldContext& work, int16_t node, Participant& participant,
                       RequestId request);

void OnBackoffOver(WorldContext& work, int16_t node, Participant& participant, RequestId request);
void OnSessionGranted(WorldContext& work, int16_t node, Participant& participant, RequestId request,
                      const Session& session);
void OnSessionRefused(WorldContext& work, int16_t node, Participant& participant, RequestId request,
                      const Status& status);
// Passes the response to the transaction or to the session pool that sent the call.
void OnCallEnded(WorldContext& work, const CallName& name, Response&& response);

}  // namespace whorl::sim
