#include "sim/explore/lock_model.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "protocol/protocols.h"
#include "sim/explore/components/canonical_world.h"
#include "sim/explore/menu.h"
#include "sim/explore/move_lister.h"
#include "sim/world/chance.h"
#include "sim/world/fault_effects.h"
#include "sim/world/latency.h"

namespace whorl::sim {
namespace {

// --- what can happen -----------------------------------------------------------------------------

// MoveLister's view of a world.
class WorldView {
 public:
  WorldView(const ModelState& state, std::vector<std::pair<Move, int>>& moves)
      : state_(state), world_(state.world), moves_(moves) {}

  Instant now() const { return world_.now(); }
  const FaultBudget& left() const { return state_.left; }

  template <typename Visit>
  void ForEachEvent(const Visit& visit) const {
    world_.state().pending.ForEach([&](const PendingSlot& slot, uint32_t) {
      if (!CanHappen(slot) || world_.IsHeldUp(slot)) return;
      visit(slot, EventFacts(slot.choice.event), slot.due);
    });
  }
  template <typename Visit>
  void ForEachNode(const Visit& visit) const {
    int16_t index = 0;
    for (const Node& node : world_.state().nodes) {
      visit(NodeFacts{.node = index++,
                      .life = node.life,
                      .incarnation = node.incarnation,
                      .is_paused = node.pauses > 0});
    }
  }
  template <typename Visit>
  void ForEachDeletion(const Visit& visit) const {
    for (const uint32_t fault : DeletionsIn(world_)) {
      if (!OperatorIsAtWork(world_, fault)) visit(fault);
    }
  }
  MessageFacts MessageOf(const PendingSlot& slot) const {
    const Call& call = CallOf(slot);
    return {
        .node = call.name.process.node, .is_awaited = call.awaited, .may_abort = MayAbort(call)};
  }

  void AddEvent(const PendingSlot& slot) {
    moves_.emplace_back(Move{.kind = MoveKind::kEvent, .at = now(), .event = slot.choice}, 0);
  }
  void AddAdvance(Instant to) { moves_.emplace_back(Move{.at = to}, 0); }
  void AddFault(uint32_t fault, int faults) {
    moves_.emplace_back(Move{.kind = MoveKind::kFault, .at = now(), .fault = fault}, faults);
  }
  void AddFaultOf(const PendingSlot& slot, uint32_t fault) {
    moves_.emplace_back(
        Move{.kind = MoveKind::kFault, .at = now(), .fault = fault, .call = CallOf(slot).name}, 1);
  }

 private:
  const Call& CallOf(const PendingSlot& slot) const {
    return world_.state().calls[slot.call].call();
  }

