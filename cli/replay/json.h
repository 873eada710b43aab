// Prints the report of `whorl replay` for programs, as one JSON document.
//
// Invariant: apart from the fields named `wall_seconds`, scenario + seed decides every byte.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs.h"
#include "cli/replay/tally.h"
#include "cli/replay/text.h"
#include "sim/report/json_print.h"

namespace whorl::cli {

inline constexpr int kReplayFormat = 1;

// One element of `scenarios`.
sim::Json TallyJson(const Tally& tally);

sim::Json ReplayJson(std::vector<sim::Json> scenarios, const std::vector<BadInput>& bad_inputs,
                     const Summary& summary);

}  // namespace whorl::cli
