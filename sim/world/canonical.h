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
// What is: instants, as they are. So worlds at different times differ, and a search over canonical
// forms needs a horizon.
#pragma once

#include <functional>

#include "protocol/spanner/canonical_form.h"
#include "sim/world/world.h"

namespace whorl::sim {

Digest128 CanonicalDigest(const World& world);
// `add_more` adds what belongs to the state beside the world, under the same names.
Digest128 CanonicalDigest(const World& world,
                          const std::function<void(CanonicalForm& form)>& add_more);

}  // namespace whorl::sim
