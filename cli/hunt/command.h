// `whorl hunt`: looks for violations in many drawn worlds, and shrinks what it finds.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/sub_command.h"

namespace whorl::cli {

// `command`: how this command was called, for lines that a person may paste.
SubCommand AddHuntCommand(CLI::App& root, const std::string& command);

}  // namespace whorl::cli
