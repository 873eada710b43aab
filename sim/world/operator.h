// An operator who writes to a lock's row, and retries after ABORTED.
#pragma once

#include "sim/world/world_work.h"

namespace whorl::sim {

bool RowExists(const Work& work, const RowOfLock& target);
// Sends the next call of the operator's transaction.
void OnOperatorActs(Work& work, const OperatorActs& acts);
void OnOperatorHears(Work& work, const model::Replied& replied);

}  // namespace whorl::sim
