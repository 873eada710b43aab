// The command `whorl bench takeover --on`.
#pragma once

#include <CLI/App.hpp>
#include <memory>

#include "cli/bench/takeover_options.h"
#include "live/backend.h"

namespace whorl::live {

struct TakeoverOnRequest {
  cli::TakeoverRequest asked;
  BackendKind on = BackendKind::kServer;
};

void AddTakeoverOnOptions(CLI::App& app, const std::shared_ptr<TakeoverOnRequest>& request);

// Returns the exit code.
int RunTakeoverOn(TakeoverOnRequest request);

}  // namespace whorl::live
