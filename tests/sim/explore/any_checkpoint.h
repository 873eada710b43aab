// Checks what must be true of checkpoints with any bytes: the body of the fuzzer
// (tests/fuzz/checkpoint_fuzz.cc) and of checkpoint_mutations_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "sim/explore/engine/checkpoint.h"

namespace whorl::explore {

// A checkpoint, with these settings, of a search that has states of all kinds: expanded, found, and
// waiting for a level or for a fault.
std::string WholeCheckpoint(const Settings& settings = {{"--seed", "7"}});

// The same of a search for a lasso, whose graph has states and edges.
std::string WholeLassoCheckpoint();

// Reads the bytes, whatever their checksums are, and lets a search go on from them for a while.
// Aborts when it is refused without a place. Answers whether a search went on. One for a lasso goes on as such
// a search.
bool GoOnFromAny(std::string_view bytes);

// The checkpoint after edits, of three bytes each: two for the place, one to put there. The first edit says how
// much is cut off.
std::string EditedCheckpoint(std::string_view whole, std::string_view edits);

}  // namespace whorl::explore
