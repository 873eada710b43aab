#include "sim/scenario/assumptions.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <set>
#include <utility>

namespace whorl::sim {
namespace {

constexpr Duration kHour = Seconds(3600);

struct Entry {
  std::string_view protocol;
  Assumptions assumptions;
};

// Taken from the protocols' own descriptions: what each compares, and by which clock.
constexpr std::array<Entry, 5> kBuiltIn = {{
    // Its promises are about commit timestamps of one split, so no other clock matters.
    {"spindle_v2",
     {.wall_clock_error_max = kHour,
      .current_timestamp_max = kHour,
      .clocks_may_stand = true,
      .ids_may_be_shared = true,
      .rows_may_be_deleted = true,
      .leases_may_differ = true,
      .lock_calls_max = 32}},
    // A lease expires by CURRENT_TIMESTAMP, so its no_wedge depends on that clock.
    {"spindle_v3",
     {.wall_clock_error_max = kHour,
      .current_timestamp_max = Milliseconds(100),
      .clocks_may_stand = true,
      .leases_may_differ = true}},
    // Each process judges every lease by its own timeout.
    {"semaphore",
     {.wall_clock_error_max = kHour, .current_timestamp_max = {}, .clocks_may_stand = true}},
    // The wall clocks of two nodes may differ by less than the protocol's grace of 5 s.
    {"lease_lock",
     {.wall_clock_error_max = Seconds(2),
      .current_timestamp_max = kHour,
      .leases_may_differ = true}},
    {"fenced_lease",
     {.grid_rate_ppm_max = 250'000,
      .wall_clock_error_max = kHour,
      .current_timestamp_max = kHour,
      .clocks_may_stand = true,
      .ids_may_be_shared = true,
      .rows_may_be_deleted = true,
      .leases_may_differ = true}},
}};

// A deque, because references to its elements stay valid when another one is added.
std::deque<Entry>& Entries() {
  static std::deque<Entry> entries(kBuiltIn.begin(), kBuiltIn.end());
  return entries;
}

template <typename Fault>
bool HasFault(const Scenario& scenario) {
  return std::ranges::any_of(scenario.faults,
                             [](const FaultSpec& fault) { return fault.As<Fault>() != nullptr; });
}

bool OperatorWrites(const Scenario& scenario) {
  return std::ranges::any_of(
      scenario.faults, [](const FaultSpec& fault) { return TargetOf(fault.what) != nullptr; });
}

bool StartsAgainWithItsId(const Scenario& scenario, const FaultSpec& fault) {
  if (!RestartAfterOf(fault.what) && fault.As<StartFault>() == nullptr) return false;
  if (fault.node >= 0) return !scenario.nodes[static_cast<size_t>(fault.node)].id.empty();
  return std::ranges::any_of(scenario.nodes, [](const NodeSpec& node) { return !node.id.empty(); });
}

bool LeasesDiffer(const Scenario& scenario) {
  return std::ranges::any_of(scenario.nodes, [&](const NodeSpec& node) {
    return node.lease != scenario.nodes.front().lease;
  });
}

bool NodesShareAnId(const Scenario& scenario) {
  std::set<std::string_view> ids;
  return std::ranges::any_of(scenario.nodes, [&ids](const NodeSpec& node) {
    return !node.id.empty() && !ids.insert(node.id).second;
  });
}

bool IsBeyond(Duration error, Duration max) { return error > max || error < -max; }

class Judge {
 public:
  Judge(const Scenario& scenario, int64_t rate_ppm_max)
      : scenario_(scenario), may_(AssumptionsOf(scenario.protocol)) {
    may_.rate_ppm_max =
        rate_ppm_max != 0 ? rate_ppm_max : RateAssumedBy(scenario.protocol, scenario.constants);
  }

  std::vector<std::string> Judged() && {
    JudgeSpanner();
    for (size_t node = 0; node < scenario_.nodes.size(); ++node) {
      JudgeClock(scenario_.nodes[node], static_cast<int16_t>(node));
    }
    JudgeLeases();
    JudgeIds();
    for (const FaultSpec& fault : scenario_.faults) JudgeFault(fault);
    return std::move(broken_);
  }

 private:
  void Add(bool is_broken, std::string_view what) {
    if (!is_broken || std::ranges::find(broken_, what) != broken_.end()) return;
    broken_.emplace_back(what);
  }

  void JudgeTrueTime(const TrueTimeSpec& truetime) {
    Add(!truetime.truthful && !may_.truetime_may_lie, "TrueTime lies");
  }
  void JudgeCurrentTimestamp(Duration error) {
    Add(IsBeyond(error, may_.current_timestamp_max), WordOf(Circumstance::kCurrentTimestampOff));
  }
  void JudgeSpanner() {
    JudgeTrueTime(scenario_.spanner.truetime);
    JudgeCurrentTimestamp(scenario_.spanner.current_timestamp_error);
    for (const ScheduleEntry& entry : scenario_.schedule) {
      JudgeCurrentTimestamp(entry.clocks.current_timestamp.value_or(Duration{}));
    }
  }

