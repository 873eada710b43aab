// The process of one life of a scenario's node: its clocks, its connection to Spanner, and its
// parts in locks. It is told what to do on standard input, and tells what happens on standard
// output (talk.h). It ends when its stage does: standard input ends then, if the kernel has not
// ended it.
#pragma once

namespace whorl::live {

// Returns the exit code.
int RunNodeProcess();

}  // namespace whorl::live
