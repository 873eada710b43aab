// `whorl report`: runs the scenarios of a folder, and writes an index of them as a page.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/sub_command.h"

namespace whorl::cli {

// `command` is how this command was called; the pages say by it how to make their runs again.
SubCommand AddReportCommand(CLI::App& root, const std::string& command);

}  // namespace whorl::cli
