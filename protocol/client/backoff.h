// Random pauses between retries, which grow.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "protocol/machine.h"
#include "protocol/spanner/fields.h"

namespace whorl {

namespace purposes {
inline constexpr Purpose kAbortedBackoff{"aborted_backoff"};
inline constexpr Purpose kCallBackoff{"call_backoff"};
inline constexpr Purpose kSessionBackoff{"session_backoff"};
}  // namespace purposes

// Full jitter: each pause is uniform in [1 ns, current]; then current grows by growth_percent,
// up to `max`.
struct Backoff {
  Duration initial;
  int64_t growth_percent = 100;  // 130 for x1.3
  Duration max;
  WHORL_FIELDS(Backoff, initial, growth_percent, max);
};

// The next pause. `current` is zero before the first.
Duration DrawPause(const Backoff& backoff, Duration& current, Entropy& entropy, Purpose purpose);

}  // namespace whorl
