#include "sim/explore/wedge.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sim/judge/ledger.h"

namespace whorl::sim {
namespace {

constexpr uint32_t kTimePasses = 1;  // the only class of fairness

// Whether no process is paused and no call hangs. Disturbances::IsQuiet also counts transactions that hung
// before and have gone on since, which a state does not record.
bool IsQuiet(const World& world) {
  const WorldState& state = world.state();
  const auto is_paused = [](const Node& node) { return node.pauses > 0; };
  const auto hangs = [](const CallSlot& slot) {
    return slot.is_taken() && slot.call().hangs && slot.call().awaited;
  };
  return std::ranges::none_of(state.nodes, is_paused) && std::ranges::none_of(state.calls, hangs);
}

// Whether no process holds the lock, and a process could take it.
bool LacksAHolder(const ModelState& model_state, uint16_t lock) {
  const Ledger& ledger = model_state.checkers.ledger();
  return ledger.AnsweredCount(lock) == 0 && ledger.CandidateCount(lock) > 0;
}

}  // namespace

explore::LassoResult<Move> FindWedge(const LockModel& model, const explore::SearchOptions& options,
                                     explore::SaveLasso save,
                                     std::optional<explore::Checkpoint> from) {
  const auto locks = static_cast<uint16_t>(model.scenario().locks.size());
  const auto bad = [locks](const LockModel::State& state) -> uint32_t {
    if (!IsQuiet(state->world)) return 0;
    uint32_t lacking = 0;
    for (uint16_t lock = 0; lock < locks; ++lock) {
      if (LacksAHolder(*state, lock)) lacking |= 1U << lock;
    }
    return lacking;
  };
  const auto fairness = [](const Move& move) -> uint32_t {
    return move.kind == MoveKind::kAdvance ? kTimePasses : 0;
  };
  return explore::FindLasso(model, bad, fairness, kTimePasses, options, std::move(save),
                            std::move(from));
}

}  // namespace whorl::sim
