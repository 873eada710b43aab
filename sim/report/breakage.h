// Finds the invariants that a run violated, and the step at which each was violated first.
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

// What hunts and searches count as the same finding.
struct ViolationKind {
  Invariant invariant = Invariant::kOneLiveToken;
  // The step of the observation that showed the violation ("takeover_update"), or its event if it
  // belongs to no step ("belief_changed"). A wedge is shown by a deadline, so for it the step of
  // the last commit before the deadline, or "nothing" if there was none.
  std::string where;
  // `where` for people: "at takeover_update", or "before any commit".
  std::string WhereText() const;
  friend auto operator<=>(const ViolationKind&, const ViolationKind&) = default;
};

struct Breakage {
  ViolationKind kind;
  Instant at;
  std::string text;       // for people
  bool promised = false;  // the protocol promises the invariant in that world
};

// Hears a run and remembers the event and the step of each observation, two bytes for each.
class StepsOfRun : public ObservationSink {
 public:
  StepsOfRun() = default;
  // `next` hears the run after it; it may be null.
  explicit StepsOfRun(ObservationSink* next) : next_(next) {}

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;

  // The violations of the run that was heard, in the order of Invariant.
  std::vector<Breakage> BreakagesOf(const RunResult& result) const;

 private:
  std::string WhereOf(const InvariantResult& result) const;

  struct Heard {
    uint8_t event = 0;  // ObservedEvent::index()
    uint8_t step = 0;   // kNoStep, or the step's place
  };
  // The number of a step that has one; the others follow in the order in which they were met.
  uint8_t PlaceOf(StepName step) {
    return step.key() < kNumbered ? static_cast<uint8_t>(step.key()) : PlaceOfOther(step);
  }
  uint8_t PlaceOfOther(StepName step);
  std::string_view WordAt(uint8_t place) const;
  static constexpr size_t kNumbered = StepKind::kNumbered.size();

  ObservationSink* next_ = nullptr;
  std::vector<Heard> heard_;
  std::vector<StepName> others_;
};

struct WatchedRun {
  RunResult result;
  std::vector<Breakage> breakages;
};
// Runs the scenario with its own seed. The sinks hear the run, too; they may be null.
WatchedRun RunWatched(const Scenario& scenario, ObservationSink* sink = nullptr,
                      JudgedSink* judged = nullptr);

// The violation of that kind; null if the run had none.
const Breakage* Find(const std::vector<Breakage>& breakages, const ViolationKind& kind);

}  // namespace whorl::sim
