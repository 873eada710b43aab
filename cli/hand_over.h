// Handing a command over to another program of whorl's, which links what this one does not (gRPC).
#pragma once

#include <string_view>

namespace whorl::cli {

// Becomes `program`, which stands beside this command or, where that was installed, in
// ../libexec/whorl; its arguments are this command's from the sub-command on. Returns only when it
// cannot, and has said why. `what`: what needs the program, for people.
// REQUIRES: no other thread runs yet, and signals are as this process has found them.
void HandOver(std::string_view program, std::string_view what, char** argv);

}  // namespace whorl::cli
