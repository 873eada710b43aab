// Finds out who held a lock that is free now, by the version of its row from before it was given back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/lock/options.h"
#include "real_client/lock.h"

namespace whorl::cli {

// The holdings' last holders, by lock, where they are known: the row names who let its lease run out, and a version
// of the row that Spanner still has (version_retention_period, an hour by default) who gave the lock back. Of locks that
// were given back, only the first kLastHoldersRead are looked up: each is a read of its own.
inline constexpr size_t kLastHoldersRead = 20;
std::map<std::string, std::string> LastHolders(const LockRequest& request,
                                               const std::vector<real_client::Holding>& holdings);

}  // namespace whorl::cli
