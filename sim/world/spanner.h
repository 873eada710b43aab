// Spanner's side: the calls that it serves, and commits that become visible.
#pragma once

#include <cstdint>

#include "sim/world/world_context.h"

namespace whorl::sim {

// Serves the call in this place, or answers as an active fault says.
void ServeCall(WorldContext& work, uint32_t place);
// Serves the request of an operator or a fault, with no network in between.
void ServeAtOnce(WorldContext& work, const CallName& name, const Request& request);

void OnCommitVisible(WorldContext& work, const CommitBecomesVisible& visible);
void OnSpannerLooksAgain(WorldContext& work);

}  // namespace whorl::sim
