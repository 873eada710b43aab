// A database behind the fault proxy, so that replies can be lost with any server.
#pragma once

#include <memory>

#include "tests/support/lock_database.h"

namespace whorl {

// REQUIRES: `database` speaks plaintext.
std::unique_ptr<LockDatabase> BehindProxy(std::unique_ptr<LockDatabase> database);

}  // namespace whorl
