// An operator who writes to a lock's row, and retries after ABORTED.
#pragma once

#include "sim/world/world_context.h"

namespace whorl::sim {

bool RowExists(const WorldContext& work, const RowOfLock& target);
// Sends the next call of the operator's transaction.
void OnOperatorActs(WorldContext& work, const OperatorActs& acts);
void OnOperatorHears(WorldContext& work, const model::Replied& replied);

}  // namespace whorl::sim
