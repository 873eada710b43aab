// Finds when a violation was decided: of each of some fifty moments of its run, the share of
// continuations that end in it. A continuation is a copy of the run as of that moment, from which
// chance is drawn anew; what the scenario decides (faults, times, leases) it decides there, too.
//
//   moments: the start, moments spread over the time up to the violation, and between two whose
//   shares differ much, the moment in the middle, until one instant is left: a jump, which is named
//   by what happened then. In the same way the instants are found from which on the violation was
//   likely and certain. Last comes the violation itself, which has no continuations.
// Invariants:
//   1. Scenario, seed and options decide the result; the number of threads does not.
//   2. The work is bounded: by fewer continuations for each moment, then by fewer moments. A run that
//      is too long even for that is refused, in words.
//   3. No claim without chance: of a run that follows a schedule, which draws nothing, only that is
//      said. Where all continuations from the start end in the violation, the shares of all later
//      moments follow, and no other moment is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/names.h"
#include "sim/judge/run.h"
#include "sim/report/json_print.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

struct DecisionOptions {
  size_t moments = 50;
  int64_t continuations = 200;   // of each moment
  uint64_t events = 10'000'000;  // that all continuations take, about
  int threads = 1;
};

struct DecisionMoment {
  Instant at;                 // every event up to it has happened; before the start: -1 ns
  int64_t continuations = 0;  // 0 only for the violation itself
  int64_t violated = 0;       // how many of them end in the violation

  double Share() const {
    return continuations == 0 ? 1
                              : static_cast<double>(violated) / static_cast<double>(continuations);
  }
  bool IsCertain() const { return violated == continuations; }
  bool IsLikely() const { return 2 * violated >= continuations; }
};

// One instant at which the share changed much, or from which on the violation was likely or certain.
struct DecisionJump {
  size_t moment = 0;   // the moment after it, an index; the moment before it is its neighbour
  uint64_t event = 0;  // the ordinal of the observation that names it
  std::string text;    // what happened: "b: takeover_insert sent"
};

struct Decision {
  Invariant invariant = Invariant::kNoWedge;
  std::string not_measured;             // why there are no moments; empty if there are
  std::vector<DecisionMoment> moments;  // in the order of time
  std::vector<DecisionJump> jumps;      // in the order of time

  // The first moment from which on at least half, and all, of the continuations ended in it.
  size_t Likely() const;
  size_t Certain() const;
  // One line, for people.
  std::string Text() const;
};

// REQUIRES: `result` is the result of RunScenario for `scenario` and its seed, and `invariant` was
// violated in it.
Decision DecisionOf(const Scenario& scenario, const RunResult& result, Invariant invariant,
                    const DecisionOptions& options = {});

// For the page.
Json DecisionJson(const Decision& decision);

}  // namespace whorl::sim
