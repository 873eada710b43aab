#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/version.h"
#include "sim/judge/check_report.h"
#include "sim/judge/known.h"
#include "sim/report/json_print.h"

namespace whorl::cli {
namespace {

using sim::Json;

std::string StepsText(const ProtocolInfo& protocol) {
  std::string text;
  for (const StepName step : protocol.steps) {
    if (!text.empty()) text += ", ";
    text += WordOf(step);
  }
  return text;
}

void PrintProtocol(const ProtocolInfo& protocol) {
  std::cout << protocol.name << "\n  " << protocol.summary << "\n  lease       "
            << FormatDuration(protocol.lease_default) << " by default, at least "
            << FormatDuration(protocol.lease_min) << "\n  steps       " << StepsText(protocol)
            << "\n  invariants  ";
  std::string_view separator;
  for (const Invariant invariant : AllOf<Invariant>()) {
    std::string name(WordOf(invariant));
    name.resize(24, ' ');
    std::cout << separator << name
              << sim::PromiseWords(invariant, protocol.promises[static_cast<size_t>(invariant)])
              << '\n';
    separator = "              ";
  }
}

Json ProtocolJson(const ProtocolInfo& protocol) {
  Json json = Json::object();
  json["name"] = std::string(protocol.name);
  json["summary"] = std::string(protocol.summary);
  json["create_table"] = std::string(protocol.create_table);
  json["lease_default"] = FormatSeconds(protocol.lease_default);
  json["lease_min"] = FormatSeconds(protocol.lease_min);
  Json& steps = json["steps"] = Json::array();
  for (const StepName step : protocol.steps) steps.push_back(std::string(WordOf(step)));
  Json& promises = json["promises"] = Json::object();
  for (const Invariant invariant : AllOf<Invariant>()) {
    const Promise promise = protocol.promises[static_cast<size_t>(invariant)];
    const bool of_resource =
        invariant == Invariant::kFencedWritesOrdered && promise == Promise::kPromised;
    promises[std::string(WordOf(invariant))] =
        of_resource ? "checks_the_resource" : std::string(WordOf(promise));
  }
  return json;
}

int RunProtocols(bool json) {
  if (json) {
    Json document = Json::object();
    document["format"] = "whorl-protocols";
    document["version"] = 1;
    document["whorl"] = kVersion;
    Json& protocols = document["protocols"] = Json::array();
    for (const ProtocolInfo& protocol : Protocols()) protocols.push_back(ProtocolJson(protocol));
    std::cout << sim::DumpJson(document, 2) << '\n';
  } else {
    for (const ProtocolInfo& protocol : Protocols()) PrintProtocol(protocol);
  }
  return End(FlushStdout());
}

}  // namespace

SubCommand AddProtocolsCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("protocols", "List the lock protocols and what each promises");
  const auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "print one JSON document");
  app->footer(
      "Examples:\n"
      "  whorl protocols\n"
      "  whorl protocols --json");
  return {.app = app, .run = [json] { return RunProtocols(*json); }};
}

}  // namespace whorl::cli
