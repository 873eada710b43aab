#include "sim/world/world_setup.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "protocol/protocols.h"

namespace whorl::sim {
namespace {

model::Options OptionsOf(const Scenario& scenario) {
  const SpannerSpec& spanner = scenario.spanner;
  model::Options options;
  options.calls_name_places = true;
  options.pending_rule =
      spanner.strict_pending_commit_timestamp == PendingCommitTimestampRule::kTable
          ? model::PendingRule::kTable
          : model::PendingRule::kColumn;
  options.default_isolation = spanner.default_isolation == DefaultIsolation::kRepeatableRead
                                  ? Isolation::kRepeatableRead
                                  : Isolation::kSerializable;
  std::vector<std::string> splits = spanner.splits;
  std::ranges::sort(splits);
  for (std::string& key : splits) options.split_points.push_back({.key = {std::move(key)}});
  return options;
}

// There are millions of drawn worlds and few catalogues, so each catalogue is made once and kept as
// long as the interned statements.
std::shared_ptr<const model::Catalogue> CatalogueOf(const Scenario& scenario,
                                                    std::span<const Sql> statements) {
  using Key = std::tuple<std::string, PendingCommitTimestampRule, DefaultIsolation,
                         std::vector<std::string>, std::vector<uint32_t>>;
  thread_local std::map<Key, std::shared_ptr<const model::Catalogue>> made;
  // Each once: a hundred processes say the same.
  std::vector<Sql> texts(statements.begin(), statements.end());
  std::ranges::sort(texts, {}, &Sql::index);
  const auto repeated = std::ranges::unique(texts);
  texts.erase(repeated.begin(), repeated.end());
  std::vector<uint32_t> indexes;
  for (const Sql sql : texts) indexes.push_back(sql.index());
  Key key(scenario.protocol, scenario.spanner.strict_pending_commit_timestamp,
          scenario.spanner.default_isolation, scenario.spanner.splits, std::move(indexes));
  std::shared_ptr<const model::Catalogue>& catalogue = made[std::move(key)];
  if (!catalogue) {
    model::Schema schema;
    schema.tables.push_back(std::get<model::Table>(
        model::ParseCreateTable(FindProtocol(scenario.protocol)->create_table)));
    catalogue =
        std::make_shared<const model::Catalogue>(std::move(schema), texts, OptionsOf(scenario));
  }
  return catalogue;
}

std::vector<std::vector<ProtocolConfig>> ConfigsOf(const Scenario& scenario,
                                                   ConfigMaker make_config) {
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  if (make_config == nullptr) {
    make_config =
        scenario.constants == Constants::kGrid ? protocol.make_grid_config : protocol.make_config;
  }
  std::vector<std::vector<ProtocolConfig>> configs;
  for (const NodeSpec& node : scenario.nodes) {
    std::vector<ProtocolConfig>& own = configs.emplace_back();
    for (const uint16_t lock : node.locks) {
      own.push_back(
          make_config(std::string(protocol.table), scenario.locks[lock], node.id, node.lease));
    }
  }
  return configs;
}

}  // namespace

RetryPolicy RetryPolicyOf(const Scenario& scenario) {
  RetryPolicy policy = FindProtocol(scenario.protocol)->retry_policy;
  const std::optional<Duration> timeout = scenario.network.commit_timeout;
  if (timeout) policy.commit_timeout = std::min(policy.commit_timeout, *timeout);
  if (scenario.constants == Constants::kGrid) {
    Duration lease;
    for (const NodeSpec& node : scenario.nodes) lease = std::max(lease, node.lease);
    // So that instants stay on the grid. Without any pause, what Spanner refuses or the network loses
    // would be tried again for ever at one instant.
    const Backoff backoff = {.initial = lease / 4, .growth_percent = 100, .max = lease / 4};
    policy.aborted = policy.unary = policy.query = backoff;
  }
  return policy;
}

std::shared_ptr<const WorldSetup> MakeSetup(const Scenario& scenario, ConfigMaker make_config) {
  auto configs = ConfigsOf(scenario, make_config);
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
    if (fault.As<SessionLossFault>() != nullptr) {
      if (fault.node == FaultSpec::kLeader) {
        std::ranges::fill(loses_session, uint8_t{1});
      } else {
        loses_session[static_cast<size_t>(fault.node)] = 1;
      }
    }
    if (fault.As<TrueTimeFault>()) changes_truetime = true;
  }
  return std::make_shared<const WorldSetup>(
      WorldSetup{.scenario = scenario,
                 .configs = std::move(configs),
                 .applications = std::move(applications),
                 .retry_policy = RetryPolicyOf(scenario),
                 .session_policy = MultiplexedSessionPolicy(),
                 .loses_session = std::move(loses_session),
                 .changes_truetime = changes_truetime,
                 .catalogue = CatalogueOf(scenario, statements)});
}

}  // namespace whorl::sim
