// Runs the process of one incarnation of a scenario's node: its clocks, its connection to Spanner,
// and its participation in locks. It receives orders on standard input and reports events on
// standard output (messages.h). It ends with its coordinator: the kernel kills it, or else its
// standard input ends.
#pragma once

#include "live/messages.h"

namespace whorl::live {

// Returns the exit code of the process.
int RunNodeProcess();

// The process of a node whose part in the lock is taken by a program that was not written here. Runs until the coordinator ends the process. `setup.program` is not empty. The process leads a
// process group, to which the program belongs, so that a signal stops or ends both.
[[noreturn]] void RunForeignNode(NodeSetup setup);

}  // namespace whorl::live
