// Reads the machine's clocks and its source of randomness.
#pragma once

#include "base/time.h"
#include "protocol/machine.h"

namespace whorl::real_client {

// Advances while the machine is suspended (CLOCK_BOOTTIME): a lease expires then, too.
LocalInstant MonotonicNow();
Timestamp SystemNow();

// Draws from the operating system's generator for every purpose.
class OsEntropy final : public Entropy {
 public:
  int64_t Between(Purpose purpose, int64_t lo, int64_t hi) override;
};

}  // namespace whorl::real_client
