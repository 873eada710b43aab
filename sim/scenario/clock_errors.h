// How far Spanner's clocks are off at one event.
#pragma once

#include <optional>

#include "base/time.h"
#include "protocol/spanner/fields.h"

namespace whorl::sim {

// Nothing: as the world's own settings have it.
struct ClockErrors {
  // The middle of TrueTime's interval minus true time. A commit wait that begins then ends as soon as
  // the interval allows: when the commit timestamp is past.
  std::optional<Duration> truetime;
  std::optional<Duration> current_timestamp;  // CURRENT_TIMESTAMP minus true time
  WHORL_FIELDS(ClockErrors, truetime, current_timestamp);
};

}  // namespace whorl::sim
