// Writes rows of fenced_lease as none of its processes would.
#pragma once

#include <string>

namespace whorl {

// Makes the lock of kLockDatabase that of `writer` for ten seconds, whoever has it. `token`: a time, or
// "spanner.commit_timestamp()". Fails the test that calls it if it cannot.
void WriteFencedLease(const std::string& endpoint, const std::string& lock,
                      const std::string& writer, const std::string& token);

}  // namespace whorl
