// `whorl lock init`: creates the tables and rows that a protocol needs.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddInitCommand(CLI::App& lock);

}  // namespace whorl::cli
