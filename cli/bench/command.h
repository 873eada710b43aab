// `whorl bench`: measures what an operator wants to know about a lock: takeover latency and cost.
// (`./dev bench`, in bench/, measures how fast this testbed itself runs.)
#pragma once

#include <CLI/App.hpp>

#include "cli/grpc_commands.h"
#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddBenchCommand(CLI::App& root, const GrpcCommands& grpc);

}  // namespace whorl::cli
