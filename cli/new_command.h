// `whorl new`: writes a commented scenario to start from.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/sub_command.h"

namespace whorl::cli {

// `command` is how this command was called; the line that suggests the next command uses it.
SubCommand AddNewCommand(CLI::App& root, const std::string& command);

}  // namespace whorl::cli
