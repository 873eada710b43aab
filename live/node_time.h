// Reads a node's clocks: CLOCK_BOOTTIME with the offset and rate that the scenario gives the node.
#pragma once

#include "protocol/machine.h"
#include "real_client/machine_clock.h"
#include "real_client/os.h"
#include "sim/scenario/instant.h"
#include "sim/world/node_clock.h"

namespace whorl::live {

class NodeTime final : public real_client::MachineClock {
 public:
  NodeTime() = default;
  NodeTime(LocalInstant run_started, Timestamp run_started_wall, sim::NodeClock clock)
      : run_started_(run_started),
        // Spanner's clocks show the system's time, so the node's wall clock has to be based on it.
        shift_(run_started_wall - sim::kStartTime),
        clock_(clock),
        process_started_(sim::Shows(clock, Now())) {}

  sim::Instant Now() const { return sim::Instant{} + (real_client::MonotonicNow() - run_started_); }
  LocalTime Local() const override {
    LocalTime local = sim::ReadClocks(clock_, process_started_, Now());
    local.wall = local.wall + shift_;
    return local;
  }
  // The instant at which this process's monotonic clock shows `monotonic`.
  sim::Instant WhenShown(LocalInstant monotonic) const {
    return sim::WhenShows(clock_, process_started_, monotonic);
  }
  LocalInstant ToBoot(sim::Instant at) const {
    return at == sim::kNever ? LocalInstant::Max() : run_started_ + (at - sim::Instant{});
  }
  LocalInstant ToMonotonic(LocalInstant machine) const override {
    return ToBoot(WhenShown(machine));
  }
  LocalInstant FromMonotonic(LocalInstant boot) const override {
    const sim::Instant at = sim::Instant{} + (boot - run_started_);
    return sim::ReadClocks(clock_, process_started_, std::max(at, clock_.since)).monotonic;
  }
  void SetClock(sim::NodeClock clock) { clock_ = clock; }

 private:
  LocalInstant run_started_;
  Duration shift_;  // the system's time minus the scenario's
  sim::NodeClock clock_;
  Duration process_started_;
};

}  // namespace whorl::live
