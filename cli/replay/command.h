// `whorl replay`: runs scenarios, and reports what happened and whether it was as expected.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/grpc_commands.h"
#include "cli/sub_command.h"

namespace whorl::cli {

// `command` is how this command was called; the lines that say how to replay a failure use it.
SubCommand AddReplayCommand(CLI::App& root, const std::string& command, const GrpcCommands& grpc);

}  // namespace whorl::cli
