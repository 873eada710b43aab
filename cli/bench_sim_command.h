// `whorl bench sim`: how fast this testbed is on this machine.
#pragma once

#include <CLI/App.hpp>

#include "cli/sub_command.h"

namespace whorl::cli {

// `bench`: the command `whorl bench`.
SubCommand AddSimCommand(CLI::App& bench);

}  // namespace whorl::cli
