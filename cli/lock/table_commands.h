// whorl lock get, list and release: what an operator asks a table, and does to it.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddGetCommand(CLI::App& lock);
SubCommand AddListCommand(CLI::App& lock);
SubCommand AddReleaseCommand(CLI::App& lock);

}  // namespace whorl::cli
