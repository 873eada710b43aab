#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/grpc/commands.h"
#include "cli/interrupt.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "live/foreign/conformance.h"
#include "live/refusals.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {
namespace {

using live::Conformance;
using live::ConformancePoint;
using sim::Json;
using Result = ConformancePoint::Result;

constexpr size_t kHelpColumn = 26;

constexpr std::string_view kFooter = R"(Examples:
  whorl conform ./node --protocol spindle_v2
  whorl conform ./node --protocol fenced_lease --on emulator --json

Runs PROGRAM twice, as nodes a and b of one lock, through a crash, a restart and a stop, and says what
it lacks to take part in scenarios: whether its statements are the protocol's, and whether it says what
whorl has to know. live/foreign/README.md has the contract. Whether the lock is right is another
question, for whorl replay --on server --program PROGRAM.
Exit codes: 0 nothing is missing; 1 something is; 2 bad input or usage; 3 the run was not possible, or
the program said something that it must not say.)";

struct ConformRequest {
  std::string program;
  std::string protocol;
  std::optional<live::BackendKind> on;
  bool json = false;
};

std::string_view WordOfResult(Result result) {
  switch (result) {
    case Result::kMet:
      return "yes";
    case Result::kNotMet:
      return "NO";
    case Result::kNotSeen:
      return "not seen";
  }
  return "";
}

void Print(const Conformance& conformance) {
  constexpr size_t kIndent = 10;
  for (const ConformancePoint& point : conformance.points) {
    std::string line(WordOfResult(point.result));
    line.resize(kIndent, ' ');
    line += point.what;
    if (!point.found.empty()) line += ": ";
    for (const char c : point.found) {
      line += c;
      if (c == '\n') line.append(kIndent + 2, ' ');
    }
    std::cout << line << '\n';
  }
}

void PrintJson(const ConformRequest& request, const Conformance& conformance) {
  Json points = Json::array();
  for (const ConformancePoint& point : conformance.points) {
    points.push_back(
        {{"point", point.what}, {"result", WordOfResult(point.result)}, {"found", point.found}});
  }
  std::cout << sim::DumpJson({{"program", request.program},
                              {"protocol", request.protocol},
                              {"on", WordOf(*request.on)},
                              {"conforms", conformance.Met()},
                              {"points", points}},
                             2)
            << '\n';
}

void AddOptions(CLI::App& app, const std::shared_ptr<ConformRequest>& request) {
  app.add_option_function<std::string>(
         "PROGRAM",
         [request](const std::string& text) { request->program = ProgramAt("PROGRAM", text); },
         "the program, which speaks as live/foreign/README.md says")
      ->type_name("")
      ->required();
  app.add_option_function<std::string>(
         "--protocol",
         [request](const std::string& text) {
           std::vector<std::string_view> known;
           for (const ProtocolInfo& info : Protocols()) {
             if (info.statements != nullptr) known.push_back(info.name);
           }
           request->protocol = known[PlaceOfWord("--protocol", "protocol", text, known)];
         },
         "the protocol that it implements")
      ->type_name("P")
      ->required();
  AddOn(app, request->on,
        "on whorl's own server over the model (the default), or on the official emulator");
  app.add_flag("--json", request->json, "print one JSON document instead of text");
  app.footer(std::string(kFooter));
}

int Run(int argc, char** argv) {
  const auto request = std::make_shared<ConformRequest>();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const std::string empty = EmptyArgument(arguments, " of whorl conform"); !empty.empty()) {
    Complain(empty);
    return kBadInput;
  }
  CLI::App root("Simulation and verification testbed for distributed locks on Cloud Spanner.",
                "whorl");
  root.set_version_flag("--version", std::string("whorl ") + kVersion);
  root.require_subcommand(1);
  root.get_formatter()->column_width(kHelpColumn);
  AddOptions(*root.add_subcommand("conform", "Say what a program lacks to take part in scenarios"),
             request);
  if (const auto code = Parse(root, arguments, kBadInput)) return *code;
  if (!request->on) request->on = live::BackendKind::kServer;
  const ProtocolInfo& info = *FindProtocol(request->protocol);
  const sim::Scenario scenario = live::ConformanceScenario(info);
  const std::vector<std::string> refusals =
      live::RefusalsOf(*request->on, scenario, request->program);
  for (const std::string& refusal : refusals) Complain(refusal);
  if (!refusals.empty()) return kBadInput;
  if (!request->json) {
    std::cout << Cat(request->program, " as ", info.name, ", on ", WordOf(*request->on), " for ",
                     FormatDuration(scenario.duration), ":\n")
              << std::flush;
  }
  const absl::StatusOr<Conformance> conformance =
      live::CheckConformance(*request->on, info, request->program);
  if (!conformance.ok()) {
    Complain(std::string(conformance.status().message()));
    return kCannotRun;
  }
  if (request->json) {
    PrintJson(*request, *conformance);
  } else {
    Print(*conformance);
  }
  if (const absl::Status flushed = FlushStdout(); !flushed.ok()) return End(flushed);
  return conformance->Met() ? kAsExpected : kExpectationFailed;
}

}  // namespace

int RunConformCommand(int argc, char** argv) {
  HandleSignals();
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    Complain(std::string("cannot go on: ") + error.what());
    return kCannotRun;
  }
}

}  // namespace whorl::cli
