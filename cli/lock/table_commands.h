// `whorl lock get`, `list`, `release` and `delete`: an operator's queries and writes on a table of locks.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddGetCommand(CLI::App& lock);
SubCommand AddListCommand(CLI::App& lock);
SubCommand AddReleaseCommand(CLI::App& lock);
SubCommand AddDeleteCommand(CLI::App& lock);

}  // namespace whorl::cli
