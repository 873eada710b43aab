// A sub-command of `whorl`: its place in the command line, and what it does.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace whorl::cli {

struct SubCommand {
  CLI::App* app = nullptr;   // in the root, which owns it
  std::function<int()> run;  // REQUIRES: the command line was parsed; returns the exit code
};

}  // namespace whorl::cli
