// `whorl bench takeover`: measures how long it takes until another process leads.
#pragma once

#include <CLI/App.hpp>

#include "cli/grpc_commands.h"
#include "cli/sub_command.h"

namespace whorl::cli {

SubCommand AddTakeoverCommand(CLI::App& bench, const GrpcCommands& grpc);

}  // namespace whorl::cli
