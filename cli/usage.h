// What to tell a person whose command line could not be understood.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace whorl::cli {

// One sentence or more, with the nearest known word where there is one.
// REQUIRES: `error` is what parsing `root` has thrown.
std::string UsageError(const CLI::App& root, const CLI::ParseError& error);

}  // namespace whorl::cli
