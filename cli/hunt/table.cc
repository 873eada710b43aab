#include "cli/hunt/table.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "sim/judge/known.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/goals.h"

namespace whorl::cli {
namespace {

// The simplest scenario that shows the violation, if possible without an operator's doing; null when
// none does.
const sim::Scenario* Showing(const Inputs& inputs, std::string_view protocol, Invariant invariant) {
  const sim::Scenario* simplest = nullptr;
  const auto rank = [](const sim::Scenario& scenario) {
    return std::tuple(sim::Has(scenario, Circumstance::kOperatorWrites),
                      scenario.expect.violates.size(), scenario.spanner.splits.size(),
                      scenario.faults.size(), scenario.nodes.size(), scenario.duration,
                      scenario.name);
  };
  for (const sim::Scenario& scenario : inputs.scenarios) {
    const std::vector<Invariant>& violates = scenario.expect.violates;
    if (scenario.protocol != protocol || std::ranges::find(violates, invariant) == violates.end()) {
      continue;
    }
    if (simplest == nullptr || rank(scenario) < rank(*simplest)) simplest = &scenario;
  }
  return simplest;
}

std::string Cell(const ProtocolInfo& protocol, const sim::HuntTally& tally, Invariant invariant,
                 const Inputs& inputs, const std::string& folder) {
  const auto place = static_cast<size_t>(invariant);
  const Promise promise = protocol.promises[place];
  if (promise == Promise::kNotApplicable) return "n/a";
  if (promise == Promise::kPromised) {
    // What is broken where a fault takes it out of the promise is no finding against it.
    const bool is_broken = std::ranges::any_of(tally.findings, [invariant](const auto& found) {
      return found.first.invariant == invariant && found.second.promised;
    });
    if (is_broken) return "**promised, and broken**";
    if (invariant == Invariant::kFencedWritesOrdered) {
      return std::string(sim::PromiseWords(invariant, promise));
    }
    const std::string unknown =
        tally.unknown[place] == 0 ? "" : Cat(", ", GroupedText(tally.unknown[place]), " unknown");
    return Cat("holds (", CountText(tally.held[place], "run", "runs"), unknown, ")");
  }
  if (const sim::Scenario* shows = Showing(inputs, protocol.name, invariant)) {
    const std::string file = (std::filesystem::path(folder) / (shows->name + ".json")).string();
    return Cat("broken ([", shows->name, "](", file, "))");
  }
  return tally.violated[place] == 0 ? "not promised" : "broken";
}

// "| invariant | spindle_v2 | ... |", and the line below it.
std::string HeadOfTable(std::string_view rows, const HuntReport& report) {
  std::string head = Cat("| ", rows, " |");
  std::string rule = "|---|";
  for (const auto& [protocol, tally] : report.tallies) {
    head += Cat(" ", protocol, " |");
    rule += "---|";
  }
  return Cat(head, "\n", rule, "\n");
}

// Below the table: why no run of some protocols meets a goal.
void PrintImpossible(const HuntReport& report, std::ostream& out) {
  for (const sim::Sometimes goal : AllOf<sim::Sometimes>()) {
    std::map<std::string_view, std::vector<std::string_view>> protocols;  // by reason
    for (const auto& [protocol, tally] : report.tallies) {
      const std::string_view why = sim::WhyNever(*FindProtocol(protocol), goal);
      if (!why.empty()) protocols[why].push_back(protocol);
    }
    for (const auto& [why, whose] : protocols) {
      out << WordOf(goal) << " cannot be, with " << ListOf(whose) << ": " << why << '\n';
    }
  }
}

}  // namespace

void PrintGoals(const HuntReport& report, std::ostream& out) {
  out << HeadOfTable("goal", report);
  for (const sim::Sometimes goal : AllOf<sim::Sometimes>()) {
    out << "| `" << WordOf(goal) << "` |";
    for (const auto& [protocol, tally] : report.tallies) {
      const sim::RunsThat& met = tally.met[static_cast<size_t>(goal)];
      const bool can = sim::WhyNever(*FindProtocol(protocol), goal).empty();
      out << ' ' << (met.runs > 0 ? sim::NameText(met.first) : can ? "never" : "cannot") << " |";
    }
    out << '\n';
  }
  PrintImpossible(report, out);
}

void PrintHuntTable(const HuntReport& report, const Inputs& scenarios, const std::string& folder,
                    std::ostream& out) {
  out << HeadOfTable("invariant", report);
  for (const Invariant invariant : AllOf<Invariant>()) {
    out << "| `" << WordOf(invariant) << "` |";
    for (const auto& [protocol, tally] : report.tallies) {
      out << ' ' << Cell(*FindProtocol(protocol), tally, invariant, scenarios, folder) << " |";
    }
    out << '\n';
  }
}

}  // namespace whorl::cli
