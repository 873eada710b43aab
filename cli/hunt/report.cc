#include "cli/hunt/report.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "cli/shell_text.h"
#include "sim/scenario/waypoints.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {

std::string TextOf(const sim::HuntOptions& hunt, const sim::Waypoint& waypoint) {
  return sim::WaypointText(waypoint, hunt.from.value_or(sim::Scenario{}));
}

HuntReport MakeReport(const sim::HuntOptions& hunt, std::optional<uint64_t> asked,
                      sim::HuntTallies tallies) {
  const auto runs = static_cast<uint64_t>(sim::RunCount(tallies));
  HuntReport report{.hunt = hunt,
                    .asked = asked,
                    .coverage = {.shards = hunt.shards, .runs = {{hunt.shard, runs}}},
                    .tallies = std::move(tallies)};
  report.hunt.shard = 0;
  report.hunt.shards = 1;
  return report;
}

std::vector<NamedFinding> FindingsOf(const sim::HuntTallies& tallies) {
  std::vector<NamedFinding> findings;
  for (const bool promised : {true, false}) {
    for (const auto& [protocol, tally] : tallies) {
      for (const auto& [kind, finding] : tally.findings) {
        const NamedFinding named{
            .protocol = FindProtocol(protocol), .kind = &kind, .finding = &finding};
        if (named.IsPromised() == promised) findings.push_back(named);
      }
    }
  }
  return findings;
}

bool Decides(const NamedFinding& finding, const ExitRules& rules) {
  return rules.Decides({.invariant = finding.kind->invariant, .is_promised = finding.IsPromised()});
}

bool HasDecided(const HuntReport& report, const ExitRules& rules) {
  const bool differs = std::ranges::any_of(
      report.tallies, [](const auto& entry) { return !entry.second.differing.empty(); });
  return differs || std::ranges::any_of(FindingsOf(report.tallies), [&](const NamedFinding& found) {
           return Decides(found, rules);
         });
}

bool IsIncomplete(const HuntReport& report) {
  return report.is_partial || !MissingText(report.coverage, report.asked).empty();
}

std::string NameOfFinding(const ProtocolInfo& protocol, const sim::ViolationKind& kind) {
  return Cat(protocol.name, ".", WordOf(kind.invariant), ".", kind.where);
}

std::string SavedPath(const NamedFinding& finding, const std::string& save_folder) {
  return (std::filesystem::path(save_folder) /
          (NameOfFinding(*finding.protocol, *finding.kind) + ".json"))
      .string();
}

sim::Scenario SavedScenario(const HuntReport& report, const NamedFinding& finding,
                            const std::string& save_folder) {
  sim::Scenario scenario = sim::ScenarioOf(report.hunt, *finding.kind, *finding.finding);
  scenario.path = SavedPath(finding, save_folder);
  scenario.name = NameOfFinding(*finding.protocol, *finding.kind);
  return scenario;
}

std::string ReplayLine(const HuntReport& report, const NamedFinding& finding,
                       const std::string& command, const std::string& save_folder) {
  const std::string replay = Cat(ShellQuoted(command), " replay ");
  // Others may be violated before it.
  const std::string explain = Cat(" --explain=", WordOf(finding.kind->invariant));
  if (!save_folder.empty()) {
    return Cat(replay, ShellQuoted(SavedPath(finding, save_folder)), explain);
  }
  const sim::Scenario scenario = sim::ScenarioOf(report.hunt, *finding.kind, *finding.finding);
  return Cat("echo ", ShellQuoted(sim::ScenarioLine(scenario)), " | ", replay, "-", explain);
}

}  // namespace whorl::cli
