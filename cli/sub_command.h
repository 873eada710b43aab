// A sub-command of `whorl`: its options, and the function that runs it.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace whorl::cli {

struct SubCommand {
  CLI::App* app = nullptr;   // owned by the root
  std::function<int()> run;  // REQUIRES: the command line was parsed; returns the exit code
};

}  // namespace whorl::cli
