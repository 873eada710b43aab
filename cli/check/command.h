// whorl check: judges histories that others recorded.
#pragma once

#include <memory>
#include <optional>

#include "cli/check/record_stream.h"
#include "cli/check/request.h"
#include "cli/check/resume.h"
#include "cli/commands.h"
#include "cli/grpc_commands.h"

namespace whorl::cli {

SubCommand AddCheckCommand(CLI::App& root, const GrpcCommands& grpc);

// Judges the files of the request and, unless it is null, what is read of a database. Returns the exit
// code.
// REQUIRES: the request was found to be in order, by the sub-command.
int RunCheck(const CheckRequest& request, std::unique_ptr<RecordStream> stream,
             std::optional<Resumed> resumed = std::nullopt);

}  // namespace whorl::cli
