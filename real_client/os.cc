#include "real_client/os.h"

#include <time.h>

#include <random>

namespace whorl::real_client {

LocalInstant MonotonicNow() {
  timespec now{};
  // Cannot fail: Linux has had this clock since 2011.
  clock_gettime(CLOCK_BOOTTIME, &now);
  return LocalInstant{} + Seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

Timestamp SystemNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Timestamp::FromUnixNanos((Seconds(now.tv_sec) + Nanoseconds(now.tv_nsec)).ns);
}

int64_t OsEntropy::Between(Purpose, int64_t lo, int64_t hi) {
  std::random_device device;
  return std::uniform_int_distribution<int64_t>(lo, hi)(device);
}

}  // namespace whorl::real_client
