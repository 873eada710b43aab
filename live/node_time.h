// A node's clocks: the machine's CLOCK_BOOTTIME, seen through the clock that its scenario gives it.
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
  NodeTime(Duration run_started, Timestamp run_started_wall, sim::NodeClock clock)
      : run_started_(run_started),
        // Spanner's clocks show the system's time, and so do the node's.
        shift_(run_started_wall - sim::kStartTime),
        clock_(clock),
        process_started_(sim::Shows(clock, Now())) {}

  sim::Instant Now() const { return sim::Instant{} + (real_client::MonotonicNow() - run_started_); }
  LocalTime Local() const override {
    LocalTime local = sim::ReadClocks(clock_, process_started_, Now());
    local.wall = local.wall + shift_;
    return local;
  }
  // When this process's monotonic clock shows `monotonic`.
  sim::Instant WhenShown(Duration monotonic) const {
    return sim::WhenShows(clock_, process_started_, monotonic);
  }
  Duration ToBoot(sim::Instant at) const {
    return at == sim::kNever ? Duration::Max() : run_started_ + (at - sim::Instant{});
  }
  Duration ToMonotonic(Duration machine) const override { return ToBoot(WhenShown(machine)); }
  Duration FromMonotonic(Duration boot) const override {
    const sim::Instant at = sim::Instant{} + (boot - run_started_);
    return sim::ReadClocks(clock_, process_started_, std::max(at, clock_.since)).monotonic;
  }
  void SetClock(sim::NodeClock clock) { clock_ = clock; }

 private:
  Duration run_started_;
  Duration shift_;  // the system's time minus what a scenario calls it
  sim::NodeClock clock_;
  Duration process_started_;
};

}  // namespace whorl::live
