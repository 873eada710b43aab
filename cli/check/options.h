// Reads the options of `whorl check`.
#pragma once

#include <CLI/App.hpp>
#include <memory>

#include "cli/check/request.h"

namespace whorl::cli {

// Parsing `app` fills `request`.
void AddCheckOptions(CLI::App& app, const std::shared_ptr<CheckRequest>& request);

}  // namespace whorl::cli
