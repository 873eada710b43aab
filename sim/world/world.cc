#include "sim/world/world.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "protocol/protocols.h"
#include "sim/world/start_rows.h"
#include "sim/world/turn.h"

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

model::Options OptionsOf(const SpannerSpec& spanner) {
  model::Options options;
  options.calls_name_places = true;
  options.pending_rule =
      spanner.strict_pending_commit_timestamp == PendingCommitTimestampRule::kTable
          ? model::PendingRule::kTable
          : model::PendingRule::kColumn;
  return options;
}

// There are millions of drawn worlds and few catalogues, so each catalogue is made once and kept as
// long as the interned statements.
std::shared_ptr<const model::Catalogue> CatalogueOf(const Scenario& scenario,
                                                    std::span<const Sql> statements) {
  using Key = std::tuple<std::string, PendingCommitTimestampRule, std::vector<uint32_t>>;
  thread_local std::map<Key, std::shared_ptr<const model::Catalogue>> made;
  std::vector<uint32_t> indexes;
  for (const Sql sql : statements) indexes.push_back(sql.index());
  std::ranges::sort(indexes);
  const auto repeated = std::ranges::unique(indexes);
  indexes.erase(repeated.begin(), repeated.end());
  Key key(scenario.protocol, scenario.spanner.strict_pending_commit_timestamp, std::move(indexes));
  std::shared_ptr<const model::Catalogue>& catalogue = made[std::move(key)];
  if (!catalogue) {
    model::Schema schema;
    schema.tables.push_back(std::get<model::Table>(
        model::ParseCreateTable(FindProtocol(scenario.protocol)->create_table)));
    catalogue = std::make_shared<const model::Catalogue>(std::move(schema), statements,
                                                         OptionsOf(scenario.spanner));
  }
  return catalogue;
}

std::vector<std::vector<ProtocolConfig>> ConfigsOf(const Scenario& scenario) {
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  std::vector<std::vector<ProtocolConfig>> configs;
  for (const NodeSpec& node : scenario.nodes) {
    std::vector<ProtocolConfig>& own = configs.emplace_back();
    for (const uint16_t lock : node.locks) {
      own.push_back(protocol.make_config(std::string(protocol.table), scenario.locks[lock], node.id,
                                         node.lease));
    }
  }
  return configs;
}

// Whether the event waits while its process is paused. A belief lapses all the same.
bool WaitsForPause(const PendingEvent& event) {
  if (const auto* timer = std::get_if<TimerDue>(&event)) {
    return timer->owner != TimerOwner::kBeliefLapses;
  }
  return std::holds_alternative<ReplyArrives>(event) ||
         std::holds_alternative<CallTimesOut>(event) || std::holds_alternative<ReleaseHeard>(event);
}

}  // namespace

