#include "sim/explore/bounds.h"

#include <algorithm>

#include "protocol/protocols.h"
#include "sim/world/node_clock.h"

namespace whorl::sim {
namespace {

// A scenario needs an end; this one is so late that no run of a search reaches it.
constexpr Duration kWithoutHorizon = Seconds(int64_t{365} * 86'400);

}  // namespace

std::optional<int64_t> SlowRate(int64_t fast_ppm) {
  constexpr int64_t kMillion = 1'000'000;
  const int64_t fast = kMillion + fast_ppm;
  if (kMillion * kMillion % fast != 0) return std::nullopt;
  return kMillion * kMillion / fast - kMillion;
}

Duration MemoryOf(const Scenario& scenario, const ExploreBounds& bounds) {
  Duration lease;
  for (const NodeSpec& node : scenario.nodes) lease = std::max(lease, node.lease);
  const Duration of_losses =
      scenario.network.connection_timeout * std::max(0, bounds.faults.losses - 1);
  const int64_t held_still = bounds.faults.pauses + bounds.faults.standing_clocks;
  const Duration of_clocks = lease * FindProtocol(scenario.protocol)->state_traits.memory_leases +
                             bounds.longest_pause * held_still + of_losses +
                             bounds.grid * bounds.delay * 2;
  // The true time in which a slow clock moves by of_clocks.
  const Duration of_protocols = clock_internal::ToLocal(of_clocks, bounds.clocks.rate_ppm);
  const Duration of_others = scenario.network.connection_timeout + bounds.grid;
  return std::max(of_protocols, of_others);
}

Scenario ScenarioToExplore(const ExploreWorld& world, const ExploreBounds& bounds) {
  const ProtocolInfo& protocol = *FindProtocol(world.protocol);
  Scenario scenario;
  scenario.name = "explored";
  scenario.about = "explored";
  scenario.protocol = world.protocol;
  scenario.constants = world.grid_constants ? Constants::kGrid : Constants::kShipped;
  for (int i = 0; i < world.locks; ++i) {
    scenario.locks.push_back(i == 0 ? "lock" : "lock" + std::to_string(i + 1));
  }
  for (int i = 0; i < world.processes; ++i) {
    NodeSpec node;
    node.name = std::string(1, static_cast<char>('a' + i));
    for (int lock = 0; lock < world.locks; ++lock) {
      node.locks.push_back(static_cast<uint16_t>(lock));
    }
    node.lease = world.lease;
    node.use = world.use;
    node.deadline = world.deadline;
    scenario.nodes.push_back(std::move(node));
  }
  if (!protocol.init_row.empty()) {
    RowSpec row;
    row.values = protocol.init_row;
    for (const ColumnInfo& column : protocol.columns) row.columns.emplace_back(column.name);
    scenario.rows.push_back(std::move(row));
  }
  scenario.duration = bounds.horizon.value_or(kWithoutHorizon);
  scenario.spanner.preset = Preset::kNone;
  scenario.spanner.strict_pending_commit_timestamp = world.strict_pending_commit_timestamp;
  scenario.spanner.truetime.epsilon = bounds.clocks.truetime;
  scenario.spanner.current_timestamp_error = bounds.clocks.current_timestamp;
  scenario.network.connection_timeout = world.lease;
  scenario.network.announce_releases = world.announces_releases;
  scenario.network.commit_timeout = world.commit_timeout;
  // A leader writes once in a lease, and its work takes no time: the search is about the protocol's
  // steps, not about the application between them.
  scenario.workload.write_every = world.lease;
  scenario.workload.work_for = {};
  scenario.workload.hold_for = world.hold_for;
  scenario.workload.lock_again = world.lock_again;
  scenario.workload.resource =
      protocol.has_tokens ? ResourceKind::kFenced : ResourceKind::kUnfenced;
  return scenario;
}

}  // namespace whorl::sim
