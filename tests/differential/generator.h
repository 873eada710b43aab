// Draws whole sequences and shrinks them.
#pragma once

#include <rapidcheck.h>

#include "tests/differential/sequence.h"

namespace whorl::differential {

inline constexpr int kLeastStatements = 20;

// Sequences of at least kLeastStatements statements, with other operations among them, on one to
// four sessions. They do not show the known differences without `explains` (compare.h).
rc::Gen<Sequence> Sequences();

}  // namespace whorl::differential
