#include "sim/hunt/shrink.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <variant>

#include "protocol/protocols.h"
#include "sim/hunt/shared_capabilities.h"
#include "sim/hunt/world_generator.h"
#include "sim/scenario/fault_checks.h"
#include "sim/world/draws.h"

namespace whorl::sim {

namespace {

class Offers {
 public:
  explicit Offers(const Scenario& scenario) : scenario_(scenario) {}

  // Adds the scenario after `change`, if that changed it and the result loads.
  template <typename Change>
  void Offer(const Change& change) {
    Scenario smaller = scenario_;
    change(smaller);
    if (smaller == scenario_ || smaller.nodes.empty()) return;
    const bool starts_in_time = std::ranges::all_of(smaller.nodes, [&](const NodeSpec& node) {
      return !node.start_at || Duration{node.start_at->ns} < smaller.duration;
    });
    if (starts_in_time && FaultsArePossible(smaller) && ScheduleIsPossible(smaller))
      offers_.push_back(std::move(smaller));
  }

  std::vector<Scenario> Take() && { return std::move(offers_); }

 private:
  const Scenario& scenario_;
  std::vector<Scenario> offers_;
};

// --- parts -------------------------------------------------------------------------------------

// Adjusts an index into a list from which entry `gone` was removed.
template <typename Index>
void CloseGap(Index& index, size_t gone) {
  if (static_cast<ptrdiff_t>(index) > static_cast<ptrdiff_t>(gone)) --index;
}

template <typename Wanted>
void TakeOutFaults(Scenario& scenario, const Wanted& wanted) {
  for (size_t i = scenario.faults.size(); i-- > 0;) {
    if (wanted(scenario.faults[i])) TakeOutFault(scenario, i);
  }
}

// Calls offer(first, last) for parts of a list of `count`: all of it, halves, quarters and so on.
template <typename OfferPart>
void ForEachPart(size_t count, const OfferPart& offer) {
  for (size_t length = count; length > 0; length /= 2) {
    for (size_t first = 0; first < count; first += length) {
      offer(first, std::min(first + length, count));
    }
  }
}

void OfferWithoutFaults(const Scenario& scenario, Offers& offers) {
  ForEachPart(scenario.faults.size(), [&](size_t first, size_t last) {
    offers.Offer([&](Scenario& smaller) {
      for (size_t i = last; i-- > first;) TakeOutFault(smaller, i);
    });
  });
}

// A fault whose beginning is left out is left out, too.
void OfferWithoutEntries(const Scenario& scenario, Offers& offers) {
  ForEachPart(scenario.schedule.size(), [&](size_t first, size_t last) {
    offers.Offer([&](Scenario& smaller) {
      const std::vector<bool> before = FaultsOfSchedule(smaller);
      smaller.schedule.erase(smaller.schedule.begin() + static_cast<ptrdiff_t>(first),
                             smaller.schedule.begin() + static_cast<ptrdiff_t>(last));
      std::vector<bool> after = FaultsOfSchedule(smaller);
      after.resize(before.size());  // empty without a schedule
      for (size_t i = before.size(); i-- > 0;) {
        if (before[i] && !after[i]) TakeOutFault(smaller, i);
      }
    });
  });
}

void OfferWithoutBranches(const Scenario& scenario, Offers& offers) {
  ForEachPart(scenario.branches.size(), [&](size_t first, size_t last) {
    offers.Offer([&](Scenario& smaller) {
      smaller.branches.erase(smaller.branches.begin() + static_cast<ptrdiff_t>(first),
                             smaller.branches.begin() + static_cast<ptrdiff_t>(last));
    });
  });
}

void TakeOutNode(Scenario& scenario, size_t gone) {
  const auto meets = [&](const FaultSpec& fault) {
    const When* when = std::get_if<When>(&fault.trigger);
    const auto node = static_cast<int16_t>(gone);
    return fault.node == node || (when != nullptr && when->node == node);
  };
  TakeOutFaults(scenario, meets);
  std::erase_if(scenario.schedule, [&](const ScheduleEntry& entry) {
    return entry.node == static_cast<int16_t>(gone);
  });
  for (ScheduleEntry& entry : scenario.schedule) {
    if (entry.node) CloseGap(*entry.node, gone);
  }
  scenario.nodes.erase(scenario.nodes.begin() + static_cast<ptrdiff_t>(gone));
  for (FaultSpec& fault : scenario.faults) {
    CloseGap(fault.node, gone);
    if (When* when = std::get_if<When>(&fault.trigger)) CloseGap(when->node, gone);
  }
}

void TakeOutLock(Scenario& scenario, size_t gone) {
  const auto lock = static_cast<uint16_t>(gone);
  TakeOutFaults(scenario, [&](const FaultSpec& fault) {
    const When* when = std::get_if<When>(&fault.trigger);
    const RowOfLock* target = TargetOf(fault.what);
    return (target != nullptr && target->lock == lock) || (when != nullptr && when->lock == lock);
  });
  std::erase_if(scenario.schedule, [&](const ScheduleEntry& entry) { return entry.lock == lock; });
  for (ScheduleEntry& entry : scenario.schedule) {
    if (entry.lock) CloseGap(*entry.lock, gone);
  }
  for (FaultSpec& fault : scenario.faults) {
    if (RowOfLock* target = TargetOf(fault.what)) CloseGap(target->lock, gone);
    When* when = std::get_if<When>(&fault.trigger);
    if (when != nullptr && when->lock) CloseGap(*when->lock, gone);
  }
  for (size_t node = scenario.nodes.size(); node-- > 0;) {
    std::vector<uint16_t>& locks = scenario.nodes[node].locks;
    std::erase(locks, lock);
    for (uint16_t& other : locks) CloseGap(other, gone);
    if (locks.empty()) TakeOutNode(scenario, node);
  }
  scenario.locks.erase(scenario.locks.begin() + static_cast<ptrdiff_t>(gone));
}

// Offers a node that starts by itself in place of one that a fault starts.
void OfferStartedAtOnce(size_t node, Offers& offers) {
  offers.Offer([&](Scenario& smaller) {
    smaller.nodes[node].start_at = Instant{};
    TakeOutFaults(smaller, [&](const FaultSpec& fault) {
      return fault.As<StartFault>() != nullptr && fault.node == static_cast<int16_t>(node);
    });
  });
}

void OfferWithoutNodesAndLocks(const Scenario& scenario, Offers& offers) {
  for (size_t node = scenario.nodes.size(); node-- > 0;) {
    offers.Offer([&](Scenario& smaller) { TakeOutNode(smaller, node); });
  }
  for (size_t node = 0; node < scenario.nodes.size(); ++node) {
    if (!scenario.nodes[node].start_at) OfferStartedAtOnce(node, offers);
  }
  if (scenario.locks.size() > 1) {
    for (size_t lock = scenario.locks.size(); lock-- > 0;) {
      offers.Offer([&](Scenario& smaller) { TakeOutLock(smaller, lock); });
    }
  }
  for (size_t node = 0; node < scenario.nodes.size(); ++node) {
    for (size_t i = 0; scenario.nodes[node].locks.size() > 1 && i < scenario.locks.size(); ++i) {
      offers.Offer([&](Scenario& smaller) {
        std::erase(smaller.nodes[node].locks, static_cast<uint16_t>(i));
      });
    }
  }
  for (size_t row = scenario.rows.size(); row-- > 0;) {
    offers.Offer([&](Scenario& smaller) {
      smaller.rows.erase(smaller.rows.begin() + static_cast<ptrdiff_t>(row));
    });
  }
}

// --- numbers -----------------------------------------------------------------------------------

// Numbers less than `value`: half of it, and `value` in coarser units.
std::vector<Duration> Lesser(Duration value, Duration least) {
  std::vector<Duration> lesser;
  const auto add = [&](Duration candidate) {
    if (candidate < value && candidate >= least) lesser.push_back(candidate);
  };
  for (const Duration unit :
       {Seconds(10), Seconds(1), Milliseconds(100), Milliseconds(10), Milliseconds(1)}) {
    const Duration half = value / 2;
    if (half >= unit) {
      add({half.ns / unit.ns * unit.ns});
      break;
    }
  }
  for (const Duration unit : {Seconds(10), Seconds(1), Milliseconds(100), Milliseconds(10)}) {
    add({value.ns / unit.ns * unit.ns});
  }
  return lesser;
}

void OfferShorter(const Scenario& scenario, Offers& offers) {
  std::vector<Duration> shorter = Lesser(scenario.duration, Seconds(1));
  for (const int64_t eighths : {6, 7}) shorter.push_back(scenario.duration * eighths / 8);
  shorter.push_back(scenario.duration - Seconds(1));
  for (const Duration duration : shorter) {
    if (duration < Seconds(1) || duration.ns % Seconds(1).ns != 0) continue;
    offers.Offer([&](Scenario& smaller) { smaller.duration = duration; });
  }
}

// `field` returns a reference to a part of a scenario.
template <typename Field, typename T>
void OfferDefault(Offers& offers, const Field& field, const T& otherwise) {
  offers.Offer([&](Scenario& smaller) { field(smaller) = otherwise; });
}
template <typename Field>
void OfferLesser(const Scenario& scenario, Offers& offers, const Field& field, Duration least) {
  Scenario copy = scenario;
  for (const Duration lesser : Lesser(field(copy), least)) {
    offers.Offer([&](Scenario& smaller) { field(smaller) = lesser; });
  }
}

void OfferPlainerWorld(Offers& offers) {
  const Scenario defaults;
  OfferDefault(offers, [](Scenario& s) -> auto& { return s.spanner; }, defaults.spanner);
  OfferDefault(offers, [](Scenario& s) -> auto& { return s.spanner.preset; }, Preset::kRegional);
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.spanner.truetime; }, defaults.spanner.truetime);
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.spanner.current_timestamp_error; }, Duration{});
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.spanner.strict_pending_commit_timestamp; },
      defaults.spanner.strict_pending_commit_timestamp);
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.spanner.default_isolation; },
      defaults.spanner.default_isolation);
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.spanner.splits; }, defaults.spanner.splits);
  OfferDefault(offers, [](Scenario& s) -> auto& { return s.network; }, defaults.network);
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.network.announce_releases; },
      defaults.network.announce_releases);
  OfferDefault(offers, [](Scenario& s) -> auto& { return s.workload; }, defaults.workload);
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.workload.write_every; },
      defaults.workload.write_every);
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.workload.work_for; }, defaults.workload.work_for);
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.workload.stop_takes; },
      defaults.workload.stop_takes);
  OfferDefault(offers, [](Scenario& s) -> auto& { return s.workload.ask; }, defaults.workload.ask);
  OfferDefault(
      offers, [](Scenario& s) -> auto& { return s.workload.ask_every; },
      defaults.workload.ask_every);
  OfferDefault(offers, [](Scenario& s) -> auto& { return s.workload.hold_for; }, std::nullopt);
  OfferDefault(offers, [](Scenario& s) -> auto& { return s.workload.lock_again; }, std::nullopt);
}

