#include "sim/explore/wedge.h"

#include <algorithm>
#include <cstdint>

#include "sim/judge/ledger.h"

namespace whorl::sim {
namespace {

constexpr uint32_t kTimePasses = 1;  // the only class of fairness

// Not Disturbances::IsQuiet, which also counts transactions that hung before and have gone on since: a state
// does not say that of itself.
bool IsQuiet(const World& world) {
  const WorldState& state = world.state();
  const auto is_paused = [](const Node& node) { return node.pauses > 0; };
  const auto hangs = [](const CallSlot& slot) {
    return slot.is_taken() && slot.call().hangs && slot.call().awaited;
  };
  return std::ranges::none_of(state.nodes, is_paused) && std::ranges::none_of(state.calls, hangs);
}

// Whether nobody holds the lock, and a process could take it.
bool LacksAHolder(const Situation& situation, uint16_t lock) {
  const Ledger& ledger = situation.checkers.ledger();
  return ledger.AnsweredCount(lock) == 0 && ledger.CandidateCount(lock) > 0;
}

}  // namespace

explore::LassoResult<Move> FindWedge(const LockModel& model, uint16_t lock,
                                     const explore::SearchOptions& options) {
  const auto is_bad = [lock](const LockModel::State& state) {
    return IsQuiet(state->world) && LacksAHolder(*state, lock);
  };
  const auto fairness = [](const Move& move) -> uint32_t {
    return move.kind == MoveKind::kAdvance ? kTimePasses : 0;
  };
  return explore::FindLasso(model, is_bad, fairness, kTimePasses, options);
}

}  // namespace whorl::sim
