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

// What to do where so many of all runs have shown something that no other has. REQUIRES: all > 0.
std::string_view AdviceOn(int64_t alone, int64_t all) {
  if (alone * 100 >= all) return "more runs are still worth it";
  if (alone * 1'000 >= all) return "more runs show little that is new";
  return "more runs are hardly worth it; other options or another protocol may be";
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
        << PercentText(tally.kinds.RunsAlone(), tally.runs) << ": "
        << AdviceOn(tally.kinds.RunsAlone(), tally.runs) << "\n";
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
        out << protocol << ": not promised for a part of the simulated time:\n";
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

// Which promises were broken, and how much else was found.
struct Verdict {
  std::vector<std::string_view> broken;  // invariants, each once
  int64_t outside = 0;                   // kinds of violations that break no promise
  bool decides = false;                  // at least one of these, by --any or --expect
};

// Of one protocol; of all, if `protocol` is empty.
Verdict VerdictOf(const std::vector<NamedFinding>& findings, std::string_view protocol,
                  const ExitRules& rules) {
  Verdict verdict;
  for (const NamedFinding& finding : findings) {
    if (!protocol.empty() && finding.protocol->name != protocol) continue;
    if (!finding.IsPromised()) {
      ++verdict.outside;
      verdict.decides |= Decides(finding, rules);
      continue;
    }
    const std::string_view name = WordOf(finding.kind->invariant);
    if (std::ranges::find(verdict.broken, name) == verdict.broken.end()) {
      verdict.broken.push_back(name);
    }
  }
  return verdict;
}

// "0 promises broken", "2 promises broken (isolation, no_wedge)".
std::string BrokenText(const Verdict& verdict) {
  const std::string count =
      CountText(static_cast<int64_t>(verdict.broken.size()), "promise", "promises") + " broken";
  return verdict.broken.empty() ? count : Cat(count, " (", ListOf(verdict.broken), ")");
}

// "; 9 kinds of violations outside of what it promises"; empty if there is none.
std::string OutsideText(const Verdict& verdict, std::string_view of_what) {
  if (verdict.outside == 0) return "";
  return Cat("; ", CountText(verdict.outside, "kind of violation", "kinds of violations"),
             " outside of ", of_what);
}

// Prints for each protocol what a reader wants to know first.
void PrintVerdicts(const HuntReport& report, const std::vector<NamedFinding>& findings,
                   const ExitRules& rules, std::ostream& out) {
  for (const auto& [protocol, tally] : report.tallies) {
    const Verdict verdict = VerdictOf(findings, protocol, rules);
    out << protocol << ": " << BrokenText(verdict) << " in " << CountText(tally.runs, "run", "runs")
        << OutsideText(verdict, "what it promises, listed below");
    if (report.hunt.invariant) {
      out << " (looked for " << WordOf(*report.hunt.invariant) << " alone)";
    }
    out << '\n';
  }
}

// Why the exit code is what it is; empty if nothing was found and nothing is missing.
std::string_view ReasonOf(const HuntReport& report, const Verdict& verdict, const ExitRules& rules,
                          const CommandResult& result) {
  const bool differs = std::ranges::any_of(
      report.tallies, [](const auto& entry) { return !entry.second.differing.empty(); });
  if (!verdict.broken.empty()) return ", since a promise was broken";
  if (differs) return ", since a run could not be repeated";
  if (verdict.decides) return ", since --any or --expect names what was found";
  if (result.is_incomplete && rules.accepts_incomplete) {
    return ", by --accept-incomplete, although it did not come to its end";
  }
  if (result.is_incomplete) return ", since it did not come to its end";
  if (verdict.outside == 0) return "";
  return ", since nothing that was found is promised (--any, --expect INVARIANT)";
}

void PrintSummary(const HuntReport& report, const std::vector<NamedFinding>& findings,
                  const ExitRules& rules, const CommandResult& result, std::ostream& out) {
  const Verdict verdict = VerdictOf(findings, "", rules);
  out << '\n'
      << CountText(sim::RunCount(report.tallies), "run", "runs") << ": " << BrokenText(verdict)
      << OutsideText(verdict, "what is promised") << MissingText(report.coverage, report.asked);
  if (report.is_partial) out << "; partial: lines of a report are missing";
  const bool is_chosen = result.has_found && rules.found_code != kExpectationFailed;
  out << "; exit code " << CodeOf(rules, result) << (is_chosen ? " (--exit-code-found)" : "")
      << ReasonOf(report, verdict, rules, result) << '\n';
}

// How a report tells of a finding.
enum class FindingGroup : uint8_t { kBroken, kAskedFor, kUndeciding };

FindingGroup GroupOf(const NamedFinding& finding, const ExitRules& rules) {
  if (finding.IsPromised()) return FindingGroup::kBroken;
  return Decides(finding, rules) ? FindingGroup::kAskedFor : FindingGroup::kUndeciding;
}

std::string_view HeadOf(FindingGroup group) {
  switch (group) {
    case FindingGroup::kBroken:
      return "promises that were broken:";
    case FindingGroup::kAskedFor:
      return "found, and not promised, and named by --any or --expect:";
    case FindingGroup::kUndeciding:
      break;
  }
  return kUndecidingHead;
}

// How to see the finding again. One that does not decide is not worth a line of a whole scenario.
std::string AgainLine(const HuntReport& report, const NamedFinding& finding, FindingGroup group,
                      const std::string& command, const std::string& save_folder) {
  if (group != FindingGroup::kUndeciding || !save_folder.empty()) {
    return ReplayLine(report, finding, command, save_folder);
  }
  return Cat("with --save DIR: ", ReplayLine(report, finding, command, "DIR"));
}

}  // namespace

void PrintDiffering(const std::string& protocol, const sim::HuntTally& tally, std::ostream& out) {
  for (const uint64_t run : tally.differing) {
    out << "run " << run << " of " << protocol
        << " came out otherwise the second time: a mistake of whorl's\n";
  }
}

void PrintFinding(const HuntReport& report, const NamedFinding& named, const std::string& again,
                  std::ostream& out) {
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
  out << "\n  " << again << '\n';
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
        PrintFinding(report, finding, ReplayLine(report, finding, command, save_folder), text);
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

void PrintHunt(const HuntReport& report, const ExitRules& rules, const CommandResult& result,
               const std::string& command, const std::string& save_folder, std::ostream& out) {
  const std::vector<NamedFinding> findings = FindingsOf(report.tallies);
  PrintVerdicts(report, findings, rules, out);
  PrintTable(report, out);
  PrintKinds(report, out);
  PrintReached(report, out);
  PrintNever(report, out);
  PrintNotPromised(report, out);
  for (const auto& [protocol, tally] : report.tallies) PrintDiffering(protocol, tally, out);
  for (const FindingGroup group :
       {FindingGroup::kBroken, FindingGroup::kAskedFor, FindingGroup::kUndeciding}) {
    bool has_head = false;
    for (const NamedFinding& finding : findings) {
      if (GroupOf(finding, rules) != group) continue;
      if (!std::exchange(has_head, true)) out << '\n' << HeadOf(group) << '\n';
      PrintFinding(report, finding, AgainLine(report, finding, group, command, save_folder), out);
    }
  }
  PrintSummary(report, findings, rules, result, out);
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
