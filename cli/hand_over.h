// Hands a command over to the program whorl-grpc by exec: this process becomes that program.
//
// Invariant: the other program gets the command line as it was typed, argv[0] included, so that ps
// and pgrep show what the user typed.
#pragma once

#include "cli/grpc_commands.h"

namespace whorl::cli {

// Commands that hand over to whorl-grpc, which lies beside this program or, if whorl was installed,
// in ../libexec/whorl. They return only if that fails, and say why.
GrpcCommands HandedOver(int argc, char** argv);

}  // namespace whorl::cli
