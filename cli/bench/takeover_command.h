// `whorl bench takeover`: how long it takes until somebody else leads.
#pragma once

#include <CLI/App.hpp>

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddTakeoverCommand(CLI::App& bench);

}  // namespace whorl::cli
