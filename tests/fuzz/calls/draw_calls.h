// Draws well-formed calls to a server; about half of them make sense.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/calls/played_call.h"

namespace whorl::fuzz {

inline constexpr const char* kDatabase = "projects/p/instances/i/databases/d";
inline constexpr int kThreads = 8;

// The schema that the calls are drawn for: every type, keys of several parts, NULL in keys.
const std::vector<std::string>& Schema();

// One round: sessions and rows first (thread 0), then `calls` calls of threads 1 to kThreads. The same for
// the same seed.
std::vector<PlayedCall> DrawRound(uint64_t seed, int calls);

}  // namespace whorl::fuzz
