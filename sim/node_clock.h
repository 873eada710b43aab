// A node's clocks against true time, in whole nanoseconds.
//
// Invariant: what a timer is set for is never after what the clock shows when it fires: conversion
// to local time rounds down, to true time up.
#pragma once

#include <cstdint>

#include "protocol/machine.h"
#include "sim/instant.h"
#include "sim/scenario.h"
#include "sim/wide.h"

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

constexpr LocalTime ReadClocks(const ClockSpec& clock, Instant process_start, Instant now) {
  return {
      .monotonic = clock_internal::ToLocal(now - process_start, clock.rate_ppm),
      .wall = kStartTime + clock.offset + clock_internal::ToLocal(now - Instant{}, clock.rate_ppm)};
}

// When a timer for `monotonic` fires.
constexpr Instant WhenShows(const ClockSpec& clock, Instant process_start, Duration monotonic) {
  return process_start + clock_internal::ToTrue(monotonic, clock.rate_ppm);
}

}  // namespace whorl::sim
