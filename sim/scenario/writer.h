// Writes a scenario as text that the loader reads back to an equal one.
//
// Invariants:
//   1. ParseScenario(ScenarioText(s)) equals s except for its name, its path and the lines of
//      faults, waypoints and of the schedule.
//   2. Values that equal their default are not written. Patterns and counts, which the loader
//      expands, are written node by node.
//   3. The bytes are the same with every compiler.
// REQUIRES: the scenario came from the loader, or is valid as the loader would have it.
#pragma once

#include <string>

#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The text of a file: one key to a line, and one node, row or fault to a line. Ends with a newline.
std::string ScenarioText(const Scenario& scenario);

// The same on one line without its newline, for a shell.
std::string ScenarioLine(const Scenario& scenario);

// What the fault says beyond when it strikes, its kind, its node and how long it lasts: "step -3s";
// empty if it says no more.
std::string FaultKeysText(const FaultSpec& fault, const Scenario& scenario);

// The text of an entry in the scenario's schedule.
std::string EntryText(const ScheduleEntry& entry, const Scenario& scenario);

// The scenario without what it got from its file: name, path and lines.
Scenario WithoutPlace(Scenario scenario);

}  // namespace whorl::sim
