// Tells a second copy of a call, which a fault has sent, from the call itself.
#pragma once

#include <cstdint>

#include "protocol/spanner/rpc.h"

namespace whorl::sim {

// Set in CallName::generation of a copy: it is of no transaction that a process knows.
inline constexpr uint32_t kCopiedCall = 0x8000'0000;

constexpr bool IsCopy(const CallName& call) { return (call.generation & kCopiedCall) != 0; }

}  // namespace whorl::sim
