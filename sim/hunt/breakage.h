// Which invariants a run broke, and at which step each broke first.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/names.h"
#include "sim/judge/run.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Findings of one kind.
struct ViolationKind {
  Invariant invariant = Invariant::kOneLiveToken;
  // The step of the observation that showed the violation ("takeover_update"), or its event where
  // it belongs to no step ("belief_changed"). A wedge shows by a deadline: the step of the last
  // commit before it, or "nothing" when there was none.
  std::string where;
  friend auto operator<=>(const ViolationKind&, const ViolationKind&) = default;
};

struct Breakage {
  ViolationKind kind;
  Instant at;
  std::string text;       // for people
  bool promised = false;  // the protocol promises otherwise in that world
};

// Listens to a run, and remembers of each observation what it was; two bytes for each.
class StepsOfRun : public ObservationSink {
 public:
  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  // Of the run that was heard, in the order of Invariant.
  std::vector<Breakage> BreakagesOf(const RunResult& result) const;

 private:
  std::string WhereOf(const InvariantResult& result) const;

  struct Heard {
    uint8_t event = 0;  // ObservedEvent::index()
    uint8_t step = 0;   // kNoStep, or a StepName
  };
  std::vector<Heard> heard_;
};

struct WatchedRun {
  RunResult result;
  std::vector<Breakage> breakages;
};
// With the scenario's own seed.
WatchedRun RunWatched(const Scenario& scenario);

// Null when the run did not break it so.
const Breakage* Find(const std::vector<Breakage>& breakages, const ViolationKind& kind);

}  // namespace whorl::sim
