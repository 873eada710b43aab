// Finds, from all faults of a scenario together and before it runs, those that contradict each
// other, and those that find nothing to strike. Only what is certain is said: a fault that waits
// for a step (`when`) may strike at any time, or never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/names.h"
#include "protocol/protocols.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct FaultProblem {
  // Where in the fault's text.
  enum class Place : uint8_t { kFault, kRestartAfter };
  uint32_t fault = 0;
  Place place = Place::kFault;
  std::string text;
};

// Whether a step can reach the phase at all: has_lock is a read, or no call, and a write goes to
// the resource, which answers nothing.
bool ReachesPhase(const ProtocolInfo& protocol, StepName step, Phase phase);

// At least one when there are any, and none beyond `max`.
// REQUIRES: nodes, duration and each fault by itself are as the loader promises them.
std::vector<FaultProblem> ProblemsOfFaults(const Scenario& scenario, size_t max);

// By node: whether anything starts it. A step of one that nothing starts can never come.
std::vector<bool> StartedNodes(const Scenario& scenario);

// Whether the loader would take the faults: each within the run, none that waits for a step of a
// node that nothing starts or of a lock in which it takes no part, and no problem with all of them
// together.
bool FaultsArePossible(const Scenario& scenario);

// Whether the loader would take the schedule beside the duration and the faults: its times lie within
// the run, and no fault that it does not begin is due before its end. REQUIRES: each entry by itself is
// as the loader promises it.
bool ScheduleIsPossible(const Scenario& scenario);

}  // namespace whorl::sim
