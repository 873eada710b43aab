// Carries out `whorl diff SCENARIO --nearest`: shows a failing run beside the nearest one that
// passes (sim/measure/nearest_run.h), aligned at the first difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace whorl::cli {

struct NearestRequest {
  std::vector<std::string> paths;      // as given; one scenario is wanted
  std::optional<uint64_t> seed;        // instead of the scenario's
  std::optional<Invariant> invariant;  // empty: whichever was violated first
  bool json = false;
  std::string html;  // empty: no page
  uint64_t jobs = 1;
};

// The exit code.
int DiffNearest(const NearestRequest& request);

}  // namespace whorl::cli
