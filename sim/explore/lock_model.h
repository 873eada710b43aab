// Presents the worlds of a scenario as a model to explore (engine/model.h): the lock protocol that ships, its
// client's retries and its database, with every order of events that can happen at one time.
//
// What is a choice:
//   1. The order of all events that are due: messages, commits that become visible, timers, starts.
//   2. How late a message is, or a commit becomes visible: up to ExploreBounds::delay steps of the
//      grid.
//   3. Whether a fault of the budget strikes, when, and which node; when a pause ends, or a clock that stood still
//      goes on; and when a process that crashed, or was told to stop, starts again.
//   4. Within ExploreBounds::clocks: where in TrueTime's interval each commit timestamp lies, and how
//      far CURRENT_TIMESTAMP is off when a statement reads it: by the bound, either way, or not at all.
//   5. Within the same bounds: at which rate each process's clock runs, one for the whole run.
//   6. At which point of the grid, within ExploreBounds::start_within, each process starts. The choices of 5 and 6
//      are the initial states.
// Random draws of the code under test are no choices: each draw gets the upper end of its range.
//
// Time goes from event to event, and from grid point to grid point while something may be late. A commit that
// has to wait less than a millisecond for TrueTime does so within the same instant, which keeps instants on the
// grid. So a violation is only a candidate: a run in exact time confirms it or does not (counterexample.h).
//
// A commit becomes visible when its timestamp is past, or up to twice epsilon later, since TrueTime can hold
// it back for that time. A read takes the earliest timestamp that TrueTime allows: a later one only leaves
// fewer timestamps for commits. Spanner looks for idle transactions by the clock that is ahead.
//
// States are compared by their canonical form (sim/explore/components/canonical_world.h) and by what the judges
// remember. No state shows that no_wedge is violated: wedge.h looks for a loop of states that does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/explore/bounds.h"
#include "sim/explore/components/model_state.h"
#include "sim/explore/components/normal_form.h"
#include "sim/explore/components/symmetry.h"
#include "sim/explore/engine/key.h"
#include "sim/judge/checkers.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/truetime_spec.h"
#include "sim/world/driver.h"
#include "sim/world/world.h"

namespace whorl::sim {

// One choice.
struct Move {
  MoveKind kind = MoveKind::kAdvance;
  Instant at;
  Choice event;        // kEvent
  uint32_t fault = 0;  // kFault: an index into the menu, which is Scenario::faults
  CallName call;       // kFault: the call that the fault strikes, if it strikes a call
  ClockErrors clocks;  // of Spanner, at the event or fault
  WHORL_FIELDS(Move, kind, at, event, fault, call, clocks);
};

class LockModel {
 public:
  using State = std::optional<ModelState>;  // empty only before something is written to it
  using Choice = Move;

  // `scenario` has the nodes, the locks and their settings; its own faults are left out.
  // `make_config`: null for the protocol's own.
  LockModel(Scenario scenario, const ExploreBounds& bounds, ConfigMaker make_config = nullptr);
  LockModel(const ExploreWorld& world, const ExploreBounds& bounds);

  // One initial state for each choice of the rates of clocks and of the times at which processes start.
  std::vector<State> Initial() const;
  // From now on, the initial states are those after these moves (prefix.h).
  void BeginAfter(std::vector<Move> prefix) { prefix_ = std::move(prefix); }
  const std::vector<Move>& prefix() const { return prefix_; }
  // The initial states without the prefix.
  std::vector<State> RootStates() const;
  template <typename Visit>
  void ForEachChoice(const State& state, const Visit& visit) const {
    thread_local std::vector<std::pair<Move, int>> moves;
    moves.clear();
    ListMoves(state, moves);
    // Visiting may list moves of another state.
    for (const auto& [move, faults] : std::vector(moves)) visit(move, faults);
  }
  bool Take(const State& from, const Move& move, State& to) const;
  // Takes the move: `state` becomes its successor.
  Stepped Step(ModelState& state, const Move& move) const;
  explore::Key128 Fingerprint(const State& state) const { return FormOf(*state, memory_); }
  // The state's fingerprint with another memory, or with tokens compared in another way; for tests.
  explore::Key128 FormOf(const ModelState& state, Duration memory,
                         TokensAre tokens = TokensAre::kAsTheProtocolSays) const;
  uint32_t Judge(const State& state) const { return state->violated; }
  // Violations are of one kind if the same step, or an event of the same kind, showed them, after
  // faults of the same kinds. REQUIRES: TellKindsApart() was called.
  uint64_t Kind(const State& state, int property) const;
  // From now on, only the invariants that have a bit here are judged, and states that differ only in what the other
  // invariants need are the same.
  void SelectInvariants(uint32_t invariants) { judged_ = invariants; }
  // From now on, states whose violations have different sources are different.
  void TellKindsApart() { tells_kinds_ = true; }
  static uint64_t KindOf(std::span<const ViolationSource> shown, const FaultBudget& left,
                         int property);
  // What the state holds on the heap, roughly: large blocks are counted, small ones estimated.
  size_t BytesOf(const State& state) const { return BytesOf(*state); }
  static size_t BytesOf(const ModelState& model_state);

