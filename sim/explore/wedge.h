// Judges no_wedge over every run of a model: is there a run in which, from some time on, no process ever takes the
// lock again although a process that could is up, connected and never disturbed?
//
// Such a run is, for one of the locks, a path to a state (the stem) and a path from there back to it (the loop), in
// which time passes. In the loop no fault strikes, no process is paused, no call hangs, and no process holds the
// lock. Fairness needs no further condition: an event that is due happens before time passes (lock_model.h).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/explore/engine/lasso.h"
#include "sim/explore/lock_model.h"

namespace whorl::sim {

// Finds such a run by explore::FindLasso; the respect of a lasso is the lock. Throws explore::BadCheckpoint.
// REQUIRES: the model has no horizon (with one there is no loop); at most explore::kFirstRespect locks.
explore::LassoResult<Move> FindWedge(const LockModel& model, const explore::SearchOptions& options,
                                     explore::SaveLasso save = {},
                                     std::optional<explore::Checkpoint> from = {});

}  // namespace whorl::sim
