// A real run as a scenario: what surprises for real can be replayed, explained and shrunk.
//
// Faults that struck at a time strike at the last step that their node had come to by then, since
// times are not the same in two worlds; ABORTED replies that Spanner gave by itself become faults.
// It expects the verdicts that the real run came to, by the first of some seeds that comes to them;
// where none does, replaying it fails, and the model does not agree.
#pragma once

#include <vector>

#include "live/backend.h"
#include "sim/judge/run.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::live {

// `scenario`: as AsOn() makes it.
sim::Scenario ScenarioOf(BackendKind kind, const sim::Scenario& scenario,
                         const std::vector<sim::Observation>& history,
                         const sim::RunResult& result);

}  // namespace whorl::live
