// whorl lock: real locks, by another program, since gRPC would make this one heavy.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

// For `whorl --help`, and for who mistypes it.
SubCommand AddLockCommand(CLI::App& root);

// `whorl lock ...`: becomes whorl-lock, which stands beside this command or, where that was
// installed, in ../libexec/whorl. Returns only when it cannot: the exit code.
// REQUIRES: no other thread runs yet, and signals are as this process has found them.
int HandOverToLock(int argc, char** argv);
bool IsLockCommand(int argc, char** argv);

}  // namespace whorl::cli
