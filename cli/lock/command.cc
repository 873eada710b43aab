#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstddef>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/lock/commands.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "cli/version.h"

namespace whorl::cli {
namespace {

constexpr size_t kHelpColumn = 30;

// Adds the place of exec's command to the usage, since CLI11 never sees that command.
class Formatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    if (app->get_name() != "exec") return usage;
    usage.erase(usage.find_last_not_of('\n') + 1);
    return usage + " -- COMMAND [ARGUMENT...]\n";
  }
};

// The arguments after "whorl", divided at the first `--` of exec.
struct Line {
  std::vector<std::string> arguments;  // "lock", "exec", ...
  std::vector<std::string> command;
  bool is_exec = false;
};

Line LineOf(int argc, char** argv) {
  Line line;
  line.arguments.emplace_back("lock");
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    line.is_exec = line.is_exec || (i == 2 && word == "exec");
    if (line.is_exec && word == "--") {
      line.command.assign(argv + i + 1, argv + argc);
      break;
    }
    line.arguments.push_back(word);
  }
  return line;
}

int Run(const Line& line) {
  const int wrong = line.is_exec ? static_cast<int>(kExecFailed) : static_cast<int>(kBadInput);
  if (const std::string empty = EmptyArgument(line.arguments, " of whorl lock"); !empty.empty()) {
    Complain(empty);
    return wrong;
  }
  CLI::App root("Simulation and verification testbed for distributed locks on Cloud Spanner.",
                "whorl");
  root.formatter(std::make_shared<Formatter>());
  root.require_subcommand(1);
  root.get_formatter()->column_width(kHelpColumn);
  CLI::App& lock = *root.add_subcommand("lock", "Take part in locks on Cloud Spanner");
  lock.set_version_flag("--version", std::string("whorl ") + kVersion);
  lock.require_subcommand(1);
  lock.footer(
      "SPANNER_EMULATOR_HOST names an emulator; credentials are Google's Application Default.\n"
      "whorl lock SUBCOMMAND --help says more.");
  const std::vector<SubCommand> commands = {AddExecCommand(lock, line.command),
                                            AddRunCommand(lock),
                                            AddInitCommand(lock),
                                            AddDoctorCommand(lock),
                                            AddGetCommand(lock),
                                            AddListCommand(lock),
                                            AddReleaseCommand(lock),
                                            AddDeleteCommand(lock),
                                            AddMigrateCommand(lock)};
  if (const auto code = Parse(root, line.arguments, wrong)) return *code;
  for (const SubCommand& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return wrong;
}

}  // namespace

int RunLockCommand(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const Line line = LineOf(argc, argv);
  try {
    return Run(line);
  } catch (const std::exception& error) {
    Complain(std::string("cannot go on: ") + error.what());
    return line.is_exec ? static_cast<int>(kExecFailed) : static_cast<int>(kCannotRun);
  }
}

}  // namespace whorl::cli
