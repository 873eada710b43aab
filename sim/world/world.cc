#include "sim/world/world.h"

#include <algorithm>
#include <utility>

#include "sim/world/calls.h"
#include "sim/world/parts.h"
#include "sim/world/resource.h"
#include "sim/world/start_rows.h"
#include "sim/world/world_context.h"

namespace whorl::sim {
namespace {

void OnResourceWrite(WorldContext& work, const ResourceWrite& write) {
  const auto writer = static_cast<size_t>(write.process.node);
  for (const bool fenced : {true, false}) {
    if (!WritesTo(work.setup.applications[writer].resource, fenced)) continue;
    const bool accepted =
        ResourceTakes(fenced, write.token, work.state.resources[write.lock].greatest);
    work.Observe(WriteArrived{.process = write.process,
                              .lock = write.lock,
                              .fenced = fenced,
                              .token = write.token,
                              .accepted = accepted});
  }
}

// Lets one event happen: `node` and `call` are its choice's and its slot's.
struct EventHandler {
  WorldContext& work;
  int16_t node;
  uint32_t call;

  void operator()(const CallArrives&) const { OnCallArrives(work, call); }
  void operator()(const ReplyArrives& reply) const { OnReplyArrives(work, call, reply); }
  void operator()(const CallTimesOut&) const { OnCallTimesOut(work, call); }
  void operator()(const TimerDue& timer) const { OnTimer(work, timer); }
  void operator()(const CommitBecomesVisible& visible) const { OnCommitVisible(work, visible); }
  void operator()(const SpannerLooksAgain&) const { OnSpannerLooksAgain(work); }
  void operator()(const ResourceWrite& write) const { OnResourceWrite(work, write); }
  void operator()(const NodeStarts& starts) const { StartNode(work, node, starts.fault); }
  void operator()(const FaultBegins& begins) const { OnFaultBegins(work, begins); }
  void operator()(const FaultEnds& ends) const { OnFaultEnds(work, ends); }
  void operator()(const OperatorActs& acts) const { OnOperatorActs(work, acts); }
  void operator()(const ReleaseHeard& heard) const { OnReleaseHeard(work, node, heard); }
};

// Serves WouldEnd(): no draw can change whether a transaction ends.
class NoEntropy final : public Entropy {
 public:
  int64_t Between(Purpose, int64_t lo, int64_t) override { return lo; }
};

}  // namespace

bool WaitsForPause(const PendingEvent& event) {
  if (const auto* timer = std::get_if<TimerDue>(&event)) {
    return timer->owner != TimerOwner::kBeliefLapses;
  }
  return std::holds_alternative<ReplyArrives>(event) ||
         std::holds_alternative<CallTimesOut>(event) || std::holds_alternative<ReleaseHeard>(event);
}

World::World(std::shared_ptr<const WorldSetup> setup, Outbox& out) : setup_(std::move(setup)) {
  const Scenario& scenario = setup_->scenario;
  out.observed.clear();
  state_.nodes.resize(scenario.nodes.size());
  state_.faults.nodes.resize(scenario.nodes.size());
  for (size_t i = 0; i < scenario.nodes.size(); ++i) {
    state_.nodes[i].clock = MakeNodeClock(scenario.nodes[i].clock);
  }
  state_.spanner.truetime = scenario.spanner.truetime;
  state_.spanner.current_timestamp_error = scenario.spanner.current_timestamp_error;
  state_.resources.resize(scenario.locks.size());
  state_.database = model::MakeDatabase(*setup_->catalogue);
  WorldContext work{*setup_, state_, nullptr, out};
  for (Row& row : RowsOfTheStart(scenario)) {
    RowCommitted committed = RowOfTheStart(row, kStartTime - Seconds(3600));
    const Timestamp commit = committed.commit;
    work.Observe(std::move(committed));
    model::LoadRow(*setup_->catalogue, state_.database, 0, std::move(row), commit);
  }
  for (size_t i = 0; i < scenario.nodes.size(); ++i) {
    if (!scenario.nodes[i].start_at) continue;
    work.Schedule(*scenario.nodes[i].start_at, ChoiceKind::kFire, static_cast<int16_t>(i),
                  NodeStarts{});
  }
  const std::vector<bool> scheduled = FaultsOfSchedule(scenario);
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    const auto* at = std::get_if<Instant>(&scenario.faults[i].trigger);
    if (at == nullptr || (!scheduled.empty() && scheduled[i])) continue;
    work.Schedule(*at, ChoiceKind::kFault, scenario.faults[i].node,
                  FaultBegins{.fault = static_cast<uint32_t>(i), .trigger = std::nullopt});
  }
}

