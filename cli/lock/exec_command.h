// `whorl lock exec`: runs a command while this process holds a lock.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

// `command` is what followed `--`.
SubCommand AddExecCommand(CLI::App& lock, const std::vector<std::string>& command);

}  // namespace whorl::cli
