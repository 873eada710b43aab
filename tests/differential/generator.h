// Draws whole sequences, and makes them smaller.
#pragma once

#include <rapidcheck.h>

#include "tests/differential/sequence.h"

namespace whorl::differential {

inline constexpr int kLeastOperations = 20;

// Of at least kLeastOperations operations over one to four sessions. What known_differences.h says
// is avoided does not occur.
rc::Gen<Sequence> Sequences();

}  // namespace whorl::differential
