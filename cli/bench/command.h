// `whorl bench`: measures what an operator asks of a lock: takeover latency and cost.
// (How fast this testbed itself runs is measured by `./dev bench`, in bench/.)
#pragma once

#include <CLI/App.hpp>

#include "cli/grpc_commands.h"
#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddBenchCommand(CLI::App& root, const GrpcCommands& grpc);

}  // namespace whorl::cli
