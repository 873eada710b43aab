// `whorl lock`: parses its command line and runs one of its sub-commands.
#pragma once

namespace whorl::cli {

// Returns the exit code. `argv` is the whole command line, so argv[1] is "lock". REQUIRES: no other
// thread runs yet, and the process has not changed its signal dispositions.
int RunLockCommand(int argc, char** argv);

}  // namespace whorl::cli
