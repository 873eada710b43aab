// Implements the `lock` package of spindle v2.2.0: a blocking Lock and Unlock around a spindle.
//
// Lock starts the loop and asks HasLock every 500 ms until the answer is yes after more than one
// round, or the context ends; Unlock stops the loop and does not change the row. Between the two,
// the user does not learn that the lease was lost: finding W1.
//
// Invariant: one Lock or Unlock at a time, as the original's callers must keep it.
#pragma once

#include <optional>
#include <vector>

#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "protocol/spindle_v2/spindle_v2.h"

namespace whorl::spindle_v2 {

struct LockState {
  State spindle;
  bool locked = false;
  std::optional<StopReason> context_ended;  // why the context of the current Lock ended
  std::optional<AskId> locking;             // the call of Lock that has not returned
  WHORL_FIELDS(LockState, spindle, locked, context_ended, locking);
};

// The wrapper handles Asked{kLock} and Asked{kUnlock}; StopRequested ends the context that was
// given to Lock; Started does nothing; all other questions go to the spindle inside.
void Step(const Config& config, LockState& state, LocalTime now, Entropy& entropy,
          const Event& event, std::vector<Effect>& out);

LeadershipView LeadershipViewOf(const LockState& state);

}  // namespace whorl::spindle_v2
