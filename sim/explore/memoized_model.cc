#include "sim/explore/memoized_model.h"

#include <algorithm>
#include <deque>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <variant>

#include "protocol/protocols.h"
#include "sim/explore/engine/search.h"
#include "sim/explore/menu.h"
#include "sim/explore/move_lister.h"

namespace whorl::sim {
namespace {

// --- what can happen -----------------------------------------------------------------------------

// MoveLister's view of a state's components.
class ComponentsView {
 public:
  ComponentsView(const RememberedState& state, std::vector<std::pair<ComponentAction, int>>& moves)
      : state_(state), moves_(moves) {
    ForEachNode([this](const NodeFacts& node) {
      if (node.is_paused) paused_ |= uint64_t{1} << node.node;
    });
  }

  // Identifies an event: its component, and its index among that component's events.
  struct EventPlace {
    uint8_t part = 0;
    uint8_t event = 0;
  };

  Instant now() const { return state_.now; }
  const FaultBudget& left() const { return state_.left; }

  template <typename Visit>
  void ForEachEvent(const Visit& visit) const {
    for (size_t i = 0; i < state_.parts.size(); ++i) {
      const InternedComponent& part = *state_.parts[i];
      for (uint8_t k = 0; k < part.events; ++k) {
        const PartEvent& event = part.shape->events[k];
        if (event.facts.waits_for_pause && IsPaused(event.choice.node)) continue;
        visit(EventPlace{.part = static_cast<uint8_t>(i), .event = k}, event.facts,
              state_.now + Duration{part.numbers[k]});
      }
    }
  }
  template <typename Visit>
  void ForEachNode(const Visit& visit) const {
    for (const InternedComponent* part : state_.parts) {
      if (part->kind() != PartKind::kNode) continue;
      const ComponentTemplate& node = *part->shape;
      visit(NodeFacts{.node = part->node,
                      .life = node.life,
                      .incarnation = node.incarnation,
                      .is_paused = node.is_paused});
    }
  }
  template <typename Visit>
  void ForEachDeletion(const Visit& visit) const {
    for (const InternedComponent* part : state_.parts) {
      if (part->kind() != PartKind::kDatabase) continue;
      for (const uint32_t fault : part->shape->deletions) {
        if (!OperatorIsAtWork(fault)) visit(fault);
      }
    }
  }
  MessageFacts MessageOf(EventPlace place) const {
    const ComponentTemplate& call = *state_.parts[place.part]->shape;
    return {.node = call.name.index, .is_awaited = call.is_awaited, .may_abort = call.may_abort};
  }

  void AddEvent(EventPlace place) {
    Add({.kind = MoveKind::kEvent, .part = place.part, .event = place.event, .at = now()}, 0);
  }
  void AddAdvance(Instant to) { Add({.kind = MoveKind::kAdvance, .at = to}, 0); }
  void AddFault(uint32_t fault, int faults) {
    Add({.kind = MoveKind::kFault, .fault = fault, .at = now()}, faults);
  }
  void AddFaultOf(EventPlace place, uint32_t fault) {
    Add({.kind = MoveKind::kFault, .part = place.part, .fault = fault, .at = now()}, 1);
  }

 private:
  void Add(const ComponentAction& action, int faults) { moves_.emplace_back(action, faults); }

  bool IsPaused(int16_t node) const { return node >= 0 && (paused_ >> node & 1U) != 0; }

  // Answers as sim::OperatorIsAtWork does: finished transactions have no component.
  bool OperatorIsAtWork(uint32_t fault) const {
    return std::ranges::any_of(state_.parts, [fault](const InternedComponent* part) {
      return part->shape->IsOfOperator(fault);
    });
  }

  const RememberedState& state_;
  std::vector<std::pair<ComponentAction, int>>& moves_;
  uint64_t paused_ = 0;  // nodes, as bits
};

// --- names ---------------------------------------------------------------------------------------

CallName WithoutGeneration(CallName call) {
  call.generation = 0;
  return call;
}

// Makes the event without the names that differ between worlds of equal canonical form.
struct WithoutNames {
  PendingEvent operator()(CallArrives event) const { return Cleared(event); }
  PendingEvent operator()(ReplyArrives event) const { return Cleared(event); }
  PendingEvent operator()(CallTimesOut event) const { return Cleared(event); }
  PendingEvent operator()(CommitBecomesVisible event) const {
    event.begun_by = WithoutGeneration(event.begun_by);
    return event;
  }
  PendingEvent operator()(FaultBegins event) const {
    if (event.trigger) event.trigger = WithoutGeneration(*event.trigger);
    return event;
  }
  PendingEvent operator()(ResourceWrite event) const {
    event.token.reset();
    return event;
  }
  PendingEvent operator()(const auto& event) const { return event; }

