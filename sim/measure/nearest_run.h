// Finds the run nearest to one that violates an invariant in which the invariant holds: of all
// continuations of the failing run that were tried (continuation.h), the one that leaves it last.
//
//   search: the latest instant from which a continuation passes, by halving the time between the
//   start, from which one does, and the violation; of those that pass from there, the one that has the
//   most observations in common with the failing run, from the first on.
// Invariants:
//   1. Scenario, seed and options decide the result; the number of threads does not.
//   2. "Passes": the invariant holds to the end of the run. Unknown does not pass; other invariants are
//      not asked.
//   3. The work is bounded, by fewer continuations; a run that is too long even for that is refused,
//      in words. "No continuation passes" is said of those that were tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/names.h"
#include "sim/judge/run.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct NearestOptions {
  int64_t continuations = 200;   // of each moment
  uint64_t events = 10'000'000;  // that all continuations take, about
  int threads = 1;
};

struct NearestRun {
  Branch branch;
  uint64_t common = 0;        // observations in common with the failing run, from the first on
  int64_t continuations = 0;  // that were tried after `branch.after`
  int64_t passed = 0;         // how many of them pass; at least 1
  // The instant from which on none of as many passes; nothing if that is the violation's own.
  std::optional<Instant> certain;
};

struct NearestSearch {
  std::string none;  // why there is no such run, as a clause; empty if there is
  std::optional<NearestRun> found;
};

// REQUIRES: `result` is the result of RunScenario for `scenario` and its seed, and `invariant` was
// violated in it.
NearestSearch FindNearestRun(const Scenario& scenario, const RunResult& result, Invariant invariant,
                             const NearestOptions& options = {});

}  // namespace whorl::sim
