// `whorl explore`: every schedule of a lock protocol within bounds.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/sub_command.h"

namespace whorl::cli {

// `command`: how this command was called, for lines that a person may paste.
SubCommand AddExploreCommand(CLI::App& root, const std::string& command);

}  // namespace whorl::cli
