// Declares the interval of Spanner's TrueTime, and the errors of its clocks at one event.
#pragma once

#include <optional>

#include "base/time.h"
#include "protocol/spanner/fields.h"

namespace whorl::sim {

// TrueTime's interval at the start of a run, or after a fault sets it.
struct TrueTimeSpec {
  Duration epsilon = Milliseconds(4);  // half the width of the interval
  bool truthful = true;                // false: true time lies outside the interval
  // If not truthful: how far the interval's middle is from true time. REQUIRES: beyond epsilon.
  Duration error;
  WHORL_FIELDS(TrueTimeSpec, epsilon, truthful, error);
};

// How far Spanner's clocks are off at one event. nullopt: as the world's own settings say.
struct ClockErrors {
  // The middle of TrueTime's interval minus true time. A commit wait that begins then ends as soon as
  // the interval allows: when the commit timestamp is past.
  std::optional<Duration> truetime;
  std::optional<Duration> current_timestamp;  // CURRENT_TIMESTAMP minus true time
  WHORL_FIELDS(ClockErrors, truetime, current_timestamp);
};

}  // namespace whorl::sim
