// Reads the history that `whorl serve` and `whorl proxy` write (--history): a line of JSON for each call that
// passed, with the name that the client has there ("id").
//
// Its times are those of serve's own clock, which is a process of the history, named after the file. What a
// line shows is whose transaction it was: who wrote a row, and what a takeover costs. It shows nothing of the
// clock of the process that sent it.
//
// Calls are counted as processes log them: a commit; a query outside of a transaction; a transaction that was
// rolled back; and each call that Spanner aborted.
#pragma once

#include <vector>

#include "check/record_reader.h"

namespace whorl::check {

bool IsServeCall(const Node& object);
// Throws Wrong. Without "lock" a call is about the lock that is judged. REQUIRES: IsServeCall(object).
void ReadServeCall(const Node& object, const Wanted& wanted, const Place& place,
                   std::vector<Operation>& out);

}  // namespace whorl::check
