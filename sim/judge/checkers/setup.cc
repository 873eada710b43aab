#include "sim/judge/checkers/setup.h"

#include <algorithm>

#include "sim/scenario/assumptions.h"

namespace whorl::sim {
namespace {

NodeSetup MakeNode(const NodeSpec& spec, const Rules& rules, size_t lock_count) {
  NodeSetup node{.name = spec.name, .lease = rules.lease_used(spec.lease), .locks = spec.locks};
  if (node.locks.empty()) {
    for (size_t lock = 0; lock < lock_count; ++lock) {
      node.locks.push_back(static_cast<uint16_t>(lock));
    }
  }
  return node;
}

// The lease that the row states; 0 if it states none.
Duration LeaseOf(const RowSpec& row, const Rules& rules) {
  if (!rules.lease_until.lease_ms) return {};
  const std::string_view column =
      FindProtocol(rules.protocol)->columns[*rules.lease_until.lease_ms].name;
  const auto found = std::ranges::find(row.columns, column);
  if (found == row.columns.end()) return {};
  const auto* ms =
      std::get_if<int64_t>(&row.values[static_cast<size_t>(found - row.columns.begin())]);
  return ms == nullptr ? Duration{} : Milliseconds(*ms);
}

}  // namespace

std::array<Promise, kCountOf<Invariant>> PromisesIn(const Scenario& scenario) {
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  std::array<Promise, kCountOf<Invariant>> promises = protocol.promises;
  for (const PromiseLimit& limit : protocol.promise_limits) {
    if (!Has(scenario, limit.circumstance)) continue;
    promises[static_cast<size_t>(limit.invariant)] = Promise::kNotPromised;
  }
  return promises;
}

std::optional<uint16_t> CheckerSetup::FindLock(std::string_view name) const {
  const auto found = lock_of_name.find(name);
  if (found == lock_of_name.end()) return std::nullopt;
  return found->second;
}

std::optional<uint16_t> CheckerSetup::LockOfRow(const Row& row) const {
  const Value& key = row[rules->key_column];
  // There is more than one lock only in protocols whose keys are the locks' names.
  if (const auto* name = std::get_if<std::string>(&key)) return FindLock(*name);
  const auto found = std::ranges::find(locks, key, &LockSetup::key);
  if (found == locks.end()) return std::nullopt;
  return static_cast<uint16_t>(found - locks.begin());
}

std::string CheckerSetup::NameOf(ProcessId process) const {
  if (process == ProcessId{}) return "nobody";
  const std::string& name = Node(process.node).name;
  if (process.incarnation <= 1) return name;
  return name + "#" + std::to_string(process.incarnation);
}

CheckerSetup MakeCheckerSetup(const Scenario& scenario, Duration round_trip_p999) {
  CheckerSetup setup;
  setup.rules = &RulesOf(scenario.protocol);
  setup.promises = PromisesIn(scenario);
  for (const NodeSpec& node : scenario.nodes) {
    setup.nodes.push_back(MakeNode(node, *setup.rules, scenario.locks.size()));
  }
  std::vector<Duration> greatest_lease(scenario.locks.size());
  for (const NodeSetup& node : setup.nodes) {
    for (const uint16_t lock : node.locks) {
      greatest_lease[lock] = std::max(greatest_lease[lock], node.lease);
    }
  }
  // Processes wait out the lease of the process that wrote a row, even if no process here has one as long.
  for (const RowSpec& row : scenario.rows) {
    for (Duration& greatest : greatest_lease) {
      greatest = std::max(greatest, LeaseOf(row, *setup.rules));
    }
  }
  for (size_t lock = 0; lock < scenario.locks.size(); ++lock) {
    setup.lock_of_name.emplace(scenario.locks[lock], static_cast<uint16_t>(lock));
    setup.locks.push_back(
        {.name = scenario.locks[lock],
         .key = setup.rules->row_key(scenario.locks[lock]),
         .wedge_bound = setup.rules->wedge_bound(greatest_lease[lock], round_trip_p999)});
  }
  return setup;
}

}  // namespace whorl::sim
