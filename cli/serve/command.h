// Runs `whorl serve`, a Spanner with the model behind it, and `whorl proxy`, which stands before
// another one: both for programs that are not whorl's.
#pragma once

namespace whorl::cli {

// Runs `whorl serve ...` or `whorl proxy ...` from main's arguments. REQUIRES: no other thread runs yet. Returns the exit
// code.
int RunServeCommand(int argc, char** argv);

}  // namespace whorl::cli
