// Reads the clocks that a lock's machine sees, and converts them from and to MonotonicNow(), by
// which timers fire and clients give up.
#pragma once

#include <chrono>

#include "base/time.h"
#include "protocol/machine.h"
#include "real_client/os.h"

namespace whorl::real_client {

class MachineClock {
 public:
  virtual ~MachineClock() = default;
  virtual LocalTime Local() const = 0;
  // Converts a time of the machine's monotonic clock to that of MonotonicNow(), and back.
  virtual LocalInstant ToMonotonic(LocalInstant machine) const = 0;
  virtual LocalInstant FromMonotonic(LocalInstant monotonic) const = 0;
};

// The clocks of the operating system, unchanged.
class OsClock final : public MachineClock {
 public:
  LocalTime Local() const override { return {.monotonic = MonotonicNow(), .wall = SystemNow()}; }
  LocalInstant ToMonotonic(LocalInstant machine) const override { return machine; }
  LocalInstant FromMonotonic(LocalInstant monotonic) const override { return monotonic; }
};

}  // namespace whorl::real_client