std::shared_ptr<const WorldSetup> MakeSetup(const Scenario& scenario) {
  auto configs = ConfigsOf(scenario);
  std::vector<Sql> statements;
  for (const auto& own : configs) {
    for (const ProtocolConfig& config : own) {
      for (const Sql sql : StatementsOf(config)) statements.push_back(sql);
    }
  }
  std::vector<ApplicationConfig> applications;
  for (const NodeSpec& node : scenario.nodes) {
    applications.push_back(ApplicationConfigOf(scenario, node));
  }
  std::vector<uint8_t> loses_session(scenario.nodes.size());
  bool changes_truetime = false;
  for (const FaultSpec& fault : scenario.faults) {
    if (fault.As<SessionLossFault>()) loses_session[static_cast<size_t>(fault.node)] = 1;
    if (fault.As<TrueTimeFault>()) changes_truetime = true;
  }
  return std::make_shared<const WorldSetup>(
      WorldSetup{.scenario = scenario,
                 .configs = std::move(configs),
                 .applications = std::move(applications),
                 .retry_policy = FindProtocol(scenario.protocol)->retry_policy,
                 .session_policy = MultiplexedSessionPolicy(),
                 .loses_session = std::move(loses_session),
                 .changes_truetime = changes_truetime,
                 .catalogue = CatalogueOf(scenario, statements)});
}

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
  Turn turn(*setup_, state_, nullptr, out);
  for (Row& row : RowsOfTheStart(scenario)) {
    const Timestamp commit = CommitOf(row);
    RowCommitted committed;
    committed.after = row;
    committed.commit = commit;
    turn.Observe(std::move(committed));
    model::LoadRow(*setup_->catalogue, state_.database, 0, std::move(row), commit);
  }
  for (size_t i = 0; i < scenario.nodes.size(); ++i) {
    if (!scenario.nodes[i].start_at) continue;
    turn.Schedule(*scenario.nodes[i].start_at, ChoiceKind::kFire, static_cast<int16_t>(i),
                  NodeStarts{});
  }
  for (size_t i = 0; i < scenario.faults.size(); ++i) {
    const auto* at = std::get_if<Instant>(&scenario.faults[i].trigger);
    if (at == nullptr) continue;
    turn.Schedule(*at, ChoiceKind::kFault, scenario.faults[i].node,
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
  PendingEvent event = std::move(*slot.event);
  Turn turn(*setup_, state_, &chance, out);
  turn.Cancel(choice.place);
  turn.Happen(std::move(event), choice.node);
  turn.RunMachines();
}

void World::Trigger(uint32_t fault, const CallName& call, Outbox& out) {
  Turn turn(*setup_, state_, nullptr, out);
  turn.Schedule(state_.now, ChoiceKind::kFault, setup_->scenario.faults[fault].node,
                FaultBegins{.fault = fault, .trigger = call});
}

uint32_t Turn::Store(PendingEvent event) {
  uint32_t place = 0;
  if (state_.free_pending.empty()) {
    place = static_cast<uint32_t>(state_.pending.size());
    state_.pending.emplace_back();
  } else {
    place = state_.free_pending.back();
    state_.free_pending.pop_back();
  }
  state_.pending[place].due = state_.now;
  state_.pending[place].event = std::move(event);
  return place;
}

uint32_t Turn::Schedule(Instant at, ChoiceKind kind, int16_t node, PendingEvent event) {
  const uint32_t place = Store(std::move(event));
  PendingSlot& slot = state_.pending[place];
  slot.due = std::max(at, state_.now);
  out_.scheduled.push_back(
      {slot.due, {.kind = kind, .node = node, .place = place, .stamp = slot.stamp}});
  return place;
}

void Turn::Cancel(uint32_t place) {
  PendingSlot& slot = state_.pending[place];
  slot.event.reset();
  ++slot.stamp;
  state_.free_pending.push_back(place);
}

void Turn::Happen(PendingEvent event, int16_t node) {
  if (const auto* arrives = std::get_if<CallArrives>(&event)) return OnCallArrives(arrives->call);
  if (const auto* reply = std::get_if<ReplyArrives>(&event)) return OnReplyArrives(*reply);
  if (const auto* late = std::get_if<CallTimesOut>(&event)) return OnCallTimesOut(late->call);
  if (const auto* timer = std::get_if<TimerDue>(&event)) return OnTimer(*timer);
  if (const auto* visible = std::get_if<CommitBecomesVisible>(&event)) {
    return OnCommitVisible(*visible);
  }
  if (std::holds_alternative<SpannerLooksAgain>(event)) return OnSpannerLooksAgain();
  if (const auto* write = std::get_if<ResourceWrite>(&event)) return OnResourceWrite(*write);
  if (const auto* starts = std::get_if<NodeStarts>(&event)) return StartNode(node, starts->fault);
  if (const auto* begins = std::get_if<FaultBegins>(&event)) return OnFaultBegins(*begins);
  if (const auto* ends = std::get_if<FaultEnds>(&event)) return OnFaultEnds(*ends);
  if (const auto* heard = std::get_if<ReleaseHeard>(&event)) return OnReleaseHeard(node, *heard);
  DeleteRow(std::get<OperatorDeletes>(event));
}

}  // namespace whorl::sim
