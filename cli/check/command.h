// whorl check: judges histories that others recorded.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddCheckCommand(CLI::App& root);

}  // namespace whorl::cli
