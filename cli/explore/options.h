// The options of `whorl explore`.
#pragma once

#include <CLI/App.hpp>
#include <memory>

#include "cli/explore/request.h"

namespace whorl::cli {

// Parsing `app` fills `request`.
void AddExploreOptions(CLI::App& app, const std::shared_ptr<ExploreRequest>& request);

}  // namespace whorl::cli