void OfferPlainerNode(const Scenario& scenario, size_t index, Offers& offers) {
  const NodeSpec defaults;
  const auto node = [index](Scenario& s) -> NodeSpec& { return s.nodes[index]; };
  OfferDefault(offers, [&](Scenario& s) -> auto& { return node(s).id; }, std::string());
  OfferDefault(offers, [&](Scenario& s) -> auto& { return node(s).deadline; }, std::nullopt);
  OfferDefault(offers, [&](Scenario& s) -> auto& { return node(s).use; }, defaults.use);
  OfferDefault(offers, [&](Scenario& s) -> auto& { return node(s).clock; }, defaults.clock);
  OfferDefault(offers, [&](Scenario& s) -> auto& { return node(s).clock.offset; }, Duration{});
  OfferDefault(offers, [&](Scenario& s) -> auto& { return node(s).clock.rate_ppm; }, 0);
  if (scenario.nodes[index].start_at) {
    OfferDefault(offers, [&](Scenario& s) -> auto& { return *node(s).start_at; }, Instant{});
    for (const Duration at : Lesser({scenario.nodes[index].start_at->ns}, Milliseconds(10))) {
      offers.Offer([&](Scenario& smaller) { smaller.nodes[index].start_at = Instant{at.ns}; });
    }
  }
  if (scenario.nodes[index].deadline) {
    OfferLesser(
        scenario, offers, [&](Scenario& s) -> auto& { return *node(s).deadline; },
        Milliseconds(100));
  }
}

