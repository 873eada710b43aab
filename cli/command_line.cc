#include "cli/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/check/command.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/grpc_commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "cli/wrapped_output.h"

namespace whorl::cli {
namespace {

constexpr size_t kHelpColumn = 26;

// How to call this command from the current folder: build/whorl rather than a long path.
std::string CommandFromHere(const std::string& called) {
  const std::filesystem::path path = called;
  std::error_code error;
  if (!path.is_absolute()) return called;
  const std::filesystem::path near = path.lexically_relative(std::filesystem::current_path(error));
  if (error || near.empty() || *near.begin() == "..") return called;
  return near.has_parent_path() ? near.string() : "./" + near.string();
}

int Run(int argc, char** argv, const GrpcCommands& grpc) {
  const std::vector<std::string> words(argv, argv + argc);
  if (const std::string empty = EmptyArgument(words, ""); !empty.empty()) {
    Complain(empty);
    return kBadInput;
  }
  CLI::App root("Simulation and verification testbed for distributed locks on Cloud Spanner.",
                "whorl");
  root.set_version_flag("--version", std::string("whorl ") + kVersion);
  root.require_subcommand(1);
  root.get_formatter()->column_width(kHelpColumn);
  root.footer(
      "Examples:\n"
      "  whorl replay scenarios\n"
      "  whorl replay scenarios/gc_pause_stale_token.json --timeline\n"
      "  whorl hunt --protocol spindle_v2 --for 60s\n"
      "  whorl explore --protocol fenced_lease --crashes 1\n"
      "  whorl check examples/check/changes.jsonl --protocol spindle_v2 --lease 10s\n"
      "  whorl new my.json\n"
      "  whorl protocols\n"
      "\n"
      "whorl SUBCOMMAND --help says more, and so does whorl help SUBCOMMAND.");
  const std::string called = CommandFromHere(argc > 0 ? argv[0] : "whorl");
  std::vector<SubCommand> commands = {AddReplayCommand(root, called, grpc),
                                      AddHuntCommand(root, called), AddExploreCommand(root, called),
                                      AddBenchCommand(root, grpc)};
  // These exist for the help and for suggestions; Main has already run them.
  for (const GrpcSubCommand& command : kGrpcSubCommands) {
    root.add_subcommand(std::string(command.name), std::string(command.help));
  }
  commands.insert(commands.end(), {AddCheckCommand(root, grpc), AddNewCommand(root, called),
                                   AddConvertCommand(root), AddDiffCommand(root),
                                   AddReportCommand(root, called), AddProtocolsCommand(root)});
  // An option of a sub-command that stands before it is looked for among those of all.
  const bool is_misplaced = words.size() > 1 && words[1].starts_with("-") &&
                            root.get_option_no_throw(words[1]) == nullptr;
  for (const SubCommand& command : commands) {
    if (!command.make_options) continue;
    if (is_misplaced) {
      command.make_options();
    } else {
      command.app->preparse_callback([make = command.make_options](size_t) { make(); });
    }
  }
  const size_t named = std::min<size_t>(words.size(), 1);
  if (const auto code = Parse(root, {words.begin() + named, words.end()}, kBadInput)) return *code;
  for (const SubCommand& command : commands) {
    if (root.got_subcommand(command.app)) return command.run();
  }
  return kBadInput;
}

}  // namespace

int Main(int argc, char** argv) {
  // `whorl help lock exec` is `whorl lock exec --help`.
  std::vector<char*> words(argv, argv + argc);
  std::string option = "--help";
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.push_back(option.data());
  }
  const auto count = static_cast<int>(words.size());
  words.push_back(nullptr);
  return Main(count, words.data(), HandedOver(count, words.data()));
}

int Main(int argc, char** argv, const GrpcCommands& grpc) {
  for (const GrpcSubCommand& command : kGrpcSubCommands) {
    if (argc > 1 && command.name == argv[1]) return (grpc.*command.run)();
  }
  HandleSignals();
  std::ios::sync_with_stdio(false);
  const WrappedOutput wrapped(std::cout,
                              StdoutIsTerminal() ? static_cast<size_t>(ScreenWidth()) : 0);
  try {
    return Run(argc, argv, grpc);
  } catch (const std::exception& error) {
    Complain(std::string("cannot go on: ") + error.what());
    return kCannotRun;
  }
}

}  // namespace whorl::cli
