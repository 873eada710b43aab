// `whorl new`: a commented scenario to start from.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/sub_command.h"

namespace whorl::cli {

// `command`: how this command was called, for the line that says what to try next.
SubCommand AddNewCommand(CLI::App& root, const std::string& command);

}  // namespace whorl::cli
