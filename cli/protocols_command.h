// `whorl protocols`: lists the lock protocols and what each promises.
#pragma once

#include <CLI/App.hpp>

#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddProtocolsCommand(CLI::App& root);

}  // namespace whorl::cli
