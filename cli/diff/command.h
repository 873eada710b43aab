// `whorl diff`: finds the first event in which two traces differ.
#pragma once

#include <CLI/App.hpp>

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddDiffCommand(CLI::App& root);

}  // namespace whorl::cli
