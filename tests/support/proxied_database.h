// A database that is reached through the fault proxy, so that replies can be lost whoever serves
// it.
#pragma once

#include <memory>

#include "tests/support/lock_database.h"

namespace whorl {

// REQUIRES: `database` speaks plaintext.
std::unique_ptr<LockDatabase> BehindProxy(std::unique_ptr<LockDatabase> database);

}  // namespace whorl
