#include "cli/hunt/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "cli/exit_rules.h"
#include "sim/judge/known.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/waypoints.h"

namespace whorl::cli {

namespace {

std::string Padded(std::string text, size_t width, bool to_the_right) {
  const std::string space(width > text.size() ? width - text.size() : 0, ' ');
  return to_the_right ? space + text : text + space;
}

// "2 (0-14)": the median, the least and the greatest.
std::string SpreadText(const sim::Histogram& histogram) {
  if (histogram.counts.empty()) return "-";
  return Cat(std::to_string(histogram.Quantile(50)), " (",
             std::to_string(histogram.counts.begin()->first), "-",
             std::to_string(histogram.counts.rbegin()->first), ")");
}

void PrintTable(const HuntReport& report, std::ostream& out) {
  constexpr std::array<std::string_view, 7> kHeads = {
      "protocol", "runs", "run twice", "nodes", "faults", "takeovers", "unknown outcomes"};
  std::vector<std::array<std::string, 7>> rows(1);
  for (size_t i = 0; i < kHeads.size(); ++i) rows[0][i] = kHeads[i];
  for (const auto& [protocol, tally] : report.tallies) {
    rows.push_back({protocol, GroupedText(tally.runs), GroupedText(tally.checked),
                    SpreadText(tally.nodes), SpreadText(tally.faults), SpreadText(tally.takeovers),
                    SpreadText(tally.unknown_outcomes)});
  }
  std::array<size_t, 7> widths{};
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line = Padded(row[0], widths[0], false);
    for (size_t i = 1; i < row.size(); ++i) line += "  " + Padded(row[i], widths[i], true);
    out << line << '\n';
  }
  out << "(of a run: the median, the least and the most)\n";
}

// "12.3 %", rounded down. REQUIRES: all > 0.
std::string PercentText(int64_t part, int64_t all) {
  const int64_t tenths = part * 1000 / all;
  return Cat(std::to_string(tenths / 10), ".", std::to_string(tenths % 10), " %");
}

// Prints how much is still new, which is a reason to go on or to stop.
void PrintKinds(const HuntReport& report, std::ostream& out) {
  const uint64_t recent = report.coverage.FirstOfLast(kRecentRuns);
  for (const auto& [protocol, tally] : report.tallies) {
    if (tally.runs == 0) continue;
    out << protocol << ": " << CountText(tally.kinds.size(), "kind of step", "kinds of steps")
        << ", " << GroupedText(tally.kinds.NewSince(recent)) << " of them new in the last "
        << GroupedText(static_cast<int64_t>(kRecentRuns))
        << " runs; the next run shows a new one with a probability of "
        << PercentText(tally.kinds.RunsAlone(), tally.runs) << "\n";
  }
}

// Prints how far runs came along the waypoints.
void PrintReached(const HuntReport& report, std::ostream& out) {
  for (const auto& [protocol, tally] : report.tallies) {
    for (size_t i = 0; i < tally.reached.size(); ++i) {
      const sim::RunsThat& reached = tally.reached[i];
      out << protocol << ": waypoint " << i + 1 << ", "
          << Quoted(TextOf(report.hunt, report.hunt.reach[i])) << ": ";
      if (reached.runs == 0) {
        out << "never reached\n";
        continue;
      }
      out << "reached in " << CountText(reached.runs, "run", "runs") << ", first in run "
          << sim::NameText(reached.first) << '\n';
    }
  }
}

// Prints what no run has met: of that, the hunt proves nothing.
void PrintNever(const HuntReport& report, std::ostream& out) {
  for (const auto& [protocol, tally] : report.tallies) {
    std::vector<std::string_view> never;
    for (const sim::Sometimes goal : AllOf<sim::Sometimes>()) {
      if (tally.met[static_cast<size_t>(goal)].runs == 0) never.push_back(WordOf(goal));
    }
    if (!never.empty()) out << protocol << ": never happened: " << ListOf(never) << '\n';
  }
}

// Which circumstances voided the promise, and for how much of the simulated time; empty if none did.
std::string NotPromisedText(const sim::HuntTally& tally, Invariant invariant) {
  std::string text;
  for (const Circumstance circumstance : AllOf<Circumstance>()) {
    const Duration time =
        tally.not_promised[static_cast<size_t>(invariant)][static_cast<size_t>(circumstance)];
    if (time == Duration{}) continue;
    text += Cat(text.empty() ? "" : "; ",
                PercentText(time.ns / 1'000'000, tally.simulated.ns / 1'000'000), " ",
                WordOf(circumstance));
  }
  return text;
}

void PrintNotPromised(const HuntReport& report, std::ostream& out) {
  constexpr size_t kNameWidth = 22;  // of most invariants
  for (const auto& [protocol, tally] : report.tallies) {
    bool has_head = false;
    for (const Invariant invariant : AllOf<Invariant>()) {
      const std::string text = NotPromisedText(tally, invariant);
      if (text.empty()) continue;
      if (!std::exchange(has_head, true)) {
        out << protocol << ": not promised for a part of the time:\n";
      }
      out << "  " << Padded(std::string(WordOf(invariant)), kNameWidth, false) << "  " << text
          << '\n';
    }
  }
}

std::string SizeText(const sim::Size& size) {
  return Cat(CountText(size.faults, "fault", "faults"), ", ",
             CountText(size.nodes, "node", "nodes"), ", ", CountText(size.locks, "lock", "locks"),
             ", ", FormatDuration(size.duration));
}

void PrintSummary(const HuntReport& report, size_t findings, size_t deciding, std::ostream& out) {
  out << '\n'
      << CountText(sim::RunCount(report.tallies), "run", "runs") << ": "
      << CountText(static_cast<int64_t>(findings), "kind of violation", "kinds of violations");
  if (deciding == 0 && findings > 0) {
    out << (findings == 1 ? ", which does not decide" : ", none of which decides");
  }
  if (deciding > 0 && deciding < findings) {
    out << ", " << deciding << (deciding == 1 ? " of which decides" : " of which decide");
  }
  out << MissingText(report.coverage, report.asked);
  if (report.is_partial) out << "; partial: lines of a report are missing";
  out << '\n';
}

}  // namespace

