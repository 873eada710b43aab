// The state of the model (lock_model.h) and the parts of its canonical form: those of the world, and what the
// judges remember.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/explore/bounds.h"
#include "sim/explore/components/canonical_form.h"
#include "sim/explore/components/canonical_world.h"
#include "sim/judge/checkers.h"
#include "sim/world/world.h"

namespace whorl::sim {

enum class MoveKind : uint8_t {
  kEvent,    // a pending event happens now
  kAdvance,  // time goes on to `at`
  kFault,    // a fault strikes now
};

// The step, or the kind of event, that showed a violation.
struct ViolationSource {
  uint8_t invariant = 0;
  uint64_t where = 0;
  WHORL_FIELDS(ViolationSource, invariant, where);
};

struct ModelState {
  World world;
  Checkers checkers;
  FaultBudget left;
  uint32_t violated = 0;               // by the last move, as bits by Invariant
  std::vector<ViolationSource> shown;  // if kinds are told apart: by the last move
};

// What is said of a move that was taken.
struct Stepped {
  bool concerns_judges = false;         // anything was observed that does
  bool picks_commit_timestamp = false;  // told if Spanner's clocks may be off
};

// Adds the parts that tell states apart: those of the world, and what later verdicts depend on and the world does
// not show. The same parts in the same order, however the form names nodes. Clears the form.
void AddParts(const ModelState& state, CanonicalForm& form,
              TokensAre tokens = TokensAre::kAsTheProtocolSays);
// Adds the part kLedger: what verdicts depend on and the world does show.
void AddLedger(const ModelState& state, CanonicalForm& form);

}  // namespace whorl::sim