void World::TakeNext(Chance& chance, Outbox& out) {
  const uint32_t place = *state_.pending.First();
  state_.now = std::max(state_.now, state_.pending[place].due);
  TakeFrom(place, chance, out);
}

bool World::IsHeldUp(const PendingSlot& slot) const {
  const Choice& choice = slot.choice;
  return choice.node >= 0 && state_.nodes[static_cast<size_t>(choice.node)].pauses > 0 &&
         WaitsForPause(choice.event);
}

std::optional<uint32_t> World::FindQueued(const Choice& choice) const {
  const auto place = state_.pending.Find(choice);
  return place && state_.pending[*place].queued != PendingSlot::kNone ? place : std::nullopt;
}

void World::Take(const Choice& choice, Chance& chance, Outbox& out) {
  out.observed.clear();
  const auto place = FindQueued(choice);
  if (!place) return;
  state_.now = std::max(state_.now, state_.pending[*place].due);
  TakeFrom(*place, chance, out);
}

void World::TakeEarly(const Choice& choice, Chance& chance, Outbox& out) {
  out.observed.clear();
  if (const auto place = FindQueued(choice)) TakeFrom(*place, chance, out, true);
}

void World::TakeFrom(uint32_t place, Chance& chance, Outbox& out, bool is_early) {
  out.observed.clear();
  const PendingSlot slot = state_.pending[place];
  const Choice& choice = slot.choice;
  if (IsHeldUp(slot)) {
    state_.pending.Dequeue(place);
    state_.nodes[static_cast<size_t>(choice.node)].held_up.push_back(
        {.place = place, .id = slot.id});
    return;
  }
  state_.pending.Take(place);
  WorldContext work{*setup_, state_, &chance, out, slot.call, is_early};
  std::visit(EventHandler{.work = work, .node = choice.node, .call = slot.call}, choice.event);
  if (!out.machine_events.empty()) RunMachines(work);
  state_.pending.CloseGap();
}

Choice World::Trigger(uint32_t fault, const CallName& call) {
  const Choice choice = {.kind = ChoiceKind::kFault,
                         .node = setup_->scenario.faults[fault].node,
                         .event = FaultBegins{.fault = fault, .trigger = call}};
  state_.pending.Schedule(state_.now, choice, PendingSlot::kNone);
  return choice;
}

std::optional<World::StepEnd> World::WouldEnd(const PendingSlot& slot) const {
  const auto* reply = std::get_if<ReplyArrives>(&slot.choice.event);
  if (reply == nullptr) return std::nullopt;
  const Call& call = state_.calls[slot.call].call();
  // No step ends with a session, and its transaction may no longer wait for it.
  if (!call.awaited || call.name.call == kSessionCall) return std::nullopt;
  const Node& node = state_.nodes[static_cast<size_t>(call.name.process.node)];
  if (node.pauses > 0 || node.life == Life::kDown) return std::nullopt;
  if (reply->from_spanner && state_.faults.At(call.name.process.node).links.from != LinkState::kUp)
    return std::nullopt;
  for (const Participant& participant : node.participants) {
    if (participant.lock != call.name.lock) continue;
    for (const ActiveRunner& runner : participant.runners) {
      if (runner.request != call.name.request) continue;
      // A statement with a step of its own ends with its reply.
      if (call.step != runner.state.transaction.step) return StepEnd{call.name, call.step};
      RunnerState copy = runner.state;
      NoEntropy entropy;
      const LocalInstant local = ReadMonotonic(node.clock, node.started, state_.now);
      const RunnerAction action =
          OnReply(setup_->retry_policy, copy, local, entropy, Response(call.response));
      if (std::holds_alternative<Finished>(action)) return StepEnd{call.name, call.step};
    }
  }
  return std::nullopt;
}

}  // namespace whorl::sim
