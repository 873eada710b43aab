// The command `whorl`: parses the command line and runs one sub-command, or becomes the program
// whorl-grpc if the sub-command speaks gRPC (grpc_commands.h).
#pragma once

namespace whorl::cli {

// The command's main(). A program with protocols of its own adds them before it calls this
// (sim/scenario/add_protocol.h). Returns the exit code. REQUIRES: no other thread runs yet.
int Main(int argc, char** argv);

}  // namespace whorl::cli
