// Drives a world: takes what the scenario's schedule names, and then by virtual time the event that is
// due next. Lets `when` faults strike.
//
// Invariants:
//   1. A scenario and a seed decide every observation, their order and the rolling hash.
//   2. A sink only listens; it cannot change the run.
//   3. While the schedule lasts, nothing happens but its entries and the `when` faults that strike by
//      them. An entry happens at its time, or when its event is due, whichever is later.
//   4. A run with a schedule draws nothing from the seed (FixedChance), from its start to its end. An
//      entry may say where Spanner's clocks stand at its event.
//   5. From the event of a branch on, chance is drawn from the branch's seed.
//   6. An entry whose event cannot happen ends the schedule: virtual time goes on from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/spanner/fingerprint.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/chance.h"
#include "sim/world/observation.h"
#include "sim/world/triggers.h"
#include "sim/world/world.h"

namespace whorl::sim {

// Receives every observation, in order. `ordinal` counts from 1; `hash` is the rolling hash of the
// run up to and including this observation.
class ObservationSink {
 public:
  virtual ~ObservationSink() = default;
  virtual void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) = 0;
};

// A sink that can end the run early.
class EndingSink : public ObservationSink {
 public:
  // Whether the run may end. Asked after every event.
  virtual bool HasEnough() const = 0;
};

class Driver {
 public:
  // `sink` may be null; it outlives the driver. `make_config`: see MakeSetup.
  // REQUIRES: the scenario came from the loader, or is valid as the loader would have it.
  Driver(const Scenario& scenario, uint64_t seed, ObservationSink* sink,
         ConfigMaker make_config = nullptr);

  // The run as it stands now, which goes on with the chance of another seed. `sink` hears what comes;
  // it may be null, and outlives the copy. Branches that are still to come are left out. A run with a schedule
  // draws nothing, so its copy goes on as
  // it would itself.
  Driver Fork(uint64_t seed, ObservationSink* sink) const;

  // Takes every event that happens at or before `until`, or until `enough`, if given, has enough.
  void Advance(Instant until, const EndingSink* enough = nullptr);
  // Takes events until `count` of the run were taken, or its end is reached. REQUIRES: no schedule.
  void TakeEvents(uint64_t count);
  // Takes every event up to the end of the scenario's duration, and observes RunEnded.
  void Finish();

  const World& world() const { return world_; }
  World TakeWorld() && { return std::move(world_); }
  uint64_t hash() const { return hash_.value(); }  // covers all events and observations so far
  uint64_t events() const { return events_; }      // choices taken
  uint64_t observations() const { return observations_; }
  // Indexes of declared faults that have not struck.
  std::vector<uint32_t> UnfiredFaults() const;
  // Why the schedule could not be taken to its end, as a sentence without its full stop that begins
  // with the place; empty if it was, or may still be.
  const std::string& schedule_problem() const { return schedule_problem_; }
  // The entry that did not happen, and ended the schedule.
  std::optional<uint32_t> failed_entry() const { return failed_entry_; }

 private:
  static constexpr uint64_t kNoBranch = ~uint64_t{0};

  Driver(const Driver& other, std::unique_ptr<Chance> chance, ObservationSink* sink);

  void TakeDue(const PendingSlot& next);
  void StartBranches();
  bool TakeSchedule(Instant until, const EndingSink* enough);
  bool TakeEntry(const ScheduleEntry& entry, Instant until);
  void EndSchedule(std::string_view why);
  bool StrikesBefore(const PendingSlot& next);
  void StrikeNow(const Triggers::Hit& hit);
  void TakeStrike(const Triggers::Hit& hit, Chance& chance);
  void CountTaken(const Choice& choice);
  void DrainOutbox();
  void Hear(const Observation& observation);

  Instant end_;
  ObservationSink* sink_;
  std::unique_ptr<Chance> chance_;
  Triggers triggers_;
  std::vector<uint8_t> struck_;  // by fault
  Fingerprint hash_;
  uint64_t events_ = 0;
  uint64_t observations_ = 0;
  Outbox out_;
  World world_;
  // By node: the last reply for which `replied` triggers were checked. A pause may hold that reply up;
  // no other one of the node comes before it then.
  std::vector<uint64_t> announced_;
  std::vector<Triggers::Hit> hits_;
  size_t next_entry_ = 0;  // of the schedule
  size_t next_branch_ = 0;
  uint64_t branch_at_ = kNoBranch;  // the event of the next branch
  std::optional<uint32_t> failed_entry_;
  std::string schedule_problem_;
};

// The world after the last event at or before `until`. `sink` may be null.
World RunUntil(const Scenario& scenario, uint64_t seed, Instant until, ObservationSink* sink);

// The run up to the event after which `sink` has enough, or to its end.
void RunWhileHeard(const Scenario& scenario, uint64_t seed, EndingSink& sink);

}  // namespace whorl::sim
