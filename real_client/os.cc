#include "real_client/os.h"

#include <time.h>

#include <algorithm>
#include <random>

namespace whorl::real_client {

Duration MonotonicNow() {
  timespec now{};
  // It fails for no clock that Linux has had since 2011.
  clock_gettime(CLOCK_BOOTTIME, &now);
  return Seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

gpr_timespec ToGrpcDeadline(Duration at) {
  const int64_t pause = std::max<int64_t>(0, (at - MonotonicNow()).ns);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(pause, GPR_TIMESPAN));
}

int64_t OsEntropy::Between(Purpose, int64_t lo, int64_t hi) {
  std::random_device device;
  return std::uniform_int_distribution<int64_t>(lo, hi)(device);
}

}  // namespace whorl::real_client
