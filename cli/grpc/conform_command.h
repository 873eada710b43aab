// `whorl conform`: tells the author of a program what it lacks to take part in scenarios.
#pragma once

namespace whorl::cli {

// Runs `whorl conform ...` from main's arguments. REQUIRES: no other thread runs yet. Returns the exit
// code.
int RunConformCommand(int argc, char** argv);

}  // namespace whorl::cli
