// `whorl bench`: measures what an operator asks of a lock, and how fast this testbed is.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/sub_command.h"

namespace whorl::cli {

// `command`: how this command was called, for lines that a person may paste.
SubCommand AddBenchCommand(CLI::App& root, const std::string& command);

}  // namespace whorl::cli
