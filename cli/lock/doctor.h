// Finds out whether locks would work on a database, and with which lease.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/lock/options.h"

namespace whorl::cli {

enum class Health : uint8_t { kOk, kNote, kBad };

// What was found out about one thing.
struct Check {
  std::string what;
  Health health = Health::kOk;
  std::string found;
  std::string remedy;  // empty: there is nothing to do
};

// OK if Spanner answered. Then all that was found is in `out`. REQUIRES: CompleteWithTable(request).
Status CheckLocks(const LockRequest& request, std::vector<Check>& out);

}  // namespace whorl::cli
