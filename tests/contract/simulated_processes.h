// Runs the contract's processes in the simulated world, in virtual time.
//
// A run is determined by its inputs. So each action (start, crash, pause) is added to a scenario at
// the current virtual time; the scenario then runs again from its start and repeats its past.
#pragma once

#include <memory>

#include "protocol/protocols.h"
#include "tests/contract/lock_backend.h"

namespace whorl {

std::unique_ptr<LockBackend> SimulateProcesses(const ProtocolInfo& info);

}  // namespace whorl
