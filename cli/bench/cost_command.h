// `whorl bench cost`: measures what it costs to keep a lock, by protocol, lease, followers and locks.
#pragma once

#include <CLI/App.hpp>

#include "cli/sub_command.h"

namespace whorl::cli {

// `bench`: the command `whorl bench`.
SubCommand AddCostCommand(CLI::App& bench);

}  // namespace whorl::cli
