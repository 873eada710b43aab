// Writes the counterexamples of a search as scenarios.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "sim/scenario/scenario.h"

namespace whorl::cli {

// Writes the scenario into the folder, under its name, and returns the path. A file that is there
// already is kept: if it says the same it is the one, else the scenario gets the next free name
// (x-2.json). Returns an error if the place cannot be read or written.
absl::StatusOr<std::string> SaveCounterexample(const sim::Scenario& scenario,
                                               const std::string& folder);

}  // namespace whorl::cli
