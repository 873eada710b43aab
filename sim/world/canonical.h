// The canonical form of a world: two worlds in which the same can happen, under the same names, have
// the same digest, whichever way led to them.
//
// What is no part of it:
//   1. Places, ids and the order of pending events, calls, timers and runners.
//   2. What nobody can ask for any more: answers that were given, transactions that no process and
//      no message refers to (unless they hold locks), versions of rows that no open transaction can
//      read, timestamps of splits that are below the next one.
//   3. Counters that only grow, such as a process's transactions: their rank among those that are
//      alive is enough.
//   4. What time it is: instants are told by how far they are from now, and what was longer ago than
//      `memory` by its order alone.
// REQUIRES, beside what canonical_form.h asks of the code under test: where a clock's rate is not 1,
// nothing depends on its fraction of a nanosecond.
#pragma once

#include <functional>

#include "protocol/canonical_form.h"
#include "sim/world/world.h"

namespace whorl::sim {

// `memory`: see above; longer than any time that the code under test, the faults and Spanner's limits
// ask about.
Digest128 CanonicalDigest(const World& world, Duration memory);
// `add_more` adds what belongs to the state beside the world, under the same names. It may be called
// twice.
Digest128 CanonicalDigest(const World& world, Duration memory,
                          const std::function<void(CanonicalForm& form)>& add_more);

}  // namespace whorl::sim
