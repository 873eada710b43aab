// What the machine gives: a monotonic clock, and chance.
#pragma once

#include "protocol/machine.h"
#include "protocol/spanner/time.h"

namespace whorl::real_client {

// Goes on while the machine is suspended (CLOCK_BOOTTIME): a lease runs on, so a belief must lapse.
Duration MonotonicNow();

// Draws from the operating system's generator, whatever the purpose.
class OsEntropy final : public Entropy {
 public:
  int64_t Between(Purpose purpose, int64_t lo, int64_t hi) override;
};

}  // namespace whorl::real_client
