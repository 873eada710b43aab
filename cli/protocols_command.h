// `whorl protocols`: which lock protocols there are, and what each promises.
#pragma once

#include <CLI/App.hpp>

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddProtocolsCommand(CLI::App& root);

}  // namespace whorl::cli