// Offers one lease for all nodes, and a shorter one.
void OfferPlainerLeases(const Scenario& scenario, Offers& offers) {
  const auto set_all = [](Scenario& smaller, Duration lease) {
    for (NodeSpec& node : smaller.nodes) node.lease = lease;
  };
  const auto [least, greatest] =
      std::ranges::minmax(scenario.nodes, {}, [](const NodeSpec& node) { return node.lease; });
  if (least.lease != greatest.lease) {
    offers.Offer([&](Scenario& smaller) { set_all(smaller, least.lease); });
    for (size_t i = 0; i < scenario.nodes.size(); ++i) {
      OfferLesser(
          scenario, offers, [&](Scenario& s) -> auto& { return s.nodes[i].lease; },
          std::max(Seconds(1), FindProtocol(scenario.protocol)->lease_min));
    }
    return;
  }
  const Duration floor = std::max(Seconds(1), FindProtocol(scenario.protocol)->lease_min);
  for (const Duration lesser : Lesser(least.lease, floor)) {
    offers.Offer([&](Scenario& smaller) { set_all(smaller, lesser); });
  }
}

void OfferPlainerTrigger(const Scenario& scenario, size_t index, Offers& offers) {
  const auto& trigger = scenario.faults[index].trigger;
  if (const Instant* at = std::get_if<Instant>(&trigger)) {
    for (const Duration lesser : Lesser({at->ns}, Duration{})) {
      offers.Offer([&](Scenario& smaller) { smaller.faults[index].trigger = Instant{lesser.ns}; });
    }
    return;
  }
  const When& when = std::get<When>(trigger);
  for (const int64_t count : {int64_t{1}, when.count / 2, when.count - 1}) {
    if (count < 1 || count >= when.count) continue;
    offers.Offer(
        [&](Scenario& smaller) { std::get<When>(smaller.faults[index].trigger).count = count; });
  }
  offers.Offer([&](Scenario& smaller) {
    std::get<When>(smaller.faults[index].trigger).lock = std::nullopt;
  });
}

