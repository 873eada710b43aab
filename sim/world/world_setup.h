// Holds the part of a world that no event changes: the scenario, and what is made from it once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/client/session_pool.h"
#include "protocol/client/transaction_runner.h"
#include "protocol/protocol.h"
#include "sim/scenario/scenario.h"
#include "sim/world/application.h"
#include "spanner_model/catalogue.h"

namespace whorl::sim {

struct WorldSetup {
  Scenario scenario;
  std::vector<std::vector<ProtocolConfig>> configs;  // by node, by its place in NodeSpec::locks
  std::vector<ApplicationConfig> applications;       // by node
  RetryPolicy retry_policy;
  SessionPoolPolicy session_policy;
  std::vector<uint8_t> loses_session;  // by node: whether a fault may take its session away
  bool changes_truetime = false;       // whether a fault may change TrueTime
  std::shared_ptr<const model::Catalogue> catalogue;  // shared by all worlds with these statements
};
// The protocol's policy, with the scenario's own timeout of a Commit.
RetryPolicy RetryPolicyOf(const Scenario& scenario);
// Makes the configuration of a process's part in one lock: see ProtocolInfo::make_config.
using ConfigMaker = ProtocolConfig (*)(const std::string& table, std::string lock_name,
                                       std::string id, Duration lease);
// `make_config`: null for the protocol's own, with the scenario's constants. REQUIRES: the scenario came
// from the loader.
std::shared_ptr<const WorldSetup> MakeSetup(const Scenario& scenario,
                                            ConfigMaker make_config = nullptr);

}  // namespace whorl::sim
