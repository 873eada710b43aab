// The guard's own process (guard.h), and what it says with whorl.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "cli/lock/guard.h"

namespace whorl::cli {

// From whorl to the guard, one in a packet.
struct GuardOrder {
  enum class Kind : uint8_t { kStart, kRenew, kEnd };
  Kind kind = Kind::kEnd;
  bool has_token = false;  // of kStart
  int32_t signal = 0;      // of kEnd
  uint64_t token = 0;
  Duration deadline;  // of kStart and kRenew
};

// All of the guard's life after fork. `socket` is its end of the pair.
[[noreturn]] void RunGuard(const GuardOptions& options, int socket);

}  // namespace whorl::cli