  // The scenario, whose faults are the menu. They strike only when a move says so.
  const Scenario& scenario() const { return setups_.front()->scenario; }

  // What belongs to a state besides its world and judges.
  struct NonWorldState {
    Instant now;
    FaultBudget left;
    uint32_t violated = 0;
    std::span<const ViolationSource> shown = {};
  };
  // `parts`: the digest that NormalForm makes of the state's parts.
  explore::Key128 KeyOf(const Digest128& parts, const NonWorldState& outside) const;
  // Instants longer ago than this are long ago.
  Duration memory() const { return memory_; }

  // The errors of Spanner's clocks that have this number. 0: no errors. `looks`: SpannerLooksAgain reads the
  // clocks.
  ClockErrors ErrorsOf(uint8_t clocks, bool looks) const;
  // Replaces each move at which Spanner may read a clock by several moves, one for each combination of clock
  // errors that leads to another state. `event_of(move)`: the event of a kEvent. `attempt(move, clocks)` sets the
  // move's errors by their number, takes the move, and returns the key of the successor and whether a commit
  // timestamp was picked.
  template <typename AnyMove, typename EventOf, typename Attempt>
  void AddErrors(std::vector<std::pair<AnyMove, int>>& moves, const EventOf& event_of,
                 const Attempt& attempt) const;

  const ExploreBounds& bounds() const { return bounds_; }
  // Null: no symmetry; each state represents itself.
  const Symmetry* symmetry() const { return symmetry_ ? &*symmetry_ : nullptr; }
  ConfigMaker config_maker() const { return make_config_; }  // null for the protocol's own

 private:
  void ListMoves(const State& state, std::vector<std::pair<Move, int>>& moves) const;
  // Whether Spanner may read a clock at an event, or when a fault of the menu strikes.
  static bool IsAtSpanner(const PendingEvent& event);
  bool IsAtSpanner(uint32_t fault) const;
  // Calls attempt(clocks) for each combination of clock errors, and visit() after each that makes a difference.
  template <typename Attempt, typename Visit>
  void ForEachError(const Attempt& attempt, const Visit& visit) const;

  // The clock of CURRENT_TIMESTAMP is exact, behind or ahead, at each place in TrueTime's interval.
  static constexpr uint8_t kErrorsOfCurrentTimestamp = 3;
  static constexpr uint8_t kErrors = 3 * kErrorsOfCurrentTimestamp;

  ExploreBounds bounds_;
  ConfigMaker make_config_;
  bool tells_kinds_ = false;
  uint32_t judged_ = ~uint32_t{0};
  std::vector<Move> prefix_;
  Duration memory_;
  std::optional<Symmetry> symmetry_;
  // One setup for each initial state; they differ in the rates of clocks. In the first, all clocks are exact.
  std::vector<std::shared_ptr<const WorldSetup>> setups_;
};

template <typename Attempt, typename Visit>
void LockModel::ForEachError(const Attempt& attempt, const Visit& visit) const {
  std::vector<explore::Key128> known;
  bool picks = false;
  for (uint8_t error = 0; error < kErrors; ++error) {
    const bool is_usual = error < kErrorsOfCurrentTimestamp;
    if (!is_usual && (!picks || bounds_.clocks.truetime == Duration{})) break;
    const bool reads_exactly = error % kErrorsOfCurrentTimestamp == 0;
    if (!reads_exactly && bounds_.clocks.current_timestamp == Duration{}) continue;
    const auto clocks = static_cast<uint8_t>(error + 1);
    const auto [key, picked] = attempt(clocks);
    if (known.empty()) picks = picked;
    if (picked != picks || std::ranges::count(known, key) > 0) continue;
    known.push_back(key);
    visit();
  }
}

template <typename AnyMove, typename EventOf, typename Attempt>
void LockModel::AddErrors(std::vector<std::pair<AnyMove, int>>& moves, const EventOf& event_of,
                          const Attempt& attempt) const {
  if (!bounds_.clocks.AreOfSpanner()) return;
  for (auto& [move, faults] : std::exchange(moves, {})) {
    const bool at_spanner = (move.kind == MoveKind::kFault && IsAtSpanner(move.fault)) ||
                            (move.kind == MoveKind::kEvent && IsAtSpanner(event_of(move)));
    const auto add = [&] { moves.emplace_back(move, faults); };
    if (at_spanner) {
      ForEachError([&](uint8_t clocks) { return attempt(move, clocks); }, add);
    } else {
      add();
    }
  }
}

}  // namespace whorl::sim
