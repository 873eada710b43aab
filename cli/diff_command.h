// `whorl diff`: where two traces differ first.
#pragma once

#include <CLI/App.hpp>

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddDiffCommand(CLI::App& root);

}  // namespace whorl::cli
