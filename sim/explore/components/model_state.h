// Defines the state of the model (lock_model.h), and adds the parts of its canonical form: those of the world and
// of what the judges remember.
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
  std::vector<ViolationSource> shown;  // of these; empty if the model does not distinguish kinds
};

// Facts of a move that was taken.
struct Stepped {
  bool concerns_judges = false;         // something was observed that concerns the judges
  bool picks_commit_timestamp = false;  // set only if Spanner's clocks may be off
};

// Clears the form, and adds the parts that distinguish states: those of the world, and the part of the judges' memory
// that does not follow from the world. Parts and their order do not depend on how the form renames nodes.
void AddParts(const ModelState& state, CanonicalForm& form,
              TokensAre tokens = TokensAre::kAsTheProtocolSays);
// Adds the part kLedger: the part of the judges' memory that follows from the world.
void AddLedger(const ModelState& state, CanonicalForm& form);

}  // namespace whorl::sim
