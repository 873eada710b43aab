// Explores what LockModel explores, but looks a step up in the transition cache before it takes it in a world.
//
// Most states have no world, only components (interned_component.h). If a step is not in the cache, the world of
// the state is made by taking the steps from its nearest predecessor that has a world, and the step is taken there
// by the code that ships.
// Invariants:
//   1. It has the states, fingerprints, transitions and violations of LockModel, which takes every step in
//      a copy of the world; only the order of choices differs.
//   2. A world made for a state has the state's fingerprint, or std::logic_error is thrown.
//   3. One in kKnownToChecked cached steps is also taken in a world, and std::logic_error is thrown if the
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

// The path that produced a state: the last step, and the origin of the state before it. States share origins.
struct StateOrigin {
  HeldBytes held;
  // Null: the world is made by taking the step in the world of `before`.
  std::unique_ptr<const ModelState> model_state;
  std::shared_ptr<const StateOrigin> before;
  ComponentAction action;
  const ComponentTemplate* shape = nullptr;  // of the component that `action` names, if any
  uint32_t steps = 0;                        // since the last origin with a ModelState
};

struct RememberedState {
  Instant now;
  FaultBudget left;
  uint32_t violated = 0;                // by the last step, as bits by Invariant
  std::vector<ViolationSource> shown;   // of these; empty if the model does not distinguish kinds
  bool picks_commit_timestamp = false;  // the last step did
  InternedComponents parts;
  explore::Key128 key;
  // Null until it is needed; then made of the next three fields. Most states were visited before, and most of
  // the others never need it.
  mutable std::shared_ptr<const StateOrigin> state_origin;
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
  // The bytes that the model holds besides its states, roughly.
  size_t OwnBytes() const { return steps_.bytes() + table_.bytes() + origins_.bytes(); }

  // From now on every cached step is also taken in a world (invariant 3).
  void CheckEveryStep() { checks_ = true; }

  // Translates the path to moves of the LockModel.
  explore::Path<Move> MovesOf(const explore::Path<ComponentAction>& path);

  // How many steps were found in the cache.
  uint64_t known_steps() const { return known_steps_; }

 private:
  static constexpr uint64_t kKnownToChecked = 1'024;
  // After this many steps without a kept world, the next one is kept. Copying a world takes the time of some
  // steps, so not every one is.
  static constexpr uint32_t kStepsWithoutWorld = 8;

  void ListMoves(const State& state, std::vector<std::pair<ComponentAction, int>>& moves);
  bool TakeKnown(const State& from, const ComponentAction& action, State& to);
  void TakeInWorld(const State& from, const ComponentAction& action, State& to);
  // Makes the world's parts and their components, in the same order.
  void TakeApart(const ModelState& model_state, TemplateTable::Parts& world,
                 InternedComponents& parts);
  void SetOutside(const ModelState& model_state, State& state) const;
  // Sorts the state's components, and sets its key.
  void Settle(State& state) const;
  const std::shared_ptr<const StateOrigin>& OriginOf(const State& state);
  // The origin of a state whose world is kept.
  std::shared_ptr<const StateOrigin> Keep(std::unique_ptr<const ModelState> model_state);
  const ReadSets& SetsOf(const State& state);
  void SetStep(const State& from, const ComponentAction& action, State& to);
  // Makes the state's world, in made_, and the parts of that world, in parts_of_made_.
  void MakeWorld(const State& state);
  // Translates the action to a move of this world. `shape`: the template of the component that it names, if any.
  // `parts`: the world's parts, sorted; null if they are not known. They are then made if names alone do not
  // identify the event.
  Move MoveIn(const ModelState& model_state, const ComponentAction& action,
              const ComponentTemplate* shape, const TemplateTable::Parts* parts);

  const LockModel& model_;
  bool checks_ = false;
  TemplateTable shapes_;
  NormalTable table_;
  TransitionCache steps_;
  ByteCount origins_;
  ReadSets sets_;  // of the last state from which a step was taken
  std::vector<std::pair<ComponentAction, int>> moves_;  // kept for its allocation
  uint64_t known_steps_ = 0;
  // The last state whose world was made.
  std::shared_ptr<const StateOrigin> made_for_;
  std::optional<ModelState> made_;
  std::optional<ModelState> after_;  // kept for its allocation
  TemplateTable::Parts parts_of_made_;
  InternedComponents normal_of_made_;
  TemplateTable::Parts parts_after_;
};

// Whether steps of the model's worlds can be cached. The clocks of processes have to run at the rate of true
// time: other clocks show fractions of a nanosecond, which no part records. The protocol must not depend on
// absolute time (ProtocolInfo). And where a clock may stand still, it must not read the wall clock, whose error
// then grows from step to step.
bool CanRemember(const LockModel& model);

enum class Steps : uint8_t {
  kTaken,       // in a copy of the world, each of them
  kRemembered,  // taken from the cache, if CanRemember(model)
};

// Explores the model with options.jobs threads.
explore::SearchResult<Move> ExploreLocks(const LockModel& model,
                                         const explore::SearchOptions& options = {},
                                         std::optional<explore::Checkpoint> from = {},
                                         Steps steps = Steps::kRemembered);

}  // namespace whorl::sim