  // The worst case: all steps of the clock add up.
  void JudgeClock(const NodeSpec& node, int16_t index) {
    Duration worst = {std::abs(node.clock.offset.ns)};
    int64_t rate = std::abs(node.clock.rate_ppm);
    Duration steps;
    for (const FaultSpec& fault : scenario_.faults) {
      const auto* clock = fault.As<ClockFault>();
      if (clock == nullptr || fault.node != index) continue;
      if (clock->offset) worst = std::max(worst, {std::abs(clock->offset->ns)});
      if (clock->step) steps += {std::abs(clock->step->ns)};
      if (clock->rate_ppm) rate = std::max(rate, std::abs(*clock->rate_ppm));
    }
    Add(IsBeyond(worst + steps, may_.wall_clock_error_max), "a node's wall clock is wrong");
    Add(rate > may_.rate_ppm_max, "a node's clocks run faster or slower than assumed");
  }

  void JudgeLeases() {
    Add(LeasesDiffer(scenario_) && !may_.leases_may_differ, WordOf(Circumstance::kLeasesDiffer));
  }

  void JudgeIds() {
    Add(NodesShareAnId(scenario_) && !may_.ids_may_be_shared, WordOf(Circumstance::kIdsShared));
  }

  void JudgeFault(const FaultSpec& fault) {
    if (const auto* set = fault.As<TrueTimeFault>()) JudgeTrueTime(set->truetime);
    if (const auto* set = fault.As<CurrentTimestampFault>()) JudgeCurrentTimestamp(set->error);
    const auto* error = fault.As<ErrorFault>();
    Add(error != nullptr && error->impossible, "Spanner answers what it never answers");
    const auto* clock = fault.As<ClockFault>();
    Add(clock != nullptr && clock->stands && !may_.clocks_may_stand,
        WordOf(Circumstance::kClockStands));
    Add(TargetOf(fault.what) != nullptr && !may_.rows_may_be_deleted,
        WordOf(Circumstance::kOperatorWrites));
  }

  const Scenario& scenario_;
  Assumptions may_;
  std::vector<std::string> broken_;
};

}  // namespace

bool Has(const Scenario& scenario, Circumstance circumstance) {
  switch (circumstance) {
    case Circumstance::kOperatorWrites:
      return OperatorWrites(scenario);
    case Circumstance::kOperatorWritesAmongLeases:
      return OperatorWrites(scenario) && LeasesDiffer(scenario);
    case Circumstance::kRowEmptied:
      return HasFault<EmptyRowFault>(scenario);
    case Circumstance::kRowReleased:
      return HasFault<ReleaseRowFault>(scenario);
    case Circumstance::kLeasesDiffer:
      return LeasesDiffer(scenario);
    case Circumstance::kIdsShared:
      return NodesShareAnId(scenario);
    case Circumstance::kIdsOutliveRestarts:
      return std::ranges::any_of(scenario.faults, [&scenario](const FaultSpec& fault) {
        return StartsAgainWithItsId(scenario, fault);
      });
    case Circumstance::kCurrentTimestampOff:
      return scenario.spanner.current_timestamp_error != Duration() ||
             HasFault<CurrentTimestampFault>(scenario) ||
             std::ranges::any_of(scenario.schedule, [](const ScheduleEntry& entry) {
               return entry.clocks.current_timestamp.value_or(Duration{}) != Duration{};
             });
    case Circumstance::kClockStands:
      return std::ranges::any_of(scenario.faults, [](const FaultSpec& fault) {
        const auto* clock = fault.As<ClockFault>();
        return clock != nullptr && clock->stands;
      });
    case Circumstance::kSeveralSplits:
      return !scenario.spanner.splits.empty();
  }
  std::abort();
}

const Assumptions& AssumptionsOf(std::string_view protocol) {
  static constexpr Assumptions kNone;
  for (const Entry& entry : Entries()) {
    if (entry.protocol == protocol) return entry.assumptions;
  }
  return kNone;
}

void AddAssumptions(std::string_view protocol, const Assumptions& assumptions) {
  Entries().push_back({protocol, assumptions});
}

int64_t RateAssumedBy(std::string_view protocol, Constants constants) {
  const Assumptions& assumptions = AssumptionsOf(protocol);
  if (constants == Constants::kShipped) return assumptions.rate_ppm_max;
  return std::max(assumptions.rate_ppm_max, assumptions.grid_rate_ppm_max);
}

std::vector<std::string> BrokenAssumptions(const Scenario& scenario, int64_t rate_ppm_max) {
  return Judge(scenario, rate_ppm_max).Judged();
}

}  // namespace whorl::sim