// `field` gives a reference to a part of a fault of this kind.
template <typename Kind, typename Field>
auto OfFault(size_t index, const Field& field) {
  return
      [index, field](Scenario& s) -> auto& { return field(std::get<Kind>(s.faults[index].what)); };
}

template <typename Kind>
void OfferPlainerDelay(const DelaySpec& add, size_t index, Offers& offers) {
  const auto field = OfFault<Kind>(index, [](auto& fault) -> auto& { return fault.add; });
  const Duration max = add.max;
  OfferDefault(offers, field, DelaySpec{.min = max, .p50 = max, .p99 = max, .max = max});
  if (add.min != max) return;
  for (const Duration lesser : Lesser(max, Milliseconds(1))) {
    OfferDefault(offers, field,
                 DelaySpec{.min = lesser, .p50 = lesser, .p99 = lesser, .max = lesser});
  }
}

// The keys that a fault works without, or with less of.
template <typename Kind>
void OfferPlainerKeys(const Scenario& scenario, size_t index, const Kind& kind, Offers& offers) {
  [[maybe_unused]] const auto offer_default = [&](const auto& field) {
    const Kind defaults;
    OfferDefault(offers, OfFault<Kind>(index, field), field(defaults));
  };
  if constexpr (requires { kind.restart_after; }) {
    offer_default([](auto& fault) -> auto& { return fault.restart_after; });
  }
  if constexpr (requires { kind.percent; }) {
    offer_default([](auto& fault) -> auto& { return fault.percent; });
  }
  if constexpr (requires { kind.calls; }) {
    offer_default([](auto& fault) -> auto& { return fault.calls; });
  }
  if constexpr (requires { kind.mode; }) {
    offer_default([](auto& fault) -> auto& { return fault.mode; });
  }
  if constexpr (requires { kind.direction; }) {
    offer_default([](auto& fault) -> auto& { return fault.direction; });
  }
  if (const std::optional<Duration> lasts = LastsOf(kind)) {
    for (const Duration lesser : Lesser(*lasts, Milliseconds(10))) {
      offers.Offer([&](Scenario& smaller) { SetLasts(smaller.faults[index].what, lesser); });
    }
  }
  if constexpr (requires { kind.restart_after; }) {
    const auto field = [](auto& fault) -> auto& { return *fault.restart_after; };
    if (kind.restart_after) {
      OfferLesser(scenario, offers, OfFault<Kind>(index, field), Duration{});
    }
  }
  if constexpr (requires { kind.add; }) OfferPlainerDelay<Kind>(kind.add, index, offers);
}

