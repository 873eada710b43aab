// `whorl lock`: parses its command line and runs one of its sub-commands.
#pragma once

namespace whorl::cli {

// Returns the exit code. `argv`: as typed, so argv[1] is "lock". REQUIRES: no other thread runs yet,
// and signals are as this process has found them.
int RunLockCommand(int argc, char** argv);

}  // namespace whorl::cli
