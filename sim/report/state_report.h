// Describes the state of a run at one time: Spanner's rows, locks and clocks, every node, and calls
// and events under way; as one JSON document, and as the same in lines for people.
//
// Invariants:
//   1. Every time is in seconds since the start of the run. Times are true time except those that a
//      node's or Spanner's own clocks show. Durations have units.
//   2. What is absent (no transaction, no fault, a field of a protocol's state that is false, zero
//      or empty) is left out; the sections themselves are not.
//   3. A protocol's state is printed field by field, so a new protocol needs no code here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "protocol/field_tree.h"
#include "protocol/machine.h"
#include "sim/judge/run.h"
#include "sim/report/json_print.h"
#include "sim/scenario/instant.h"
#include "sim/world/observation.h"
#include "sim/world/world.h"
#include "spanner_model/truetime.h"

namespace whorl::sim {

// Collects what the report needs and a world does not keep.
class StateWatch : public ObservationSink {
 public:
  explicit StateWatch(const Scenario& scenario) : faults_(scenario.faults.size()) {}

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  struct FaultTimes {
    std::optional<Instant> began;
    std::optional<Instant> ended;
  };
  const FaultTimes& fault(size_t fault) const { return faults_[fault]; }
  // Null if the process was never answered.
  const Observation* LastAnswer(ProcessId process, uint16_t lock) const;
  std::optional<StepName> StepOf(const CallName& call) const;

 private:
  std::vector<FaultTimes> faults_;
  std::map<std::pair<ProcessId, uint16_t>, Observation> answers_;
  // The steps of open transactions.
  std::map<std::tuple<ProcessId, uint16_t, RequestId>, StepName> steps_;
};

// The state of `world` at `at`. REQUIRES: `watch` has heard the run of `world` from its start, and
// the world has taken every event up to `at`.
Json StateJson(const World& world, const StateWatch& watch, Instant at);

// Prints an object as indented lines, "key: value".
void PrintState(const Json& state, std::ostream& out);

}  // namespace whorl::sim
