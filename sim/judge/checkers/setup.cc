#include "sim/judge/checkers/setup.h"

#include <algorithm>
#include <cstdlib>

#include "sim/scenario/assumptions.h"

namespace whorl::sim {
namespace {

NodeSetup MakeNode(const NodeSpec& spec, const Rules& rules, size_t lock_count) {
  NodeSetup node{.name = spec.name,
                 .lease = rules.lease_used(spec.lease),
                 .locks = spec.locks,
                 .use = spec.use};
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

std::vector<PromiseLimit> LimitsIn(const Scenario& scenario) {
  std::vector<PromiseLimit> limits;
  for (const PromiseLimit& limit : FindProtocol(scenario.protocol)->promise_limits) {
    if (Has(scenario, limit.circumstance)) limits.push_back(limit);
  }
  return limits;
}

// How long a duration may last that a process measures, and its peers began to measure before: one clock is slow and
// the other one is fast.
Duration BySlowestClock(Duration duration, int64_t rate_ppm) {
  constexpr int64_t kMillion = 1'000'000;
  const int64_t ms = duration.ns / 1'000'000 + 1;
  return Milliseconds(ms * (kMillion + rate_ppm) / (kMillion - rate_ppm) + 1);
}

template <typename Counts>
std::array<Promise, kCountOf<Invariant>> PromisesBut(const Scenario& scenario,
                                                     const Counts& counts) {
  std::array<Promise, kCountOf<Invariant>> promises = FindProtocol(scenario.protocol)->promises;
  for (const PromiseLimit& limit : LimitsIn(scenario)) {
    if (counts(limit)) promises[static_cast<size_t>(limit.invariant)] = Promise::kNotPromised;
  }
  return promises;
}

// The greatest error of CURRENT_TIMESTAMP that no observation tells of.
Duration CurrentTimestampErrorOf(const Scenario& scenario) {
  Duration greatest = {std::abs(scenario.spanner.current_timestamp_error.ns)};
  for (const ScheduleEntry& entry : scenario.schedule) {
    const Duration error = entry.clocks.current_timestamp.value_or(Duration{});
    greatest = std::max(greatest, {std::abs(error.ns)});
  }
  return greatest;
}

}  // namespace

std::array<Promise, kCountOf<Invariant>> PromisesIn(const Scenario& scenario) {
  return PromisesBut(
      scenario, [](const PromiseLimit& limit) { return limit.void_for == VoidFor::kWholeRun; });
}

std::array<Promise, kCountOf<Invariant>> PromisesThroughout(const Scenario& scenario) {
  return PromisesBut(scenario, [](const PromiseLimit&) { return true; });
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
  setup.limits = LimitsIn(scenario);
  setup.current_timestamp_error = CurrentTimestampErrorOf(scenario);
  setup.round_trip_p999 = round_trip_p999;
  setup.least_lead_percent = setup.rules->least_lead_percent;
  // The margins of a coarse grid are a quarter of the lease, or two.
  constexpr int64_t kLeastOnGrid = 50;
  if (setup.least_lead_percent && scenario.constants == Constants::kGrid) {
    setup.least_lead_percent = std::min(*setup.least_lead_percent, kLeastOnGrid);
  }
  setup.announces_releases =
      scenario.network.announce_releases && FindProtocol(scenario.protocol)->announces_releases;
  for (const FaultSpec& fault : scenario.faults) {
    const bool is_orderly = fault.As<StopFault>() != nullptr || fault.As<StartFault>() != nullptr;
    setup.orderly_faults.push_back(is_orderly ? 1 : 0);
  }
  for (const NodeSpec& node : scenario.nodes) {
    setup.nodes.push_back(MakeNode(node, *setup.rules, scenario.locks.size()));
  }
  std::vector<Duration> greatest_lease(scenario.locks.size());
  std::vector<Duration> difference(scenario.locks.size());
  for (size_t lock = 0; lock < scenario.locks.size(); ++lock) {
    Duration least = Duration::Max();
    for (const NodeSetup& node : setup.nodes) {
      if (std::ranges::find(node.locks, lock) == node.locks.end()) continue;
      greatest_lease[lock] = std::max(greatest_lease[lock], node.lease);
      least = std::min(least, node.lease);
    }
    if (least <= greatest_lease[lock]) difference[lock] = greatest_lease[lock] - least;
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
         .wedge_bound = setup.rules->wedge_bound(greatest_lease[lock], round_trip_p999),
         .longest_lease = BySlowestClock(greatest_lease[lock],
                                         RateAssumedBy(scenario.protocol, scenario.constants)),
         .lease_difference = difference[lock]});
  }
  return setup;
}

}  // namespace whorl::sim