void PrintDiffering(const std::string& protocol, const sim::HuntTally& tally, std::ostream& out) {
  for (const uint64_t run : tally.differing) {
    out << "run " << run << " of " << protocol
        << " came out otherwise the second time: a mistake of whorl's\n";
  }
}

void PrintFinding(const HuntReport& report, const NamedFinding& named, const std::string& command,
                  const std::string& save_folder, std::ostream& out) {
  const sim::Finding& finding = *named.finding;
  const sim::Scenario scenario = sim::ScenarioOf(report.hunt, *named.kind, finding);
  out << '\n'
      << named.protocol->name << ": " << WordOf(named.kind->invariant) << " violated "
      << named.kind->WhereText() << " ("
      << sim::PromiseText(
             sim::KnownOf(scenario, named.kind->invariant,
                          named.IsPromised() ? Promise::kPromised : Promise::kNotPromised))
      << "), in " << CountText(finding.runs, "run", "runs") << "\n  " << scenario.about
      << "\n  run " << sim::NameText(finding.name) << ": " << SizeText(finding.size);
  if (finding.shrunk) {
    out << "; shrunk: " << SizeText(sim::SizeOf(*finding.shrunk)) << " (by "
        << CountText(finding.shrink_runs, "run", "runs") << ")";
  } else {
    out << "; not shrunk";
  }
  out << "\n  " << ReplayLine(report, named, command, save_folder) << '\n';
}

std::vector<JunitTest> JunitTestsOf(const HuntReport& report, const ExitRules& rules,
                                    const std::string& command, const std::string& save_folder) {
  std::vector<JunitTest> tests;
  const std::vector<NamedFinding> findings = FindingsOf(report.tallies);
  for (const auto& [protocol, tally] : report.tallies) {
    const ProtocolInfo& info = *FindProtocol(protocol);
    for (const Invariant invariant : AllOf<Invariant>()) {
      if (report.hunt.invariant && *report.hunt.invariant != invariant) continue;
      JunitTest test{.group = protocol, .name = std::string(WordOf(invariant)), .text = {}};
      const auto place = static_cast<size_t>(invariant);
      std::ostringstream text;
      if (info.promises[place] == Promise::kNotApplicable) {
        test.outcome = JunitOutcome::kSkipped;
        text << protocol << " has no such thing";
      } else {
        text << "violated in " << GroupedText(tally.violated[place]) << " of "
             << CountText(tally.runs, "run", "runs") << '\n';
      }
      for (const NamedFinding& finding : findings) {
        if (finding.protocol != &info || finding.kind->invariant != invariant) continue;
        if (Decides(finding, rules)) test.outcome = JunitOutcome::kFailed;
        PrintFinding(report, finding, command, save_folder, text);
      }
      test.text = text.str();
      tests.push_back(std::move(test));
    }
    if (tally.differing.empty()) continue;
    std::ostringstream text;
    PrintDiffering(protocol, tally, text);
    tests.push_back({.group = protocol,
                     .name = "runs can be repeated",
                     .outcome = JunitOutcome::kFailed,
                     .text = text.str()});
  }
  return tests;
}

void PrintHunt(const HuntReport& report, const ExitRules& rules, const std::string& command,
               const std::string& save_folder, std::ostream& out) {
  PrintTable(report, out);
  PrintKinds(report, out);
  PrintReached(report, out);
  PrintNever(report, out);
  PrintNotPromised(report, out);
  for (const auto& [protocol, tally] : report.tallies) PrintDiffering(protocol, tally, out);
  const std::vector<NamedFinding> findings = FindingsOf(report.tallies);
  const auto decides = [&](const NamedFinding& finding) { return Decides(finding, rules); };
  const auto deciding = static_cast<size_t>(std::ranges::count_if(findings, decides));
  for (const bool told_now : {true, false}) {
    if (!told_now && deciding < findings.size()) out << '\n' << kUndecidingHead << '\n';
    for (const NamedFinding& finding : findings) {
      if (decides(finding) != told_now) continue;
      PrintFinding(report, finding, command, save_folder, out);
    }
  }
  PrintSummary(report, findings.size(), deciding, out);
}

double SecondsSince(std::chrono::steady_clock::time_point started) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

std::string SpeedText(uint64_t runs, double seconds) {
  const auto rate = static_cast<int64_t>(static_cast<double>(runs) / std::max(seconds, 0.001));
  return Cat(CountText(static_cast<int64_t>(runs), "run", "runs"), " in ",
             FormatSeconds({static_cast<int64_t>(seconds * 1e9)}, 1), " s (", GroupedText(rate),
             " a second)");
}

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
    // A violation is no finding where a fault of that world lifts the promise.
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
