// Drives a world by virtual time: takes what is due next, draws from the seed, and lets `when` faults
// strike.
//
// Invariants:
//   1. Scenario + seed decides every observation, their order and the rolling hash.
//   2. A sink only listens: it changes nothing.
#pragma once

#include <cstdint>
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

// Hears every observation, in order. `ordinal` counts from 1; `hash` is the rolling hash of the
// run up to and including this observation.
class ObservationSink {
 public:
  virtual ~ObservationSink() = default;
  virtual void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) = 0;
};

// Hears a run until it has heard enough.
class EndingSink : public ObservationSink {
 public:
  // Whether the run may end. Asked after every event.
  virtual bool HasEnough() const = 0;
};

class Driver {
 public:
  // `sink` may be null. Both outlive the driver.
  // REQUIRES: the scenario came from the loader, or keeps its promises.
  Driver(const Scenario& scenario, uint64_t seed, ObservationSink* sink);

  // Takes what is due until then, or until `enough`, if given, says so.
  void Advance(Instant until, const EndingSink* enough = nullptr);
  // Takes what is left of the scenario's duration, and says that the run has ended.
  void Finish();

  const World& world() const { return world_; }
  World TakeWorld() && { return std::move(world_); }
  uint64_t hash() const { return hash_.value(); }  // of all events and observations so far
  uint64_t events() const { return events_; }      // choices taken
  uint64_t observations() const { return observations_; }
  // Indexes of declared faults that have not struck.
  std::vector<uint32_t> UnfiredFaults() const;

 private:
  // Pending events: the earliest first; among equals, the one that was scheduled first.
  class Agenda {
   public:
    bool empty() const { return heap_.empty(); }
    Instant due() const { return {heap_.front().at}; }
    const Choice& next() const { return heap_.front().choice; }
    void Add(const Scheduled& scheduled);
    void Pop();

   private:
    struct Entry {
      int64_t at = 0;
      uint64_t order = 0;
      Choice choice;
    };
    static bool Later(const Entry& a, const Entry& b);
    std::vector<Entry> heap_;
    uint64_t next_order_ = 0;
  };

  bool StrikesBefore(const Choice& choice);
  void StrikeNow(const Triggers::Hit& hit);
  void Take(const Choice& choice);
  void TakeIn();
  void Hear(const Observation& observation);

  Instant end_;
  ObservationSink* sink_;
  Chance chance_;
  Triggers triggers_;
  std::vector<uint8_t> struck_;  // by fault
  Fingerprint hash_;
  uint64_t events_ = 0;
  uint64_t observations_ = 0;
  Outbox out_;
  World world_;
  Agenda agenda_;
  Choice announced_;  // the reply before which triggers were asked last
  std::vector<Triggers::Hit> hits_;
};

// The world after the last event at or before `until`. `sink` may be null.
World RunUntil(const Scenario& scenario, uint64_t seed, Instant until, ObservationSink* sink);

// The run up to the event after which `sink` has enough, or to its end.
void RunWhileHeard(const Scenario& scenario, uint64_t seed, EndingSink& sink);

}  // namespace whorl::sim