  const ModelState& state_;
  const World& world_;
  std::vector<std::pair<Move, int>>& moves_;
};

Outbox& ScratchOutbox() {
  thread_local Outbox out;
  return out;
}

// --- clocks --------------------------------------------------------------------------------------

// The scenario once for each combination of exact, fast and slow clocks. REQUIRES: SlowRate(fast_ppm).
std::vector<Scenario> WithEachRate(const Scenario& scenario, int64_t fast_ppm) {
  std::vector<Scenario> all = {scenario};
  if (fast_ppm == 0) return all;
  for (size_t node = 0; node < scenario.nodes.size(); ++node) {
    const size_t count = all.size();
    for (const int64_t rate : {fast_ppm, *SlowRate(fast_ppm)}) {
      for (size_t i = 0; i < count; ++i) {
        all.push_back(all[i]);
        all.back().nodes[node].clock.rate_ppm = rate;
      }
    }
  }
  return all;
}

// The scenario once for each way in which its processes can start at points of the grid. Some process always starts
// at the beginning, since other runs are the same runs later.
std::vector<Scenario> WithEachStart(const Scenario& scenario, const ExploreBounds& bounds) {
  std::vector<Scenario> all = {scenario};
  if (bounds.start_within == Duration{}) return all;
  for (size_t node = 0; node < scenario.nodes.size(); ++node) {
    const size_t count = all.size();
    for (Duration at = bounds.grid; at <= bounds.start_within; at += bounds.grid) {
      for (size_t i = 0; i < count; ++i) {
        all.push_back(all[i]);
        all.back().nodes[node].start_at = Instant{at.ns};
      }
    }
  }
  std::erase_if(all, [](const Scenario& each) {
    return std::ranges::none_of(each.nodes,
                                [](const NodeSpec& node) { return node.start_at == Instant{}; });
  });
  return all;
}

// Whether a commit timestamp was picked since `out` was cleared.
bool PicksCommitTimestamp(const Outbox& out) {
  return std::ranges::any_of(out.database_effects, [](const model::DatabaseEffect& effect) {
    return std::holds_alternative<model::CommitStarted>(effect);
  });
}

// The step of the observation, or its event if it belongs to no step.
uint64_t WhereOf(const Observation& observation) {
  return std::visit(
      [&](const auto& what) -> uint64_t {
        if constexpr (requires { what.step; }) return what.step.key();
        constexpr uint64_t kNoStep = uint64_t{1} << 32;  // no step has such a key
        return kNoStep + observation.what.index();
      },
      observation.what);
}

void TellJudges(ModelState& state, const Outbox& out, bool tells_kinds) {
  constexpr uint32_t kJudged = ~kJudgedOfRuns;
  state.violated = 0;
  state.shown.clear();
  for (const Observation& observation : out.observed) {
    state.checkers.Observe(observation);
    if (!tells_kinds) continue;
    const uint32_t violated = state.checkers.TakeViolated() & kJudged & ~state.violated;
    state.violated |= violated;
    for (uint8_t i = 0; i < kCountOf<Invariant>; ++i) {
      if ((violated >> i & 1U) == 0) continue;
      state.shown.push_back({.invariant = i, .where = WhereOf(observation)});
    }
  }
  state.violated |= state.checkers.TakeViolated() & kJudged;
}

}  // namespace

LockModel::LockModel(Scenario scenario, const ExploreBounds& bounds, ConfigMaker make_config)
    : bounds_(bounds), make_config_(make_config) {
  scenario.schedule.clear();
  scenario.branches.clear();
  WriteMenu(scenario, bounds);
  memory_ = MemoryOf(scenario, bounds);
  if (bounds.symmetry) symmetry_ = Symmetry::Of(scenario, bounds, *FindProtocol(scenario.protocol));
  for (const Scenario& each : WithEachRate(scenario, bounds.clocks.rate_ppm)) {
    for (const Scenario& started : WithEachStart(each, bounds)) {
      setups_.push_back(MakeSetup(started, make_config));
    }
  }
}

LockModel::LockModel(const ExploreWorld& world, const ExploreBounds& bounds)
    : LockModel(ScenarioToExplore(world, bounds), bounds) {}

std::vector<LockModel::State> LockModel::Initial() const {
  std::vector<State> states = RootStates();
  for (State& state : states) {
    for (const Move& move : prefix_) Step(*state, move);
  }
  return states;
}

std::vector<LockModel::State> LockModel::RootStates() const {
  Outbox& out = ScratchOutbox();
  std::vector<State> states;
  for (const std::shared_ptr<const WorldSetup>& setup : setups_) {
    ModelState state{.world = World(setup, out),
                     .checkers = Checkers(setup->scenario, RoundTripP999(Preset::kNone)),
                     .left = bounds_.faults};
    state.checkers.SelectInvariants(judged_);
    TellJudges(state, out, tells_kinds_);
    states.emplace_back(std::move(state));
  }
  return states;
}

void LockModel::ListMoves(const State& state, std::vector<std::pair<Move, int>>& moves) const {
  WorldView view(*state, moves);
  MoveLister(view, bounds_).List();
  State to;
  AddErrors(
      moves, [](const Move& move) -> const PendingEvent& { return move.event.event; },
      [&](Move& move, uint8_t clocks) {
        to = state;
        move.clocks = ErrorsOf(clocks, std::holds_alternative<SpannerLooksAgain>(move.event.event));
        const Stepped stepped = Step(*to, move);
        return std::pair(Fingerprint(to), stepped.picks_commit_timestamp);
      });
}

bool LockModel::IsAtSpanner(const PendingEvent& event) {
  return std::holds_alternative<CallArrives>(event) ||
         std::holds_alternative<CommitBecomesVisible>(event) ||
         std::holds_alternative<SpannerLooksAgain>(event) ||
         std::holds_alternative<OperatorActs>(event);
}

bool LockModel::IsAtSpanner(uint32_t fault) const {
  return TargetOf(scenario().faults[fault].what) != nullptr;
}

ClockErrors LockModel::ErrorsOf(uint8_t clocks, bool looks) const {
  if (clocks == 0) return {};
  const uint8_t error = clocks - 1;
  const Duration usual = looks ? bounds_.clocks.truetime : -bounds_.clocks.truetime;
  const Duration most = bounds_.clocks.current_timestamp;
  const Duration of_truetime[] = {usual, Duration{}, -usual};
  const Duration of_current_timestamp[] = {Duration{}, -most, most};
  return {.truetime = of_truetime[error / kErrorsOfCurrentTimestamp],
          .current_timestamp = of_current_timestamp[error % kErrorsOfCurrentTimestamp]};
}

bool LockModel::Take(const State& from, const Move& move, State& to) const {
  to = from;
  Step(*to, move);
  return true;
}

Stepped LockModel::Step(ModelState& state, const Move& move) const {
  Outbox& out = ScratchOutbox();
  out.observed.clear();
  out.database_effects.clear();
  FixedChance chance(move.clocks);
  switch (move.kind) {
    case MoveKind::kAdvance:
      state.world.AdvanceTo(move.at);
      break;
    case MoveKind::kEvent:
      state.world.TakeEarly(move.event, chance, out);
      break;
    case MoveKind::kFault:
      state.world.TakeEarly(state.world.Trigger(move.fault, move.call), chance, out);
      Spend(state.left, move.fault, state.world.state().nodes.size());
      break;
  }
  TellJudges(state, out, tells_kinds_);
  // Each move copies a world, which would otherwise keep its transactions for an hour of virtual time.
  constexpr size_t kMany = 8;
  const model::Database& database = state.world.state().database;
  if (database.transactions.size() + database.finished.size() > kMany) {
    DropWhatCannotMatter(state.world);
  }
  return {.concerns_judges = std::ranges::any_of(out.observed, Checkers::Concerns),
          .picks_commit_timestamp = bounds_.clocks.AreOfSpanner() && PicksCommitTimestamp(out)};
}

uint64_t LockModel::Kind(const State& state, int property) const {
  return KindOf(state->shown, state->left, property);
}

uint64_t LockModel::KindOf(std::span<const ViolationSource> all, const FaultBudget& left,
                           int property) {
  const auto shown =
      std::ranges::find(all, static_cast<uint8_t>(property), &ViolationSource::invariant);
  whorl::Fingerprint kind;
  kind.AddWord(shown == all.end() ? 0 : shown->where);
  kind.Add(left);
  return kind.value();
}

size_t LockModel::BytesOf(const ModelState& model_state) {
  const WorldState& world = model_state.world.state();
  constexpr size_t kSmallBlocksOfCall = 300;  // statements, parameters, rows of an answer
  constexpr size_t kSmallBlocksOfProcess = 600;
  size_t bytes = world.calls.size() * (sizeof(CallSlot) + kSmallBlocksOfCall) +
                 world.pending.capacity() * 2 * sizeof(PendingSlot);
  for (const Node& node : world.nodes) {
    bytes += sizeof(Node) + kSmallBlocksOfProcess;
    for (const Participant& participant : node.participants) {
      bytes += sizeof(Participant) + kSmallBlocksOfProcess +
               participant.runners.size() * (sizeof(ActiveRunner) + kSmallBlocksOfCall);
    }
  }
  return bytes + (world.database.transactions.size() + world.database.finished.size()) *
                     (sizeof(model::TransactionState) + kSmallBlocksOfCall);
}

explore::Key128 LockModel::KeyOf(const Digest128& parts, const NonWorldState& outside) const {
  explore::Key128 key = explore::KeyOf(parts.high, parts.low);
  // By structured bindings, so that a new field does not compile before it is added.
  const auto& [now, left, violated, shown] = outside;
  // Relative times omit the horizon and the phase of the grid.
  if (bounds_.horizon) key = explore::Extend(key, static_cast<uint64_t>(now.ns));
  key = explore::Extend(key, static_cast<uint64_t>(now.ns % bounds_.grid.ns));
  const auto& [crashes, stops, pauses, losses, aborts, deletes, announcements, standing_clocks] =
      left;
  key = explore::Extend(key, uint64_t{crashes} | uint64_t{pauses} << 8 | uint64_t{losses} << 16 |
                                 uint64_t{aborts} << 24 | uint64_t{deletes} << 32 |
                                 uint64_t{stops} << 40 | uint64_t{announcements} << 48 |
                                 uint64_t{standing_clocks} << 56);
  key = explore::Extend(key, violated);
  if (!tells_kinds_) return key;
  for (const ViolationSource& source : shown) {
    const auto& [invariant, where] = source;
    key = explore::Extend(explore::Extend(key, invariant), where);
  }
  return key;
}

explore::Key128 LockModel::FormOf(const ModelState& state, Duration memory,
                                  TokensAre tokens) const {
  const World& world = state.world;
  const size_t locks = scenario().locks.size();
  thread_local std::vector<int64_t> asked;
  asked.assign(world.state().nodes.size() * locks, ToTimestamp(world.now()).UnixNanos());
  for (size_t i = 0; i < world.state().nodes.size(); ++i) {
    for (const Participant& participant : world.state().nodes[i].participants) {
      if (!participant.application.asking) continue;
      asked[i * locks + participant.lock] = ToTimestamp(participant.asked_at).UnixNanos();
    }
  }
  thread_local CanonicalForm form;
  thread_local NormalForm normal;
  thread_local std::vector<int64_t> renamed;
  // The digest of all parts, or of the parts of one node.
  const auto digest_of = [&](const Renaming* renaming, std::optional<int16_t> node) {
    form.Rename(renaming);
    AddParts(state, form, tokens);
    form.Rename(nullptr);
    if (renaming != nullptr) symmetry_->Rename(*renaming, asked, renamed);
    normal.Begin(form.now(), memory, renaming == nullptr ? asked : renamed, !node);
    normal.AddPartsOf(form, node);
    normal.Finish();
    return normal.digest();
  };
  Digest128 digest = digest_of(nullptr, std::nullopt);
  if (symmetry_) {
    digest = symmetry_->Least(
        digest, [&](int16_t node) { return digest_of(&symmetry_->Alone(node), node); },
        [&](size_t i) { return digest_of(&symmetry_->renamings()[i], std::nullopt); });
  }
  return KeyOf(
      digest,
      {.now = world.now(), .left = state.left, .violated = state.violated, .shown = state.shown});
}

}  // namespace whorl::sim
