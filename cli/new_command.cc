#include <filesystem>
#include <iostream>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/shell_text.h"
#include "sim/report/starter_scenario.h"
#include "sim/scenario/fields.h"

namespace whorl::cli {
namespace {

struct NewOptions {
  std::string file;
  std::string protocol;
  bool force = false;
  std::string command;
};

// Null, after a message, if there is no protocol of that name.
const ProtocolInfo* ChooseProtocol(const NewOptions& options) {
  if (options.protocol.empty()) return &Protocols().front();
  if (const ProtocolInfo* protocol = FindProtocol(options.protocol)) return protocol;
  std::vector<std::string_view> names;
  for (const ProtocolInfo& protocol : Protocols()) names.push_back(protocol.name);
  Complain(sim::UnknownWord("protocol", options.protocol, names));
  return nullptr;
}

int RunNew(const NewOptions& options) {
  const ProtocolInfo* protocol = ChooseProtocol(options);
  if (protocol == nullptr) return kBadInput;
  const std::string text = sim::StarterScenario(*protocol);
  if (options.file.empty() || options.file == "-") {
    std::cout << text;
    return End(FlushStdout());
  }
  std::error_code error;
  const auto status = std::filesystem::symlink_status(options.file, error);
  const std::string name = Printable(options.file, 1'000);
  if (std::filesystem::is_directory(status)) {
    Complain(Cat(name, ": is a folder; say the name of a file in it"));
    return kBadInput;
  }
  if (std::filesystem::exists(status) && !options.force) {
    Complain(Cat(name, ": is there already; --force writes over it"));
    return kBadInput;
  }
  OutputFile file;
  if (const absl::Status opened = file.Open(options.file); !opened.ok()) return End(opened);
  file.stream() << text;
  if (const absl::Status written = file.Commit(); !written.ok()) return End(written);
  std::cout << name << ": try " << ShellQuoted(options.command) << " replay "
            << ShellQuoted(options.file) << " --timeline\n";
  return End(FlushStdout());
}

constexpr std::string_view kNewFooter = R"(Examples:
  whorl new my.json                             then: whorl replay my.json --timeline
  whorl new --protocol spindle_v2 another.json
  whorl new                                     on standard output

Exit codes: 0 written; 2 the file is there already (--force), or bad usage; 3 it could not be
written.)";

}  // namespace

SubCommand AddNewCommand(CLI::App& root, const std::string& command) {
  CLI::App* app = root.add_subcommand("new", "Write a commented scenario to start from");
  const auto options = std::make_shared<NewOptions>();
  options->command = command;
  app->add_option("file", options->file, "where to; else standard output")->type_name("FILE");
  app->add_option("--protocol", options->protocol, "which protocol (default: the first one)")
      ->type_name("NAME");
  app->add_flag("--force", options->force, "write over a file that is there");
  app->footer(std::string(kNewFooter));
  return {.app = app, .run = [options] { return RunNew(*options); }};
}

}  // namespace whorl::cli
