// whorl lock exec: runs a command while this process holds a lock.
#pragma once

#include "cli/sub_command.h"

namespace whorl::cli {

// What exec ends with by itself; all other codes are the command's.
enum ExecCode : int {
  kExecFailed = 125,     // no lock, or it was lost; usage
  kCannotExecute = 126,  // the command is no program
  kNoSuchCommand = 127,
};

// `command`: what stood behind `--`.
SubCommand AddExecCommand(CLI::App& lock, const std::vector<std::string>& command);

}  // namespace whorl::cli
