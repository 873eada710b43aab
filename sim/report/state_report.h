// What stands in a run at one time: Spanner's rows, locks and clocks, every node, and what is
// under way, as one JSON document and as the same in lines for people.
//
// Invariants:
//   1. Every time is in seconds since the start of the run, true time but for what a node's own
//      clocks and Spanner's say of themselves; durations have units.
//   2. What is not there (no transaction, no fault, a field of a protocol's state that is false,
//      zero or empty) is left out, but for the sections themselves.
//   3. A protocol's state is told field by field: a new protocol needs nothing here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <tuple>
#include <vector>

#include "sim/judge/run.h"
#include "sim/report/json_print.h"
#include "sim/scenario/instant.h"
#include "sim/world/observation.h"
#include "sim/world/world.h"

namespace whorl::sim {

// Listens for what a world does not keep.
class StateWatch : public ObservationSink {
 public:
  explicit StateWatch(const Scenario& scenario) : faults_(scenario.faults.size()) {}

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  struct FaultTimes {
    std::optional<Instant> began;
    std::optional<Instant> ended;
  };
  const FaultTimes& fault(size_t fault) const { return faults_[fault]; }
  // Null when the process was never answered.
  const Observation* LastAnswer(ProcessId process, uint16_t lock) const;
  std::optional<StepName> StepOf(const CallName& call) const;

 private:
  std::vector<FaultTimes> faults_;
  std::map<std::pair<ProcessId, uint16_t>, Observation> answers_;
  std::map<std::tuple<ProcessId, uint16_t, RequestId>, StepName> steps_;  // of the newest
};

// REQUIRES: `watch` has heard the run of `world` from its start on, and no event between the
// world's last one and `at` is missing.
Json StateJson(const World& world, const StateWatch& watch, Instant at);

// An object as indented lines, "key: value".
void PrintState(const Json& state, std::ostream& out);

}  // namespace whorl::sim
