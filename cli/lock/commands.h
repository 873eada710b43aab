// Declares `whorl lock` and its sub-commands.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace whorl::cli {

// Parses the command line of `whorl lock` and runs one of its sub-commands. Returns the exit code. `argv` is
// the whole command line, so argv[1] is "lock". REQUIRES: no other
// thread runs yet, and the process has not changed its signal dispositions.
int RunLockCommand(int argc, char** argv);

// `whorl lock run`: competes for locks, and logs when this process gains and loses them.
SubCommand AddRunCommand(CLI::App& lock);

// `whorl lock exec`: runs a command while this process holds a lock.
// `command` is what followed `--`.
SubCommand AddExecCommand(CLI::App& lock, const std::vector<std::string>& command);

// `whorl lock init`: creates the tables and rows that a protocol needs.
SubCommand AddInitCommand(CLI::App& lock);

// `whorl lock doctor`: says whether locks would work, and with which lease.
SubCommand AddDoctorCommand(CLI::App& lock);

// `whorl lock migrate`: turns spindle v2's table into fenced_lease's.
SubCommand AddMigrateCommand(CLI::App& lock);

// `whorl lock get`, `list`, `release` and `delete`: an operator's queries and writes on a table of locks.
SubCommand AddGetCommand(CLI::App& lock);
SubCommand AddListCommand(CLI::App& lock);
SubCommand AddReleaseCommand(CLI::App& lock);
SubCommand AddDeleteCommand(CLI::App& lock);

}  // namespace whorl::cli
