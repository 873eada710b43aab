// `whorl explore`: every schedule of a lock protocol within bounds.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddExploreCommand(CLI::App& root);

}  // namespace whorl::cli
