// Does to the table of fenced_lease what none of its processes would.
#pragma once

#include <string>

namespace whorl {

// Gives the lock of kLockDatabase to `writer` for ten seconds, also if another process has it. `token`: a time, or
// "spanner.commit_timestamp()". Fails the test that calls it if it cannot.
void WriteFencedLease(const std::string& endpoint, const std::string& lock,
                      const std::string& writer, const std::string& token);

// Begins a transaction that reads the table, and never ends it: as a process does that is killed in the
// middle of one. Fails the test that calls it if it cannot.
void LeaveTransactionOpen(const std::string& endpoint);

}  // namespace whorl
