#include "cli/hunt/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/exit_options.h"
#include "sim/judge/known.h"

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

// What is still new, as a reason to go on or to stop.
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

// How far runs came along the waypoints.
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

// What runs have not met proves nothing.
void PrintNever(const HuntReport& report, std::ostream& out) {
  for (const auto& [protocol, tally] : report.tallies) {
    std::vector<std::string_view> never;
    for (const sim::Sometimes goal : AllOf<sim::Sometimes>()) {
      if (tally.met[static_cast<size_t>(goal)].runs == 0) never.push_back(WordOf(goal));
    }
    if (!never.empty()) out << protocol << ": never happened: " << ListOf(never) << '\n';
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
      << named.protocol->name << ": " << WordOf(named.kind->invariant)
      << (named.kind->where == "nothing" ? " violated before any commit" : " violated at ")
      << (named.kind->where == "nothing" ? "" : named.kind->where) << " ("
      << sim::PromiseText(sim::KnownOf(scenario, named.kind->invariant)) << "), in "
      << CountText(finding.runs, "run", "runs") << "\n  " << scenario.about << "\n  run "
      << sim::NameText(finding.name) << ": " << SizeText(finding.size);
  if (finding.shrunk) {
    out << "; shrunk: " << SizeText(sim::SizeOf(*finding.shrunk)) << " (by "
        << CountText(finding.shrink_runs, "run", "runs") << ")";
  } else {
    out << "; not shrunk";
  }
  out << "\n  " << ReplayLine(report, named, command, save_folder) << '\n';
}

void PrintHunt(const HuntReport& report, const ExitRules& rules, const std::string& command,
               const std::string& save_folder, std::ostream& out) {
  PrintTable(report, out);
  PrintKinds(report, out);
  PrintReached(report, out);
  PrintNever(report, out);
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

}  // namespace whorl::cli
