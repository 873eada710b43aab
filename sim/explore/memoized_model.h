// Does what LockModel does, but looks a step up in the transition cache before it takes it in a world.
//
// Most states have no world, only components (interned_component.h). If a step is not in the cache, the world of
// the state is made by taking the steps from its nearest predecessor that has a world, and the step is taken there
// by the code that ships.
// Invariants:
//   1. It has the states, fingerprints, transitions and violations of LockModel, which takes every step in
//      a copy of the world; only the order of choices differs.
//   2. A world made for a state has the state's fingerprint, or std::logic_error is thrown.
//   3. One in kKnownToChecked cached steps is taken in a world nevertheless, and std::logic_error is thrown if the
//      result differs.
// REQUIRES: CanRemember(model). One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/explore/components/component_template.h"
#include "sim/explore/components/interned_component.h"
#include "sim/explore/components/transition_cache.h"
#include "sim/explore/engine/key.h"
#include "sim/explore/engine/path.h"
#include "sim/explore/engine/record.h"
#include "sim/explore/engine/result.h"
#include "sim/explore/held_bytes.h"
#include "sim/explore/lock_model.h"

namespace whorl::sim {

// The path that produced a state. States share the paths that they have in common.
struct StateOrigin {
  HeldBytes held;
  std::unique_ptr<const ModelState>
      model_state;  // null: its world is made by the step that led to it
  std::shared_ptr<const StateOrigin> before;
  ComponentAction action;
  const ComponentTemplate* shape = nullptr;  // of the step's part, if it has one
  uint32_t steps = 0;                        // since the last one with a ModelState
};

struct RememberedState {
  Instant now;
  FaultBudget left;
  uint32_t violated = 0;                // by the last step, as bits by Invariant
  std::vector<ViolationSource> shown;   // if kinds are told apart: by the last step
  bool picks_commit_timestamp = false;  // the last step did
  InternedComponents parts;
  explore::Key128 key;
  // Made only when needed: most states were visited before, and most of the others never need it.
  mutable std::shared_ptr<const StateOrigin> state_origin;  // null: as the next three say
  std::shared_ptr<const StateOrigin> before;
  ComponentAction action;
  const ComponentTemplate* shape = nullptr;
};

class MemoizedModel {
 public:
  using State = RememberedState;
  using Choice = ComponentAction;

  // REQUIRES: `model` outlives it, it outlives its states, and CanRemember(model).
  explicit MemoizedModel(const LockModel& model);

  std::vector<State> Initial();
  template <typename Visit>
  void ForEachChoice(const State& state, const Visit& visit) {
    // Visiting may list moves of another state.
    std::vector<std::pair<ComponentAction, int>> moves = std::exchange(moves_, {});
    ListMoves(state, moves);
    for (const auto& [action, faults] : moves) visit(action, faults);
    moves_ = std::move(moves);
  }
  bool Take(const State& from, const ComponentAction& action, State& to);
  explore::Key128 Fingerprint(const State& state) const { return state.key; }
  uint32_t Judge(const State& state) const { return state.violated; }
  uint64_t Kind(const State& state, int property) const {
    return LockModel::KindOf(state.shown, state.left, property);
  }
  size_t BytesOf(const State& state) const {
    return state.parts.capacity() * sizeof(const InternedComponent*);
  }
  // What it holds besides, roughly.
  size_t OwnBytes() const { return steps_.bytes() + table_.bytes() + origins_.bytes(); }

  // From now on all of them are.
  void CheckEveryStep() { checks_ = true; }

  // The path as moves of the LockModel.
  explore::Path<Move> MovesOf(const explore::Path<ComponentAction>& path);

  // How many steps were known.
  uint64_t known_steps() const { return known_steps_; }

 private:
  static constexpr uint64_t kKnownToChecked = 1'024;
  // Then the next world is kept: a copy of it takes the time of some steps.
  static constexpr uint32_t kStepsWithoutWorld = 8;

  void ListMoves(const State& state, std::vector<std::pair<ComponentAction, int>>& moves);
  bool TakeKnown(const State& from, const ComponentAction& action, State& to);
  void TakeInWorld(const State& from, const ComponentAction& action, State& to);
  // The world's parts and their components, in one order.
  void TakeApart(const ModelState& model_state, TemplateTable::Parts& world,
                 InternedComponents& parts);
  void SetOutside(const ModelState& model_state, State& state) const;
  // Sorts its parts, and sets its key.
  void Settle(State& state) const;
  const std::shared_ptr<const StateOrigin>& OriginOf(const State& state);
  // Of a state whose world is kept.
  std::shared_ptr<const StateOrigin> Keep(std::unique_ptr<const ModelState> model_state);
  const ReadSets& SetsOf(const State& state);
  void SetStep(const State& from, const ComponentAction& action, State& to);
  // A state's world, in made_, and the parts that were taken from it, in parts_of_made_.
  void MakeWorld(const State& state);
  // The move in this world. `shape`: of its part, if it has one. `parts`: the world's, sorted; null if they are not
  // known, and then they are made if the part's names alone do not tell which event it is.
  Move MoveIn(const ModelState& model_state, const ComponentAction& action,
              const ComponentTemplate* shape, const TemplateTable::Parts* parts);

  const LockModel& model_;
  bool checks_ = false;
  TemplateTable shapes_;
  NormalTable table_;
  TransitionCache steps_;
  ByteCount origins_;
  ReadSets sets_;  // of the last state of which a step was taken
  std::vector<std::pair<ComponentAction, int>> moves_;  // kept for its memory
  uint64_t known_steps_ = 0;
  // The last state whose world was made.
  std::shared_ptr<const StateOrigin> made_for_;
  std::optional<ModelState> made_;
  std::optional<ModelState> after_;  // kept for its memory
  TemplateTable::Parts parts_of_made_;
  InternedComponents normal_of_made_;
  TemplateTable::Parts parts_after_;
};

// Whether steps of the model's worlds can be remembered: clocks of processes run at the rate of true time, or
// what they show would have a fraction of a nanosecond that no part tells, and the protocol does not depend on
// absolute time (ProtocolInfo).
bool CanRemember(const LockModel& model);

enum class Steps : uint8_t {
  kTaken,       // in a copy of the world, each of them
  kRemembered,  // where that can be done
};

// Explores the model with options.jobs threads.
explore::SearchResult<Move> ExploreLocks(const LockModel& model,
                                         const explore::SearchOptions& options = {},
                                         std::optional<explore::Checkpoint> from = {},
                                         Steps steps = Steps::kRemembered);

}  // namespace whorl::sim
