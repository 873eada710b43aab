// `whorl lock migrate`: turns spindle v2's table into fenced_lease's.
#pragma once

#include <CLI/App.hpp>

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddMigrateCommand(CLI::App& lock);

}  // namespace whorl::cli
