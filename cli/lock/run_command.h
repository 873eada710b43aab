// `whorl lock run`: competes for locks, and logs when this process gains and loses them.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddRunCommand(CLI::App& lock);

}  // namespace whorl::cli
