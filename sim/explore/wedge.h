// no_wedge over every run of a model: whether there is one in which, from some time on, nobody can ever
// take the lock again although a process that could is up, connected and never disturbed.
//
// Such a run is, for one of the locks, a way to a state (the stem) and a way from there back to it (the loop),
// in which time passes. No fault strikes in the loop, no process is paused, no call hangs, and nobody holds the lock.
// That everybody gets a turn needs no further condition: what is due has to happen before time passes
// (lock_model.h).
#pragma once

#include <cstdint>
#include <optional>

#include "sim/explore/engine/lasso.h"
#include "sim/explore/lock_model.h"

namespace whorl::sim {

// As explore::FindLasso; the respect of a lasso is the lock. Throws explore::BadCheckpoint.
// REQUIRES: the model has no horizon, or there is no loop to be found; at most explore::kFirstRespect locks.
explore::LassoResult<Move> FindWedge(const LockModel& model, const explore::SearchOptions& options,
                                     explore::SaveLasso save = {},
                                     std::optional<explore::Checkpoint> from = {});

}  // namespace whorl::sim
