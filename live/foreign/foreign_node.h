// A node's process whose part in the lock is taken by a program that was not written here.
#pragma once

#include "live/messages.h"

namespace whorl::live {

// Runs until the coordinator ends the process. `setup.program` is not empty. The process leads a
// process group, to which the program belongs, so that a signal stops or ends both.
[[noreturn]] void RunForeignNode(NodeSetup setup);

}  // namespace whorl::live
