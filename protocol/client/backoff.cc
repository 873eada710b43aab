#include "protocol/client/backoff.h"

#include <algorithm>

namespace whorl {

Duration DrawPause(const Backoff& backoff, Duration& current, Entropy& entropy, Purpose purpose) {
  if (current.ns == 0) current = backoff.initial;
  const Duration pause{entropy.Between(purpose, 1, current.ns)};
  current = std::min(backoff.max, Duration{current.ns / 100 * backoff.growth_percent});
  return pause;
}

}  // namespace whorl
