// Runs the contract's processes as real processes on this machine, with a database behind gRPC.
#pragma once

#include <memory>
#include <string>

#include "protocol/protocols.h"
#include "tests/contract/lock_backend.h"
#include "tests/support/lock_database.h"

namespace whorl {

// `client` is a name in linked_clients.h. `suffix` is appended to each lock's name, so that tests
// on one database do not interfere.
std::unique_ptr<LockBackend> StartProcesses(const ProtocolInfo& info,
                                            std::shared_ptr<LockDatabase> database,
                                            std::string client, std::string suffix);

}  // namespace whorl