void OfferPlainerFault(const Scenario& scenario, size_t index, Offers& offers) {
  const std::vector<bool> scheduled = FaultsOfSchedule(scenario);
  // When a fault of the schedule strikes stands there.
  if (scheduled.empty() || !scheduled[index]) OfferPlainerTrigger(scenario, index, offers);
  std::visit([&](const auto& kind) { OfferPlainerKeys(scenario, index, kind, offers); },
             scenario.faults[index].what);
}

// --- the search --------------------------------------------------------------------------------

using Keeps = std::function<bool(const Scenario&)>;
using Smaller = std::vector<Scenario> (*)(const Scenario&);

// Takes accepted candidates until a whole round of them is refused, or after `left` calls of
// `keeps`. After a step it continues at the same index, because candidates that were refused before
// are mostly refused again.
void Descend(Smaller smaller, const Keeps& keeps, int64_t& left, Shrunk& shrunk) {
  std::vector<Scenario> offers = smaller(shrunk.scenario);
  size_t refused = 0;  // in a row
  for (size_t i = 0; refused < offers.size() && left > 0;) {
    if (i >= offers.size()) i = 0;
    --left;
    ++shrunk.runs;
    if (!keeps(offers[i])) {
      ++refused;
      ++i;
      continue;
    }
    shrunk.scenario = std::move(offers[i]);
    offers = smaller(shrunk.scenario);
    refused = 0;
  }
}

}  // namespace

void TakeOutFault(Scenario& scenario, size_t gone) {
  scenario.faults.erase(scenario.faults.begin() + static_cast<ptrdiff_t>(gone));
  std::erase_if(scenario.schedule, [&](const ScheduleEntry& entry) { return entry.fault == gone; });
  for (ScheduleEntry& entry : scenario.schedule) {
    if (entry.fault) CloseGap(*entry.fault, gone);
  }
}