 private:
  template <typename OfCall>
  static PendingEvent Cleared(OfCall event) {
    event.call = WithoutGeneration(event.call);
    return event;
  }
};

PendingEvent Unnamed(const PendingEvent& event) { return std::visit(WithoutNames(), event); }

// REQUIRES: the action is an event of a component with this template.
const PendingEvent& EventOf(const ComponentTemplate& shape, const ComponentAction& action) {
  return shape.events[action.event].choice.event;
}
const PendingEvent& EventOf(const RememberedState& state, const ComponentAction& action) {
  return EventOf(*state.parts[action.part]->shape, action);
}

constexpr size_t kBytesOfOrigin = sizeof(StateOrigin) + 32;  // with what the heap adds

}  // namespace

// --- the model -----------------------------------------------------------------------------------

MemoizedModel::MemoizedModel(const LockModel& model)
    : model_(model),
      shapes_(model.symmetry()),
      table_(model.memory(), model.scenario().nodes.size() * model.scenario().locks.size(),
             model.symmetry()),
      steps_(table_, model.memory()) {}

void MemoizedModel::SetOutside(const ModelState& model_state, State& state) const {
  state.now = model_state.world.now();
  state.left = model_state.left;
  state.violated = model_state.violated;
  state.shown = model_state.shown;
}

void MemoizedModel::Settle(State& state) const {
  NormalTable::Sort(state.parts);
  state.key = model_.KeyOf(
      table_.DigestOf(state.parts),
      {.now = state.now, .left = state.left, .violated = state.violated, .shown = state.shown});
}

void MemoizedModel::TakeApart(const ModelState& model_state, TemplateTable::Parts& world,
                              InternedComponents& parts) {
  shapes_.TakeApart(model_state, world);
  table_.FromWorld(model_state.world.now(), world, parts);
}

std::vector<RememberedState> MemoizedModel::Initial() {
  std::vector<State> states;
  for (LockModel::State& initial : model_.Initial()) {
    State& state = states.emplace_back();
    SetOutside(*initial, state);
    TakeApart(*initial, parts_after_, state.parts);
    Settle(state);
    state.state_origin = Keep(std::make_unique<const ModelState>(*std::move(initial)));
  }
  return states;
}

void MemoizedModel::ListMoves(const State& state,
                              std::vector<std::pair<ComponentAction, int>>& moves) {
  moves.clear();
  ComponentsView view(state, moves);
  MoveLister(view, model_.bounds()).List();
  State to;
  model_.AddErrors(
      moves,
      [&](const ComponentAction& action) -> const PendingEvent& { return EventOf(state, action); },
      [&](ComponentAction& action, uint8_t clocks) {
        action.clocks = clocks;
        Take(state, action, to);
        return std::pair(to.key, to.picks_commit_timestamp);
      });
}

bool MemoizedModel::Take(const State& from, const ComponentAction& action, State& to) {
  if (!TakeKnown(from, action, to)) {
    TakeInWorld(from, action, to);
    return true;
  }
  ++known_steps_;
  if (checks_ || known_steps_ % kKnownToChecked == 0) {
    State again;
    TakeInWorld(from, action, again);
    if (again.key != to.key || again.violated != to.violated || !(again.shown == to.shown) ||
        again.picks_commit_timestamp != to.picks_commit_timestamp) {
      throw std::logic_error(
          "a remembered step differs from the same step taken in a world: the protocol may use an "
          "instant as a number of its own (StateTraits::depends_on_absolute_time); --plain "
          "remembers none");
    }
  }
  return true;
}

bool MemoizedModel::TakeKnown(const State& from, const ComponentAction& action, State& to) {
  to.now = from.now;
  if (action.kind == MoveKind::kAdvance) {
    to.parts = from.parts;
    table_.Advance(action.at - from.now, to.parts);
    to.now = action.at;
    to.violated = 0;
    to.shown.clear();
    to.picks_commit_timestamp = false;
  } else {
    TransitionCache::Judgement judgement;
    if (from.parts.size() > kMostParts) return false;
    if (!steps_.Apply(from.now, SetsOf(from), action, to.parts, judgement)) return false;
    table_.Restore(to.parts, judgement.concerns_gates);
    to.violated = judgement.violated;
    to.shown = std::move(judgement.shown);
    to.picks_commit_timestamp = judgement.picks_commit_timestamp;
  }
  to.left = from.left;
  if (action.kind == MoveKind::kFault) Spend(to.left, action.fault, model_.scenario().nodes.size());
  Settle(to);
  SetStep(from, action, to);
  return true;
}

void MemoizedModel::TakeInWorld(const State& from, const ComponentAction& action, State& to) {
  MakeWorld(from);
  SetStep(from, action, to);
  after_ = *made_;
  const Stepped stepped = model_.Step(*after_, MoveIn(*made_, action, to.shape, &parts_of_made_));
  SetOutside(*after_, to);
  to.picks_commit_timestamp = stepped.picks_commit_timestamp;
  shapes_.TakeApart(*after_, parts_after_);
  if (action.kind != MoveKind::kAdvance && from.parts.size() <= kMostParts) {
    steps_.Record({.now = from.now, .world = parts_of_made_, .sets = SetsOf(from)}, action,
                  parts_after_, stepped, {.violated = to.violated, .shown = to.shown});
  }
  table_.FromWorld(to.now, parts_after_, to.parts);
  Settle(to);
  if (to.before->steps < kStepsWithoutWorld) return;
  to.state_origin = Keep(std::make_unique<const ModelState>(*after_));
  to.before = nullptr;
}

const ReadSets& MemoizedModel::SetsOf(const State& state) {
  if (sets_.parts() != state.parts) sets_.Become(state.parts);
  return sets_;
}

void MemoizedModel::SetStep(const State& from, const ComponentAction& action, State& to) {
  to.state_origin = nullptr;
  to.before = OriginOf(from);
  to.action = action;
  to.shape = action.part == ComponentAction::kNoPart ? nullptr : from.parts[action.part]->shape;
}

std::shared_ptr<const StateOrigin> MemoizedModel::Keep(
    std::unique_ptr<const ModelState> model_state) {
  const size_t bytes = kBytesOfOrigin + sizeof(ModelState) + LockModel::BytesOf(*model_state);
  return std::make_shared<const StateOrigin>(
      StateOrigin{.held = {origins_, bytes}, .model_state = std::move(model_state)});
}

const std::shared_ptr<const StateOrigin>& MemoizedModel::OriginOf(const State& state) {
  if (state.state_origin == nullptr) {
    state.state_origin =
        std::make_shared<const StateOrigin>(StateOrigin{.held = {origins_, kBytesOfOrigin},
                                                        .model_state = nullptr,
                                                        .before = state.before,
                                                        .action = state.action,
                                                        .shape = state.shape,
                                                        .steps = state.before->steps + 1});
  }
  return state.state_origin;
}

void MemoizedModel::MakeWorld(const State& state) {
  if (made_for_ == OriginOf(state)) return;
  made_for_ = nullptr;
  std::vector<const StateOrigin*> steps;
  const StateOrigin* from = OriginOf(state).get();
  for (; from->model_state == nullptr; from = from->before.get()) steps.push_back(from);
  made_ = *from->model_state;
  for (const StateOrigin* step : steps | std::views::reverse) {
    model_.Step(*made_, MoveIn(*made_, step->action, step->shape, nullptr));
  }
  TakeApart(*made_, parts_of_made_, normal_of_made_);
  // Compares digests, not pointers: another thread, which has its own table, may have found the state.
  const auto digest = [](const InternedComponent* part) { return part->digest; };
  if (!std::ranges::equal(normal_of_made_, state.parts, {}, digest, digest)) {
    throw std::logic_error(
        "the world made for a state is not of its form: the protocol may ask about longer ago than "
        "StateTraits::memory_leases says, or a statement may compute how long ago something was "
        "(TIMESTAMP_DIFF): let it return CURRENT_TIMESTAMP, and subtract in the protocol");
  }
  if (steps.size() >= kStepsWithoutWorld) {
    state.state_origin = Keep(std::make_unique<const ModelState>(*made_));
  }
  made_for_ = OriginOf(state);
}

Move MemoizedModel::MoveIn(const ModelState& model_state, const ComponentAction& action,
                           const ComponentTemplate* shape, const TemplateTable::Parts* known) {
  Move move = {
      .kind = action.kind, .at = action.at, .event = {}, .fault = action.fault, .call = {}};
  const bool looks = action.kind == MoveKind::kEvent &&
                     std::holds_alternative<SpannerLooksAgain>(EventOf(*shape, action));
  move.clocks = model_.ErrorsOf(action.clocks, looks);
  if (action.kind == MoveKind::kAdvance || shape == nullptr) return move;
  const WorldState& world = model_state.world.state();
  const auto at_place = [&]() -> const TemplateTable::Part& {
    if (known != nullptr) return known->all[action.part];
    static thread_local TemplateTable::Parts parts;
    static thread_local InternedComponents normal;
    TakeApart(model_state, parts, normal);
    return parts.all[action.part];
  };
  if (action.kind == MoveKind::kFault) {
    const CallName sought = WithoutGeneration(shape->call);
    int found = 0;
    for (const CallSlot& slot : world.calls) {
      if (!slot.is_taken() || WithoutGeneration(slot.call().name) != sought) continue;
      move.call = slot.call().name;
      ++found;
    }
    if (found > 1) move.call = world.calls[at_place().origin].call().name;
    return move;
  }
  const sim::Choice& sought = shape->events[action.event].choice;
  const PendingEvent unnamed = Unnamed(sought.event);
  int found = 0;
  world.pending.ForEach([&](const PendingSlot& slot, uint32_t) {
    if (slot.queued == PendingSlot::kNone || slot.choice.event.index() != sought.event.index())
      return;
    if (slot.choice.node != sought.node || !(Unnamed(slot.choice.event) == unnamed)) return;
    move.event = slot.choice;
    ++found;
  });
  if (found <= 1) return move;
  const TemplateTable::Part& part = at_place();
  if (part.shape->kind() == PartKind::kEvent) {
    move.event = world.pending[part.origin].choice;
    return move;
  }
  world.pending.ForEach([&](const PendingSlot& slot, uint32_t) {
    if (slot.call == part.origin && slot.choice.event.index() == sought.event.index()) {
      move.event = slot.choice;
    }
  });
  return move;
}

explore::Path<Move> MemoizedModel::MovesOf(const explore::Path<ComponentAction>& path) {
  explore::Path<Move> moves = {.initial = path.initial, .choices = {}};
  ModelState model_state = *model_.Initial()[path.initial];
  TemplateTable::Parts parts;
  InternedComponents normal;
  for (const ComponentAction& action : path.choices) {
    TakeApart(model_state, parts, normal);
    const ComponentTemplate* shape =
        action.part == ComponentAction::kNoPart ? nullptr : parts.all[action.part].shape;
    moves.choices.push_back(MoveIn(model_state, action, shape, &parts));
    model_.Step(model_state, moves.choices.back());
  }
  return moves;
}

// --- searches ------------------------------------------------------------------------------------

bool CanRemember(const LockModel& model) {
  if (model.bounds().clocks.rate_ppm > 0) return false;
  const Scenario& scenario = model.scenario();
  const bool ships = scenario.constants == Constants::kShipped;
  const StateTraits& traits = FindProtocol(scenario.protocol)->state_traits;
  if (ships && traits.depends_on_absolute_time) return false;
  if (model.bounds().faults.standing_clocks > 0 && !traits.ignores_wall_clock) return false;
  return std::ranges::all_of(scenario.nodes,
                             [](const NodeSpec& node) { return node.clock.rate_ppm == 0; });
}

explore::SearchResult<Move> ExploreLocks(const LockModel& model,
                                         const explore::SearchOptions& options,
                                         std::optional<explore::Checkpoint> from, Steps steps) {
  if (steps == Steps::kTaken || !CanRemember(model))
    return explore::Explore(model, options, std::move(from));
  std::deque<MemoizedModel> models;
  std::vector<MemoizedModel*> each;
  for (int i = 0; i < std::max(options.jobs, 1); ++i) each.push_back(&models.emplace_back(model));
  return explore::WithPaths<Move>(
      explore::Explore<MemoizedModel>(each, options, std::move(from)),
      [&](const explore::Path<ComponentAction>& path) { return models.front().MovesOf(path); });
}

}  // namespace whorl::sim
