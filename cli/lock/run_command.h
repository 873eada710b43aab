// whorl lock run: takes part in locks, and logs how they pass to this process and away from it.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddRunCommand(CLI::App& lock);

}  // namespace whorl::cli
