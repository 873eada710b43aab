// Runs a scenario and judges it: a world driven by virtual time and seed, with every checker.
//
// Invariants:
//   1. A scenario and a seed decide everything in RunResult, and every observation.
//   2. A sink changes nothing: the checkers and the hash are always on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/spanner/fields.h"
#include "sim/judge/check_report.h"
#include "sim/judge/run_judge.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"

namespace whorl::sim {

struct RunResult {
  uint64_t seed = 0;
  uint64_t hash = 0;    // over all events and observations
  uint64_t events = 0;  // choices taken
  uint64_t observations = 0;
  Duration simulated;
  CheckReport checks;
  std::vector<uint32_t> unfired_faults;  // indexes of declared faults that never struck
  // See Driver: the entry of the schedule that could not happen, and why; nothing if all did.
  std::optional<uint32_t> failed_entry;
  std::string schedule_problem;
  uint32_t reached = 0;  // how many of the scenario's waypoints, in their order
  Instant reached_at;    // when the last of these was
  WHORL_FIELDS(RunResult, seed, hash, events, observations, simulated, checks, unfired_faults,
               failed_entry, schedule_problem, reached, reached_at);
};

// Hears each observation after it was judged, with what the judge knows by then.
class JudgedSink {
 public:
  JudgedSink() = default;
  JudgedSink(const JudgedSink&) = delete;
  JudgedSink& operator=(const JudgedSink&) = delete;
  virtual ~JudgedSink() = default;

  virtual void Hear(const Observation& observation, const RunJudge& judge) = 0;
};

// `sink` may be null. `make_config`: see MakeSetup. REQUIRES: the scenario came from the loader, or
// is valid as the loader would have it.
RunResult RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink,
                      ConfigMaker make_config = nullptr);

// The same run; both may be null.
RunResult RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink,
                      JudgedSink* judged);

// Follows the run of `seed` up to and including the events of `after`, then draws from `chance`. If `after` is
// before the start, it is the run of the seed `chance`, with another hash.
struct Branch {
  uint64_t seed = 0;
  Instant after;
  uint64_t chance = 0;
};

// The result's seed is that of the run that was left. `sink` hears the whole run; it may be null.
RunResult RunScenario(const Scenario& scenario, const Branch& branch, ObservationSink* sink);

// Is asked some thousand times in a run whether it goes on: soon after its beginning, then at intervals
// that grow to a thousandth of the simulated time.
class RunWatch {
 public:
  RunWatch() = default;
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;
  virtual ~RunWatch() = default;

  // `events` were taken until `at`.
  virtual bool GoesOn(Instant at, uint64_t events) = 0;
};

// The same run; nothing if `watch` ended it.
std::optional<RunResult> RunScenario(const Scenario& scenario, uint64_t seed, ObservationSink* sink,
                                     RunWatch& watch);

}  // namespace whorl::sim
