// Processes: they start, pause, stop and are gone, and timers and announcements reach them.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/world/world_context.h"

namespace whorl::sim {

// Starts a process on the node, unless one runs. Then `fault` is over.
void StartNode(WorldContext& work, int16_t node, std::optional<uint32_t> fault);
// The process loses all that it knew; what it sent stays on its way.
void RemoveProcess(WorldContext& work, int16_t node, bool crashed);
// Asks the process to stop.
void StopNode(WorldContext& work, int16_t node);
// Pauses count: a process runs when each of them is over.
void PauseNode(WorldContext& work, int16_t node);
void ResumeNode(WorldContext& work, int16_t node);

void OnTimer(WorldContext& work, const TimerDue& due);
void OnReleaseHeard(WorldContext& work, int16_t node, const ReleaseHeard& heard);

}  // namespace whorl::sim
