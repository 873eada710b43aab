// whorl bench takeover --on: a few takeovers in real time, beside the simulated distribution.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>

#include "cli/takeover_options.h"
#include "live/backend.h"

namespace whorl::live {

struct LiveTakeoverRequest {
  std::shared_ptr<cli::TakeoverRequest> request = std::make_shared<cli::TakeoverRequest>();
  BackendKind on = BackendKind::kServer;
};

void AddLiveTakeoverOptions(CLI::App& app, const std::shared_ptr<LiveTakeoverRequest>& request);

// Returns the exit code.
int RunLiveTakeover(const LiveTakeoverRequest& request);

}  // namespace whorl::live
