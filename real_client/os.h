// What the machine gives: a monotonic clock, and chance.
#pragma once

#include <grpc/support/time.h>

#include "protocol/machine.h"
#include "protocol/spanner/time.h"

namespace whorl::real_client {

// Goes on while the machine is suspended (CLOCK_BOOTTIME): a lease runs on, so a belief must lapse.
Duration MonotonicNow();

// `at` of MonotonicNow, as gRPC takes its deadlines. gRPC's own clock stands still in suspension,
// so a timer that was set before is late by as much; whoever acts on it reads the clock again.
gpr_timespec ToGrpcDeadline(Duration at);

// Draws from the operating system's generator, whatever the purpose.
class OsEntropy final : public Entropy {
 public:
  int64_t Between(Purpose purpose, int64_t lo, int64_t hi) override;
};

}  // namespace whorl::real_client
