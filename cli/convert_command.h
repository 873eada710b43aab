// `whorl convert`: writes a file of an earlier release in today's words.
#pragma once

#include <CLI/App.hpp>

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddConvertCommand(CLI::App& root);

}  // namespace whorl::cli
