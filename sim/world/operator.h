// An operator who deletes a lock's row, and retries after ABORTED.
#pragma once

#include "sim/world/world_work.h"

namespace whorl::sim {

bool RowExists(const Work& work, const RowOfLock& target);
// Runs the operator's transaction.
void DeleteRow(Work& work, const OperatorDeletes& deletes);
void OnOperatorHears(Work& work, const model::Replied& replied);

}  // namespace whorl::sim
