#include "sim/hunt/variation.h"

#include <cstddef>
#include <utility>

#include "protocol/protocols.h"
#include "sim/hunt/fault_generator.h"
#include "sim/hunt/shared_capabilities.h"
#include "sim/hunt/shrink.h"
#include "sim/scenario/fault_checks.h"
#include "sim/world/draws.h"

namespace whorl::sim {
namespace {

constexpr int64_t kMostAdded = 2;

// Two times in three all of it: what a search found is mostly wanted as it is, and then other faults.
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
  DrawFaults(options, SharedCapabilities({&alone, 1}), safety, draws, other);
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
