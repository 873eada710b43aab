// Draws whole sequences and shrinks them.
#pragma once

#include <rapidcheck.h>

#include <cstdint>

#include "tests/differential/sequence.h"

namespace whorl::differential {

inline constexpr int kLeastStatements = 20;

// Sequences of at least kLeastStatements statements, with other operations among them, on one to
// four sessions. They do not show the known differences without `explains` (compare.h).
enum class Concurrency : uint8_t {
  kInterleaved,
  // One session and one transaction at a time, and no session is deleted: nothing waits for a lock,
  // and sessions can be multiplexed.
  kOneByOne,
};
rc::Gen<Sequence> Sequences(Concurrency concurrency);

}  // namespace whorl::differential
