// The contract's processes in the simulated world, in virtual time.
//
// A run is its inputs. So each wish (start, crash, pause) becomes a part of a scenario at the
// present virtual time, the scenario runs again from its start, and its past comes out the same.
#pragma once

#include <memory>

#include "protocol/protocols.h"
#include "tests/contract/lock_backend.h"

namespace whorl {

std::unique_ptr<LockBackend> SimulateProcesses(const ProtocolInfo& info);

}  // namespace whorl
