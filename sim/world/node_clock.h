// Converts between a node's clocks and true time, in whole nanoseconds.
//
// Each node has one oscillator, which drives both of its clocks: a process's monotonic clock counts
// from the process's start, and the wall clock has an offset that can be set.
// Invariants:
//   1. The oscillator never goes back, however its rate changes.
//   2. When a timer fires, the clock shows at least the time that the timer was set for: conversion
//      to local time rounds down, conversion to true time rounds up.
#pragma once

#include <cstdint>

#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

namespace clock_internal {
inline constexpr int64_t kMillion = 1'000'000;

// How far the local clock moves while true time moves by `true_time`, which is not negative.
constexpr Duration ToLocal(Duration true_time, int64_t rate_ppm) {
  if (rate_ppm == 0) return true_time;
  // Millions and the rest apart: the product of all would overflow after two and a half hours.
  const int64_t rate = kMillion + rate_ppm;
  return {true_time.ns / kMillion * rate + true_time.ns % kMillion * rate / kMillion};
}
// The shortest true time in which the local clock moves by `local`, which is not negative.
constexpr Duration ToTrue(Duration local, int64_t rate_ppm) {
  if (rate_ppm == 0) return local;
  const int64_t rate = kMillion + rate_ppm;
  return {local.ns / rate * kMillion + (local.ns % rate * kMillion + rate - 1) / rate};
}
}  // namespace clock_internal

struct NodeClock {
  Instant since;   // when its rate last changed, or it last stopped or went on
  Duration shown;  // what the oscillator showed then; it shows 0 when the run starts
  int64_t rate_ppm = 0;
  int32_t stands = 0;  // how many active faults make the clocks stand still
  Duration offset;     // wall clock minus oscillator
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

// The process's monotonic clock. `started`: what the oscillator showed when the process started.
constexpr LocalInstant ReadMonotonic(const NodeClock& clock, Duration started, Instant now) {
  return LocalInstant{} + (Shows(clock, now) - started);
}
constexpr LocalTime ReadClocks(const NodeClock& clock, Duration started, Instant now) {
  const Duration shows = Shows(clock, now);
  return {.monotonic = LocalInstant{} + (shows - started),
          .wall = kStartTime + (clock.offset + shows)};
}

// When the process's monotonic clock shows `monotonic`; kNever while the clock stands still.
constexpr Instant WhenShows(const NodeClock& clock, Duration started, LocalInstant monotonic) {
  if (clock.stands > 0) return kNever;
  const Duration left = started + (monotonic - LocalInstant{}) - clock.shown;
  // It showed that before the last change, so the time has come.
  if (left < Duration{}) return clock.since;
  return clock.since + clock_internal::ToTrue(left, clock.rate_ppm);
}

// The wall clock minus true time.
constexpr Duration WallError(const NodeClock& clock, Instant now) {
  return clock.offset + Shows(clock, now) - (now - Instant{});
}

// Prepares a change of how the clock runs from now on, without changing what it shows now.
constexpr void Rebase(NodeClock& clock, Instant now) {
  clock.shown = Shows(clock, now);
  clock.since = now;
}

}  // namespace whorl::sim
