// The guard's own process (guard.h), and the orders that whorl sends it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "cli/lock/guard.h"

namespace whorl::cli {

enum class GuardOrderKind : uint8_t { kStart, kRenew, kPing, kEnd };
// An order from whorl to the guard; one packet.
struct GuardOrder {
  GuardOrderKind kind = GuardOrderKind::kEnd;
  bool has_token = false;  // for kStart
  int32_t signal = 0;      // for kEnd
  uint64_t token = 0;
  LocalInstant deadline;  // for kStart and kRenew
};

// Runs the guard, from fork to its exit. `socket` is its end of the pair.
[[noreturn]] void RunGuard(const GuardOptions& options, int socket);

}  // namespace whorl::cli
