// The command `whorl`: parses the command line and runs one sub-command, or becomes the program
// whorl-grpc where that has to (grpc_commands.h).
#pragma once

namespace whorl::cli {

// All of the command's main(), for programs that add protocols of their own before it
// (sim/scenario/add_protocol.h). Returns the exit code. REQUIRES: no other thread runs yet.
int Main(int argc, char** argv);

}  // namespace whorl::cli
