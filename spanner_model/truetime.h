// The clocks of a Spanner server, as inputs.
//
// Spanner has two: TrueTime, an interval that contains true time unless it lies, and the clock
// behind CURRENT_TIMESTAMP, of which the documentation promises nothing against commit timestamps.
#pragma once

#include "protocol/spanner/fields.h"
#include "protocol/spanner/time.h"

namespace whorl::model {

struct Interval {
  Timestamp earliest;
  Timestamp latest;
  WHORL_FIELDS(Interval, earliest, latest);
};

// What one server's clocks say when a call is served.
struct Moment {
  Interval truetime;
  Timestamp current_timestamp;
  WHORL_FIELDS(Moment, truetime, current_timestamp);
};

// Commit timestamps are whole microseconds.
constexpr Timestamp RoundUpToMicros(Timestamp t) {
  const Timestamp down = t.TruncatedToMicros();
  return down == t ? t : down + Microseconds(1);
}

// TT.after(t): t is in the past for certain.
constexpr bool SurelyPast(Timestamp t, Interval now) { return t < now.earliest; }

}  // namespace whorl::model
