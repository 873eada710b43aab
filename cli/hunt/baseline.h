// `whorl hunt --save-baseline`, `--baseline` and `--compare-commands`: records what runs did, and tells how the
// same worlds go with another revision.
#pragma once

#include <CLI/App.hpp>

#include "cli/hunt/options.h"

namespace whorl::cli {

// Each returns the exit code.

// Runs the hunt and writes what its runs did into request.save_baseline.
int SaveBaseline(const HuntRequest& request);

// Runs the hunt that the file request.baseline records, and compares. Options of `app` that were given and are
// not the file's are refused.
int CompareWithBaseline(const CLI::App& app, HuntRequest request);

// Lets both of request.compared_commands record the hunt, and compares what they did.
int CompareCommands(const HuntRequest& request);

}  // namespace whorl::cli
