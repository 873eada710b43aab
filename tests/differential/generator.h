// Draws whole sequences, and makes them smaller.
#pragma once

#include <rapidcheck.h>

#include "tests/differential/sequence.h"

namespace whorl::differential {

inline constexpr int kLeastStatements = 20;

// Of at least kLeastStatements statements, and of other operations beside them, over one to four
// sessions. What compare.cc names without explaining it does not occur.
rc::Gen<Sequence> Sequences();

}  // namespace whorl::differential
