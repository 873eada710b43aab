// A sub-command of `whorl`: its options, and the function that runs it.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace whorl::cli {

struct SubCommand {
  CLI::App* app = nullptr;   // owned by the root
  std::function<int()> run;  // REQUIRES: the command line was parsed; returns the exit code
  // Makes the options where there are many: a command line makes those that it names alone, since they
  // are a good part of the time that a start takes. Empty if they are made already.
  std::function<void()> make_options = {};
};

}  // namespace whorl::cli
