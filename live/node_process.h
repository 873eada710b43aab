// The process of one incarnation of a scenario's node: its clocks, its connection to Spanner, and
// its participation in locks. It receives orders on standard input and reports events on standard
// output (messages.h). It ends with its coordinator: the kernel kills it, or else its standard input
// ends.
#pragma once

namespace whorl::live {

// Returns the exit code of the process.
int RunNodeProcess();

}  // namespace whorl::live
