// A node's clocks against true time, in whole nanoseconds.
//
// Every node has one oscillator, from which both of its clocks count: the monotonic clock of a
// process since the process started, the wall clock with an offset that can be set.
// Invariants:
//   1. The oscillator never goes back, whatever happens to its rate.
//   2. What a timer is set for is never after what the clock shows when it fires: conversion to
//      local time rounds down, to true time up.
#pragma once

#include <cstdint>

#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/wide.h"

namespace whorl::sim {

namespace clock_internal {
inline constexpr int64_t kMillion = 1'000'000;

// How far the local clock moves while true time moves by `true_time`.
constexpr Duration ToLocal(Duration true_time, int64_t rate_ppm) {
  if (rate_ppm == 0) return true_time;
  const Int128 scaled = static_cast<Int128>(true_time.ns) * (kMillion + rate_ppm);
  return {static_cast<int64_t>(scaled / kMillion)};
}
constexpr Duration ToTrue(Duration local, int64_t rate_ppm) {
  if (rate_ppm == 0) return local;
  const Int128 rate = kMillion + rate_ppm;
  return {static_cast<int64_t>((static_cast<Int128>(local.ns) * kMillion + rate - 1) / rate)};
}
}  // namespace clock_internal

struct NodeClock {
  Instant since;   // of the last change of how it runs
  Duration shown;  // by the oscillator then; it shows 0 when the run starts
  int64_t rate_ppm = 0;
  int32_t stands = 0;  // how many faults keep it still
  Duration offset;     // of the wall clock against the oscillator
  WHORL_FIELDS(NodeClock, since, shown, rate_ppm, stands, offset);
};

constexpr NodeClock MakeNodeClock(const ClockSpec& spec) {
  return {.since = {}, .shown = {}, .rate_ppm = spec.rate_ppm, .stands = 0, .offset = spec.offset};
}

// What the oscillator shows. REQUIRES: now is not before clock.since.
constexpr Duration Shows(const NodeClock& clock, Instant now) {
  if (clock.stands > 0) return clock.shown;
  return clock.shown + clock_internal::ToLocal(now - clock.since, clock.rate_ppm);
}

// `started`: what the oscillator showed when the process started.
constexpr LocalTime ReadClocks(const NodeClock& clock, Duration started, Instant now) {
  const Duration shows = Shows(clock, now);
  return {.monotonic = shows - started, .wall = kStartTime + (clock.offset + shows)};
}

// When the process's monotonic clock shows `monotonic`; never while the clock stands.
constexpr Instant WhenShows(const NodeClock& clock, Duration started, Duration monotonic) {
  if (clock.stands > 0) return kNever;
  const Duration left = started + monotonic - clock.shown;
  // What it has shown before the last change is over.
  if (left < Duration{}) return clock.since;
  return clock.since + clock_internal::ToTrue(left, clock.rate_ppm);
}

// The wall clock minus true time.
constexpr Duration WallError(const NodeClock& clock, Instant now) {
  return clock.offset + Shows(clock, now) - (now - Instant{});
}

// The clock runs in another way from now on; what it shows stays the same.
constexpr void Rebase(NodeClock& clock, Instant now) {
  clock.shown = Shows(clock, now);
  clock.since = now;
}

}  // namespace whorl::sim
