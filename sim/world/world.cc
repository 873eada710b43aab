#include "sim/world/world.h"

#include <algorithm>
#include <utility>

#include "sim/world/faults.h"
#include "sim/world/network.h"
#include "sim/world/operator.h"
#include "sim/world/participant.h"
#include "sim/world/process.h"
#include "sim/world/resource.h"
#include "sim/world/spanner.h"
#include "sim/world/start_rows.h"
#include "sim/world/world_work.h"

namespace whorl::sim {
namespace {

// When an initial row counts as written: at its latest timestamp, so that no version is older than
// the times in it.
Timestamp CommitOf(const Row& row) {
  Timestamp commit = kStartTime - Seconds(3600);
  for (const Value& value : row) {
    const auto* time = std::get_if<Timestamp>(&value);
    if (time != nullptr) commit = std::max(commit, *time);
  }
  return commit;
}

// Whether the event waits while its process is paused. A belief lapses all the same.
bool WaitsForPause(const PendingEvent& event) {
  if (const auto* timer = std::get_if<TimerDue>(&event)) {
    return timer->owner != TimerOwner::kBeliefLapses;
  }
  return std::holds_alternative<ReplyArrives>(event) ||
         std::holds_alternative<CallTimesOut>(event) || std::holds_alternative<ReleaseHeard>(event);
}

void OnResourceWrite(Work& work, const ResourceWrite& write) {
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

void Handle(Work& work, const PendingEvent& event, int16_t node) {
  if (const auto* arrives = std::get_if<CallArrives>(&event)) {
    OnCallArrives(work, arrives->call);
  } else if (const auto* reply = std::get_if<ReplyArrives>(&event)) {
    OnReplyArrives(work, *reply);
  } else if (const auto* late = std::get_if<CallTimesOut>(&event)) {
    OnCallTimesOut(work, late->call);
  } else if (const auto* timer = std::get_if<TimerDue>(&event)) {
    OnTimer(work, *timer);
  } else if (const auto* visible = std::get_if<CommitBecomesVisible>(&event)) {
    OnCommitVisible(work, *visible);
  } else if (std::holds_alternative<SpannerLooksAgain>(event)) {
    OnSpannerLooksAgain(work);
  } else if (const auto* write = std::get_if<ResourceWrite>(&event)) {
    OnResourceWrite(work, *write);
  } else if (const auto* starts = std::get_if<NodeStarts>(&event)) {
    StartNode(work, node, starts->fault);
  } else if (const auto* begins = std::get_if<FaultBegins>(&event)) {
    OnFaultBegins(work, *begins);
  } else if (const auto* ends = std::get_if<FaultEnds>(&event)) {
    OnFaultEnds(work, *ends);
  } else if (const auto* heard = std::get_if<ReleaseHeard>(&event)) {
    OnReleaseHeard(work, node, *heard);
  } else {
    OnOperatorActs(work, std::get<OperatorActs>(event));
  }
}

// Serves WouldEnd(): no draw can change whether a transaction ends.
class NoEntropy final : public Entropy {
 public:
  int64_t Between(Purpose, int64_t lo, int64_t) override { return lo; }
};

}  // namespace

World::World(std::shared_ptr<const WorldSetup> setup, Outbox& out) : setup_(std::move(setup)) {
  const Scenario& scenario = setup_->scenario;
  out.observed.clear();
  out.scheduled.clear();
  state_.nodes.resize(scenario.nodes.size());
  state_.faults.nodes.resize(scenario.nodes.size());
  for (size_t i = 0; i < scenario.nodes.size(); ++i) {
    state_.nodes[i].clock = MakeNodeClock(scenario.nodes[i].clock);
  }
  state_.spanner.truetime = scenario.spanner.truetime;
  state_.spanner.current_timestamp_error = scenario.spanner.current_timestamp_error;
  state_.resources.resize(scenario.locks.size());
  state_.database = model::MakeDatabase(*setup_->catalogue);
  Work work{*setup_, state_, nullptr, out};
  for (Row& row : RowsOfTheStart(scenario)) {
    const Timestamp commit = CommitOf(row);
    RowCommitted committed;
    committed.after = row;
    committed.commit = commit;
    work.Observe(std::move(committed));
    model::LoadRow(*setup_->catalogue, state_.database, 0, std::move(row), commit);
  }
  for (size_t i = 0; i < scenario.nodes.size(); ++i) {
    if (!scenario.nodes[i].start_at) continue;
    work.Schedule(*scenario.nodes[i].start_at, ChoiceKind::kFire, static_cast<int16_t>(i),
                  NodeStarts{});
  }
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    const auto* at = std::get_if<Instant>(&scenario.faults[i].trigger);
    if (at == nullptr) continue;
    work.Schedule(*at, ChoiceKind::kFault, scenario.faults[i].node,
                  FaultBegins{.fault = static_cast<uint32_t>(i), .trigger = std::nullopt});
  }
}

bool World::IsPending(const Choice& choice) const {
  return choice.place < state_.pending.size() &&
         state_.pending[choice.place].stamp == choice.stamp &&
         state_.pending[choice.place].event.has_value();
}

void World::Take(const Choice& choice, Chance& chance, Outbox& out) {
  out.scheduled.clear();
  out.observed.clear();
  if (!IsPending(choice)) return;
  PendingSlot& slot = state_.pending[choice.place];
  state_.now = std::max(state_.now, slot.due);
  if (choice.node >= 0) {
    Node& node = state_.nodes[static_cast<size_t>(choice.node)];
    if (node.pauses > 0 && WaitsForPause(*slot.event)) {
      node.held_up.push_back(choice);
      return;
    }
  }
  const PendingEvent event = *slot.event;
  Work work{*setup_, state_, &chance, out};
  work.Cancel(choice.place);
  Handle(work, event, choice.node);
  RunMachines(work);
}

void World::Trigger(uint32_t fault, const CallName& call, Outbox& out) {
  Work work{*setup_, state_, nullptr, out};
  work.Schedule(state_.now, ChoiceKind::kFault, setup_->scenario.faults[fault].node,
                FaultBegins{.fault = fault, .trigger = call});
}

std::optional<World::StepEnd> World::WouldEnd(const Choice& choice) const {
  if (!IsPending(choice)) return std::nullopt;
  const auto* reply = std::get_if<ReplyArrives>(&*state_.pending[choice.place].event);
  if (reply == nullptr) return std::nullopt;
  const Call& call = state_.calls[reply->call].call();
  if (!call.awaited) return std::nullopt;
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
      const Duration local = ReadClocks(node.clock, node.started, state_.now).monotonic;
      const RunnerAction action =
          OnReply(setup_->retry_policy, copy, local, entropy, Response(call.response));
      if (std::holds_alternative<Finished>(action)) return StepEnd{call.name, call.step};
    }
  }
  return std::nullopt;
}

}  // namespace whorl::sim
