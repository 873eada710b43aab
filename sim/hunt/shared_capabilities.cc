#include "sim/hunt/shared_capabilities.h"

#include <string_view>

#include "sim/scenario/fault_checks.h"
#include "sim/world/mix.h"

namespace whorl::sim {
namespace {

void Restrict(Assumptions& may, const Assumptions& other) {
  may.rate_ppm_max = std::min(may.rate_ppm_max, other.rate_ppm_max);
  may.grid_rate_ppm_max = std::min(may.grid_rate_ppm_max, other.grid_rate_ppm_max);
  may.wall_clock_error_max = std::min(may.wall_clock_error_max, other.wall_clock_error_max);
  may.current_timestamp_max = std::min(may.current_timestamp_max, other.current_timestamp_max);
  may.truetime_may_lie &= other.truetime_may_lie;
  may.clocks_may_stand &= other.clocks_may_stand;
  may.ids_may_be_shared &= other.ids_may_be_shared;
  may.rows_may_be_deleted &= other.rows_may_be_deleted;
  may.leases_may_differ &= other.leases_may_differ;
  may.lock_calls_max = std::min(may.lock_calls_max, other.lock_calls_max);
}

bool HaveOneTable(const ProtocolInfo& a, const ProtocolInfo& b) {
  const auto is_same = [](const ColumnInfo& x, const ColumnInfo& y) {
    return x.name == y.name && x.type == y.type && x.key == y.key;
  };
  return std::ranges::equal(a.columns, b.columns, is_same) && a.init_row == b.init_row;
}

}  // namespace

SharedCapabilities::SharedCapabilities(std::span<const ProtocolInfo* const> named) {
  for (const ProtocolInfo& info : Protocols()) {
    if (std::ranges::find(named, &info) != named.end()) protocols.push_back(&info);
  }
  const ProtocolInfo& first = *protocols.front();
  may = AssumptionsOf(first.name);
  steps.assign(first.steps.begin(), first.steps.end());
  for (const ProtocolInfo* protocol : protocols) {
    Restrict(may, AssumptionsOf(protocol->name));
    std::erase_if(steps, [protocol](StepName step) {
      return std::ranges::find(protocol->steps, step) == protocol->steps.end();
    });
    lease_min = std::max(lease_min, protocol->lease_min);
    lease_max = std::min(lease_max, protocol->lease_max);
    takes_one_lock |= protocol->takes_one_lock;
    has_blocking_wrapper &= protocol->has_blocking_wrapper;
    has_one_table &= HaveOneTable(*protocol, first);
  }
}

uint64_t SharedCapabilities::Hash() const {
  uint64_t hash = 0;
  for (const ProtocolInfo* protocol : protocols) {
    for (const char c : protocol->name) hash = Combine(hash, static_cast<unsigned char>(c));
  }
  return hash;
}

bool SharedCapabilities::ReachesPhase(StepName step, Phase phase) const {
  return std::ranges::all_of(protocols, [&](const ProtocolInfo* protocol) {
    return sim::ReachesPhase(*protocol, step, phase);
  });
}

}  // namespace whorl::sim
