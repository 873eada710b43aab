// A scenario as the text that the loader reads back to an equal one.
//
// Invariants:
//   1. ParseScenario(ScenarioText(s)) equals s but for its name, its path and the lines of faults.
//   2. What has its default is not written; patterns and counts, which the loader has expanded, are
//      written node by node.
//   3. The bytes are the same from every compiler.
// REQUIRES: the scenario came from the loader, or keeps its promises.
#pragma once

#include <string>

#include "sim/scenario/scenario.h"

namespace whorl::sim {

// For a file: a key a line, and a node, a row or a fault a line. Ends with a line's end.
std::string ScenarioText(const Scenario& scenario);

// The same on one line, without its end; for a shell.
std::string ScenarioLine(const Scenario& scenario);

// The scenario as if it had just been read from the text that is written of it: without what its
// place in a file gave it (name, path and lines).
Scenario WithoutPlace(Scenario scenario);

}  // namespace whorl::sim
