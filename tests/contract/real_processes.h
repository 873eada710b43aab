// The contract's processes as processes of this machine, on a database behind gRPC.
#pragma once

#include <memory>
#include <string>

#include "protocol/protocols.h"
#include "tests/contract/lock_backend.h"
#include "tests/support/lock_database.h"

namespace whorl {

// `client`: a name of linked_clients.h. `suffix`: behind the name of each lock, so that tests on one database do not meet.
std::unique_ptr<LockBackend> StartProcesses(const ProtocolInfo& info,
                                            std::shared_ptr<LockDatabase> database,
                                            std::string client, std::string suffix);

}  // namespace whorl
