// The phase of a step that an observation shows to be reached: what `when` faults wait for, waypoints name,
// and kinds of steps are made of.
//
// Invariant: an observation reaches one phase at most. `replied` is none of them: a fault that waits for it
// strikes before the reply is heard (Driver::StrikesBefore), and who looks back sees it in `ended`.
#pragma once

#include <cstdint>
#include <optional>

#include "protocol/names.h"
#include "protocol/protocols.h"
#include "protocol/spanner/rpc.h"
#include "sim/world/observation.h"

namespace whorl::sim {

struct ReachedPhase {
  CallName call;  // of a transaction, a write or a question: its process and lock alone
  StepName step;
  Phase phase = Phase::kSent;
  // The code or the outcome that it comes with; of a write, whether it was accepted; of a question, whether
  // the answer was yes.
  uint8_t told = 0;

  // Whether the step has come so far: one that has ended has been replied to.
  bool Is(StepName wanted_step, Phase wanted) const {
    return step == wanted_step &&
           (phase == wanted || (wanted == Phase::kReplied && phase == Phase::kEnded));
  }
};

std::optional<ReachedPhase> PhaseReachedBy(const ObservedEvent& what, const ProtocolInfo& protocol);

}  // namespace whorl::sim
