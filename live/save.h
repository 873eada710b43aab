// Writes a real run as a scenario, so that a surprising run can be replayed, explained and shrunk.
//
// A fault that struck at a time strikes at the last step that its node had reached by then, since
// times differ between the real run and the simulation. ABORTED replies that Spanner gave by itself
// become faults. The scenario expects the verdicts of the real run, and its seed is the first of
// those tried that gives them. If no seed does, replaying the scenario fails: the model does not
// agree with the real run.
#pragma once

#include <vector>

#include "live/backend.h"
#include "sim/judge/run.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::live {

// `scenario` is what AsOn() returns.
sim::Scenario ScenarioOf(BackendKind kind, const sim::Scenario& scenario,
                         const std::vector<sim::Observation>& history,
                         const sim::RunResult& result);

}  // namespace whorl::live
