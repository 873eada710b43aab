// The command `whorl-lock`, which `whorl lock` becomes: parses the command line and runs one
// sub-command.
#pragma once

namespace whorl::cli {

// All of its main(). Returns the exit code. REQUIRES: no other thread runs yet.
int LockMain(int argc, char** argv);

}  // namespace whorl::cli
