#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/located_error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "sim/scenario/earlier_words.h"
#include "sim/scenario/json_document.h"
#include "sim/scenario/loader.h"

namespace whorl::cli {
namespace {

struct ConvertOptions {
  std::string file;
  std::string out;
};

int RunConvert(const ConvertOptions& options) {
  const absl::StatusOr<std::string> read = sim::ReadScenarioText(options.file);
  if (!read.ok()) {
    Complain(std::string(read.status().message()));
    return kBadInput;
  }
  std::vector<Problem> problems;
  const auto document = sim::JsonDocument::Parse(*read, problems);
  if (!document || !problems.empty()) {
    for (const std::string& line : ErrorLines(options.file, problems)) Complain(line);
    return kBadInput;
  }
  const std::optional<std::string> converted = sim::FromEarlierWords(*read);
  if (!converted) Complain(Cat(Printable(options.file, 1'000), ": has today's words already"));
  const std::string& text = converted ? *converted : *read;
  if (options.out.empty() || options.out == "-") {
    std::cout << text;
    return End(FlushStdout());
  }
  OutputFile file;
  if (const absl::Status opened = file.Open(options.out); !opened.ok()) return End(opened);
  file.stream() << text;
  return End(file.Commit());
}

constexpr std::string_view kConvertFooter = R"(Examples:
  whorl convert examples/rules.json                     on standard output
  whorl convert examples/rules.json --out rules.json

Rules and scenarios of earlier releases go on working as they are; this writes them in today's words
(scenarios/LANGUAGE.md). Comments and order stay.

Exit codes: 0 written; 2 the file cannot be read or is no JSON, or bad usage; 3 it could not
be written.)";

}  // namespace

SubCommand AddConvertCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("convert", "Write a file of an earlier release in today's words");
  const auto options = std::make_shared<ConvertOptions>();
  app->add_option("file", options->file, "rules or a scenario, or - (standard input)")
      ->type_name("FILE")
      ->required();
  app->add_option("--out", options->out, "where to (default: standard output)")->type_name("FILE");
  app->footer(std::string(kConvertFooter));
  return {.app = app, .run = [options] { return RunConvert(*options); }};
}

}  // namespace whorl::cli
