// Reads operations of a Jepsen history of locks: {:process 0, :type :ok, :f :acquire, :time 17, ..}.
//
// A process has a lock from the reply to its acquire until it asks to release it: these spans exclude each
// other if, and only if, the history is linearizable as one of a mutex. An acquire that failed, or of which
// nothing is known, is no span.
// Times are those of Jepsen's control node, since the test began: one clock, so all offsets are 0.
#pragma once

#include <vector>

#include "check/record_reader.h"

namespace whorl::check {

bool IsJepsen(const Node& object);
// Throws Wrong. REQUIRES: IsJepsen(object).
void ReadJepsen(const Node& object, const Wanted& wanted, const Place& place,
                std::vector<Operation>& out);

}  // namespace whorl::check