std::vector<Scenario> WithoutAPart(const Scenario& scenario) {
  Offers offers(scenario);
  OfferWithoutFaults(scenario, offers);
  OfferWithoutEntries(scenario, offers);
  OfferWithoutBranches(scenario, offers);
  OfferWithoutNodesAndLocks(scenario, offers);
  OfferShorter(scenario, offers);
  return std::move(offers).Take();
}

std::vector<Scenario> WithPlainerNumbers(const Scenario& scenario) {
  Offers offers(scenario);
  OfferPlainerWorld(offers);
  OfferPlainerLeases(scenario, offers);
  for (size_t i = 0; i < scenario.nodes.size(); ++i) OfferPlainerNode(scenario, i, offers);
  for (size_t i = 0; i < scenario.faults.size(); ++i) OfferPlainerFault(scenario, i, offers);
  return std::move(offers).Take();
}

std::vector<Scenario> SmallerScenarios(const Scenario& scenario) {
  std::vector<Scenario> all = WithoutAPart(scenario);
  std::ranges::move(WithPlainerNumbers(scenario), std::back_inserter(all));
  return all;
}

Shrunk Shrink(Scenario scenario, const Keeps& keeps, int64_t max_runs) {
  Shrunk shrunk{.scenario = std::move(scenario), .runs = 0};
  int64_t unbounded = std::numeric_limits<int64_t>::max();
  // Parts first, because scenarios with few parts run fast.
  Descend(WithoutAPart, keeps, unbounded, shrunk);
  int64_t left = max_runs;
  Descend(SmallerScenarios, keeps, left, shrunk);
  if (left == 0) Descend(WithoutAPart, keeps, unbounded, shrunk);
  return shrunk;
}

namespace {

constexpr int64_t kMostAdded = 2;

// Keeps all of it two times in three: mostly the schedule that a search found is wanted whole, with other faults
// after it.
void CutSchedule(Scenario& world, Draws& draws) {
  if (world.schedule.empty() || draws.Percent(66)) return;
  const auto size = static_cast<int64_t>(world.schedule.size());
  Scenario cut = world;
  cut.schedule.resize(static_cast<size_t>(draws.Between(0, size - 1)));
  // The removed part of the schedule may have enabled a fault.
  if (ScheduleIsPossible(cut)) world = std::move(cut);
}

void LeaveOutFaults(Scenario& world, Draws& draws) {
  if (!world.schedule.empty()) return;  // it names them
  for (size_t i = world.faults.size(); i-- > 0;) {
    if (!draws.Percent(15)) continue;
    Scenario without = world;
    TakeOutFault(without, i);
    if (FaultsArePossible(without)) world = std::move(without);  // others may need it
  }
}

void AddFaults(const WorldOptions& options, Scenario& world, Draws& draws) {
  Scenario other = world;
  other.faults.clear();
  other.schedule.clear();
  const Duration safety = world.duration * 3 / 4;
  const ProtocolInfo* const alone = FindProtocol(world.protocol);
  DrawFaults(options, SharedCapabilities({&alone, 1}), safety, FaultTriggers::kTimesAndSteps, draws,
             other);
  for (int64_t left = draws.Between(0, kMostAdded); left > 0 && !other.faults.empty(); --left) {
    const FaultSpec& fault = draws.Pick(other.faults);
    // A node that only a fault starts is another world.
    if (fault.As<StartFault>() != nullptr) continue;
    world.faults.push_back(fault);
    if (!FaultsArePossible(world) || !ScheduleIsPossible(world)) world.faults.pop_back();
  }
}

}  // namespace

Scenario VariationOf(const Scenario& scenario, const WorldOptions& options, uint64_t run,
                     uint64_t seed) {
  Scenario world = scenario;
  world.expect = {};
  if (run == 0) return world;
  Draws draws(seed);
  world.seed = static_cast<uint64_t>(draws.Between(1, 999'999));
  CutSchedule(world, draws);
  LeaveOutFaults(world, draws);
  AddFaults(options, world, draws);
  return world;
}

}  // namespace whorl::sim
