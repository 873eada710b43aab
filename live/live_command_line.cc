#include "live/live_command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "live/live_command.h"
#include "live/live_options.h"
#include "live/takeover_on.h"

namespace whorl::live {
namespace {

constexpr size_t kHelpColumn = 26;

int Run(int argc, char** argv) {
  // argv[0] is the sub-command.
  const std::vector<std::string> words(argv, argv + argc);
  if (const std::string empty = cli::EmptyArgument(words, " of whorl " + words[0]);
      !empty.empty()) {
    cli::Complain(empty);
    return cli::kBadInput;
  }
  CLI::App root("Simulation and verification testbed for distributed locks on Cloud Spanner.",
                "whorl");
  root.require_subcommand(1);
  root.get_formatter()->column_width(kHelpColumn);
  CLI::App* replay = root.add_subcommand("replay", "Run scenarios on real processes");
  const auto options = std::make_shared<LiveOptions>();
  AddLiveOptions(*replay, options);
  CLI::App* bench = root.add_subcommand("bench", "Measure on real processes");
  bench->require_subcommand(1);
  CLI::App* takeover = bench->add_subcommand("takeover", "How long until somebody else leads");
  const auto request = std::make_shared<TakeoverOnRequest>();
  AddTakeoverOnOptions(*takeover, request);
  if (const auto code = cli::Parse(root, words, cli::kBadInput)) return *code;
  return replay->parsed() ? RunLive(*options) : RunTakeoverOn(*request);
}

}  // namespace

int LiveMain(int argc, char** argv) {
  cli::HandleSignals();
  std::ios::sync_with_stdio(false);
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    cli::Complain(std::string("cannot go on: ") + error.what());
    return cli::kCannotRun;
  }
}

}  // namespace whorl::live
