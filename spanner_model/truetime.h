// Models the clocks of a Spanner server, as inputs of the database.
//
// Spanner has two: TrueTime, an interval that contains true time (unless a fault makes it wrong),
// and the clock behind CURRENT_TIMESTAMP. The documentation promises no relation between the latter
// and commit timestamps.
#pragma once

#include <algorithm>

#include "base/time.h"
#include "protocol/spanner/fields.h"

namespace whorl::model {

struct Interval {
  Timestamp earliest;
  Timestamp latest;
  WHORL_FIELDS(Interval, earliest, latest);
};

// The clocks of one server when it executes a call.
struct ClockReading {
  Interval truetime;
  Timestamp current_timestamp;
  // Time has passed up to here, whatever TrueTime shows: of a caller that lets events happen before they
  // are due, the last commit that is visible.
  Timestamp passed = {};
  WHORL_FIELDS(ClockReading, truetime, current_timestamp, passed);

  // What is later lies in the future.
  Timestamp Latest() const { return std::max(truetime.latest, passed); }
};

// Commit timestamps are whole microseconds.
constexpr Timestamp RoundUpToMicros(Timestamp t) {
  const Timestamp down = t.TruncatedToMicros();
  return down == t ? t : down + Microseconds(1);
}

// TT.after(t): t is certainly in the past.
constexpr bool SurelyPast(Timestamp t, Interval now) { return t < now.earliest; }

}  // namespace whorl::model
