#include "cli/check/print.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "check/no_protocol.h"
#include "check/verdict_json.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/shell_text.h"
#include "cli/version.h"
#include "sim/judge/known.h"
#include "sim/measure/statistics.h"
#include "sim/report/timeline_layout.h"
#include "sim/scenario/writer.h"

namespace whorl::cli {

namespace {

using check::HistoryVerdict;
using check::InvariantResult;
using sim::Json;
using sim::Verdict;

constexpr int kCheckFormat = 1;

sim::Distribution DistributionOf(const std::vector<Duration>& durations) {
  std::vector<int64_t> ns;
  for (const Duration duration : durations) ns.push_back(duration.ns);
  return sim::DistributionOf(std::move(ns), /*missing=*/0);
}

std::string Numbers(const std::vector<Duration>& durations) {
  const sim::Distribution all = DistributionOf(durations);
  if (all.count == 0) return "none";
  return Cat(std::to_string(all.count), " (median ", FormatDuration({*all.p50.value}), ", 90 % ",
             FormatDuration({*all.p90.value}), ", longest ", FormatDuration({*all.max}), ")");
}

// One of the counts of each takeover.
sim::Distribution DistributionOf(const std::vector<check::TakeoverCost>& costs,
                                 int64_t check::TakeoverCost::* count) {
  std::vector<int64_t> counts;
  for (const check::TakeoverCost& cost : costs) counts.push_back(cost.*count);
  return sim::DistributionOf(std::move(counts), /*missing=*/0);
}

std::string CostText(const check::HistoryMetrics& metrics) {
  if (metrics.takeovers == 0) return "none";
  const std::vector<check::TakeoverCost>& costs = metrics.takeover_costs;
  if (costs.empty()) {
    return "unknown; to know: log each \"call\" about a lock, and its outcome";
  }
  const auto numbers = [&](int64_t check::TakeoverCost::* count) {
    const sim::Distribution all = DistributionOf(costs, count);
    return Cat(std::to_string(*all.p50.value), " (90 % ", std::to_string(*all.p90.value), ", most ",
               std::to_string(*all.max), ")");
  };
  return Cat("calls ", numbers(&check::TakeoverCost::calls), ", commits ",
             numbers(&check::TakeoverCost::commits), ", aborted ",
             numbers(&check::TakeoverCost::aborted), "; known of ", std::to_string(costs.size()),
             " of ", std::to_string(metrics.takeovers));
}

// Rounded so that no clock seems better known than it is.
std::string AheadText(check::Offsets ahead) {
  constexpr int64_t kMicrosecond = 1'000;
  const auto down = [](int64_t ns) { return ns / kMicrosecond - (ns % kMicrosecond < 0 ? 1 : 0); };
  return Cat(FormatDuration(Microseconds(down(ahead.least.ns))), " to ",
             FormatDuration(Microseconds(-down(-ahead.most.ns))));
}

void PrintClocks(const std::vector<check::ClockFinding>& clocks) {
  constexpr size_t kShown = 20;
  if (clocks.empty()) return;
  std::cout << "clocks, ahead of true time by:";
  for (size_t i = 0; i < clocks.size() && i < kShown; ++i) {
    std::cout << "\n  " << Printable(clocks[i].process, 100) << ' '
              << (clocks[i].ahead ? AheadText(*clocks[i].ahead) : "not known");
  }
  if (clocks.size() > kShown) {
    std::cout << "\n  and " << clocks.size() - kShown << " more processes (--json has all)";
  }
  std::cout << '\n';
}

// " (the first of 3, and 2 more possible)"; empty if there are no others.
std::string BesideFirstText(const InvariantResult& found) {
  std::string text;
  if (found.violations > 1) text = Cat("the first of ", GroupedText(found.violations));
  if (found.possible > 0) {
    text += Cat(text.empty() ? "" : ", ", "and ", GroupedText(found.possible), " more possible");
  }
  return text.empty() ? text : Cat(" (", text, ")");
}

std::string Explained(const InvariantResult& found) {
  std::string text = found.text;
  if (found.verdict == Verdict::kViolated) text += BesideFirstText(found);
  if (found.verdict == Verdict::kPossiblyViolated && found.clocks_wanted) {
    text += Cat("; clocks known to ", FormatDuration(*found.clocks_wanted), " would");
  }
  if (!found.remedy.empty()) text += Cat("; to know: ", found.remedy);
  return text;
}

void PrintResult(const InvariantResult& found, const ProtocolInfo& protocol) {
  const Promise promise = protocol.promises[static_cast<size_t>(found.invariant)];
  std::string word(check::HistoryWordOf(found.verdict));
  word.resize(std::max<size_t>(word.size(), 9), ' ');
  std::cout << word << ' ' << WordOf(found.invariant);
  if (promise == Promise::kPromised) {
    std::cout << " (" << sim::PromiseWords(found.invariant, promise) << ')';
  }
  std::cout << '\n';
  const std::string text = Explained(found);
  if (!text.empty()) std::cout << "          " << Printable(text, 2'000) << '\n';
}

// "2 possible: single_worker, ..", of invariants that may have been violated; empty if there is none.
std::string PossibleText(const HistoryVerdict& verdict) {
  int64_t count = 0;
  std::string names;
  for (const InvariantResult& found : verdict.invariants) {
    if (found.verdict != Verdict::kPossiblyViolated) continue;
    names += Cat(count++ == 0 ? "" : ", ", WordOf(found.invariant));
  }
  return count == 0 ? names : Cat(std::to_string(count), " possible: ", names);
}

// No protocol promises that there are no writes from outside.
void PrintOutside(const HistoryVerdict& verdict) {
  if (verdict.outside_count == 0) return;
  const std::string more = verdict.outside_count == 1
                               ? std::string()
                               : Cat(" (the first of ", std::to_string(verdict.outside_count), ")");
  std::cout << "violated  outside_write\n          "
            << Printable(Cat(verdict.outside_writes.front().text, more,
                             "; it is charged to nobody, and promises are judged from it on"),
                         2'000)
            << '\n';
}

}  // namespace

bool OutsideDecides(const HistoryVerdict& verdict, const ExitRules& rules) {
  return verdict.outside_count > 0 && !rules.promised_only;
}

bool Decides(const InvariantResult& found, const ProtocolInfo& protocol, const ExitRules& rules) {
  const Promise promise = protocol.promises[static_cast<size_t>(found.invariant)];
  return found.verdict == Verdict::kViolated &&
         rules.Decides(
             {.invariant = found.invariant, .is_promised = promise == Promise::kPromised});
}

void PrintVerdict(const HistoryVerdict& verdict, const ProtocolInfo& protocol,
                  const ExitRules& rules) {
  std::vector<InvariantResult> undeciding;
  for (const InvariantResult& found : verdict.invariants) {
    if (found.verdict == Verdict::kNotApplicable) continue;
    if (found.verdict == Verdict::kViolated && !Decides(found, protocol, rules)) {
      undeciding.push_back(found);
    } else {
      PrintResult(found, protocol);
    }
  }
  PrintOutside(verdict);
  if (!undeciding.empty()) {
    std::cout << "not promised, so that the exit code is not 1 for it (--promised):\n";
  }
  for (const InvariantResult& found : undeciding) PrintResult(found, protocol);
  std::string others;
  for (const InvariantResult& found : verdict.invariants) {
    if (found.verdict != Verdict::kNotApplicable) continue;
    others += Cat("\n          ", WordOf(found.invariant), ": ", found.text);
  }
  std::cout << "not judged" << others << "\n\n";
  const check::HistoryMetrics& metrics = verdict.metrics;
  std::cout << "row changes " << metrics.row_changes << ", lines of processes "
            << metrics.statements << ", calls " << metrics.calls << "; repeated "
            << metrics.duplicates << ", gaps " << metrics.gaps << ", too late " << metrics.late
            << '\n';
  for (const std::string& line : verdict.records.Lines()) {
    std::cout << "records " << Printable(line, 2'000) << '\n';
  }
  std::cout << "grants " << metrics.grants << ", takeovers " << metrics.takeovers << '\n'
            << "cost of a takeover, as logged: " << CostText(metrics) << '\n'
            << "time without a lease: " << Numbers(metrics.without_holder) << '\n'
            << "renewals " << metrics.renewals
            << ", after the lease's end: " << Numbers(metrics.late_renewals) << '\n'
            << "overlaps of beliefs, at least: " << Numbers(metrics.belief_overlaps) << '\n'
            << "overlaps of work, at least: " << Numbers(metrics.work_overlaps) << '\n';
  PrintClocks(verdict.clocks);
  std::cout << "taken for granted:";
  for (const std::string& assumption : verdict.assumptions) std::cout << "\n  " << assumption;
  std::cout << '\n';
}

namespace {

Json DurationsJson(const std::vector<Duration>& durations) {
  const sim::Distribution all = DistributionOf(durations);
  Json json = {{"count", all.count}};
  if (all.count == 0) return json;
  json["p50"] = FormatSeconds(Duration{*all.p50.value});
  json["p90"] = FormatSeconds(Duration{*all.p90.value});
  json["p99"] = FormatSeconds(Duration{*all.p99.value});
  json["max"] = FormatSeconds(Duration{*all.max});
  return json;
}

Json CostsJson(const std::vector<check::TakeoverCost>& costs) {
  Json json = {{"count", costs.size()}};
  if (costs.empty()) return json;
  const auto add = [&](const char* name, int64_t check::TakeoverCost::* count) {
    const sim::Distribution all = DistributionOf(costs, count);
    json[name] = {{"p50", *all.p50.value},
                  {"p90", *all.p90.value},
                  {"p99", *all.p99.value},
                  {"max", *all.max}};
  };
  add("calls", &check::TakeoverCost::calls);
  add("commits", &check::TakeoverCost::commits);
  add("aborted", &check::TakeoverCost::aborted);
  return json;
}

}  // namespace

std::vector<JunitTest> JunitTestsOf(const HistoryVerdict& verdict, const ProtocolInfo& protocol,
                                    const ExitRules& rules) {
  std::vector<JunitTest> tests;
  const std::string group(protocol.name);
  for (const InvariantResult& found : verdict.invariants) {
    JunitTest test{.group = group,
                   .name = std::string(WordOf(found.invariant)),
                   .text = Cat(check::HistoryWordOf(found.verdict), ": ", Explained(found))};
    if (Decides(found, protocol, rules)) {
      test.outcome = JunitOutcome::kFailed;
    } else if (found.verdict != Verdict::kHolds && found.verdict != Verdict::kViolated) {
      test.outcome = JunitOutcome::kSkipped;
    }
    tests.push_back(std::move(test));
  }
  if (verdict.outside_count > 0) {
    tests.push_back(
        {.group = group,
         .name = "outside_write",
         .outcome = OutsideDecides(verdict, rules) ? JunitOutcome::kFailed : JunitOutcome::kPassed,
         .text = verdict.outside_writes.front().text});
  }
  return tests;
}

Json VerdictDocument(const HistoryVerdict& verdict, const ProtocolInfo& protocol,
                     const CheckRequest& request, int64_t errors) {
  Json json = {{"format", "whorl-check"}, {"version", kCheckFormat}, {"whorl", kVersion}};
  json["protocol"] = request.protocol;
  json.update(check::VerdictJson(verdict));
  const check::HistoryMetrics& metrics = verdict.metrics;
  json["metrics"]["without_holder"] = DurationsJson(metrics.without_holder);
  json["metrics"]["late_renewals"] = DurationsJson(metrics.late_renewals);
  json["metrics"]["belief_overlaps"] = DurationsJson(metrics.belief_overlaps);
  json["metrics"]["work_overlaps"] = DurationsJson(metrics.work_overlaps);
  json["metrics"]["takeover_costs"] = CostsJson(metrics.takeover_costs);
  json["unread"] = errors;
  Json& decides = json["decides"] = Json::array();
  for (const InvariantResult& found : verdict.invariants) {
    if (Decides(found, protocol, *request.exits)) decides.push_back(WordOf(found.invariant));
  }
  if (OutsideDecides(verdict, *request.exits)) decides.push_back("outside_write");
  return json;
}

namespace {

std::string CommandText(const CheckRequest& request) {
  std::string text = "whorl check";
  for (const std::string& file : request.files) text += " " + ShellQuoted(file);
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!value.empty()) text += Cat(" ", option, " ", ShellQuoted(value));
  };
  const DatabaseRequest& database = request.database;
  add("--database", database.name);
  add("--stream", database.stream);
  if (database.from) add("--from", FormatRfc3339(*database.from));
  if (database.to) add("--to", FormatRfc3339(*database.to));
  if (database.every) add("--every", FormatDuration(*database.every));
  add("--protocol", request.protocol);
  add("--lock", request.lock);
  add("--table", request.table);
  for (const std::string& clocks : request.clocks) add("--clocks", clocks);
  if (request.format) add("--format", std::string(WordOf(*request.format)));
  add("--pattern", request.pattern);
  if (request.lease) add("--lease", FormatDuration(*request.lease));
  if (request.clock_error) add("--clock-error", FormatDuration(*request.clock_error));
  if (request.window) add("--window", FormatDuration(*request.window));
  return text;
}

}  // namespace

check::HistoryReport Reported(const CheckRequest& request, const ProtocolInfo& protocol,
                              const Judgement& judgement, const check::InferredScenario& inferred,
                              const check::HistoryVerdict& verdict) {
  return check::ReportOf(
      protocol, judgement.history(), judgement.processes(), inferred, verdict,
      {.whorl_version = kVersion, .command = CommandText(request), .lease = request.lease});
}

absl::Status WriteHistoryPage(const std::string& path, const sim::PageModel::Data& page) {
  OutputFile file;
  if (absl::Status opened = file.Open(path); !opened.ok()) return opened;
  WritePage(PageKind::kRun, page.head, page.bytes, file.stream());
  return file.Commit();
}

void PrintTimeline(const check::HistoryReport& report) {
  std::cout << '\n';
  sim::PrintTimelineLines(report.nodes, report.timeline,
                          {.width = ScreenWidth(), .colour = WantsColour(), .tells_pauses = false},
                          std::cout);
}

namespace {

// REQUIRES: no invariant is violated for certain.
std::string NothingToExplainText(const HistoryVerdict& verdict) {
  if (verdict.outside_count > 0) {
    return "no invariant was certainly violated; outside_write, above, is by no process";
  }
  const std::string possible = PossibleText(verdict);
  return possible.empty() ? "nothing was certainly violated" : Cat("nothing certain; ", possible);
}

}  // namespace

void PrintStory(const check::HistoryReport& report, const HistoryVerdict& verdict) {
  std::cout << '\n';
  if (report.story.invariant.empty()) {
    std::cout << NothingToExplainText(verdict) << '\n';
    return;
  }
  for (const std::string& line : report.story.Lines()) {
    std::cout << Printable(line, 2'000) << '\n';
  }
}

namespace {

void PrintList(std::string_view head, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  std::cout << head << ":\n";
  for (const std::string& line : lines) std::cout << "  " << Printable(line, 2'000) << '\n';
}

}  // namespace

absl::Status WriteScenario(const std::string& path, const sim::Scenario& scenario) {
  OutputFile file;
  if (absl::Status opened = file.Open(path); !opened.ok()) return opened;
  file.stream() << sim::ScenarioText(scenario);
  return file.Commit();
}

void PrintReproduction(const std::string& path, const check::Reproduction& reproduction) {
  std::cout << "\nwritten as a scenario: " << Printable(path, 1'000)
            << " (times are from the history's beginning)\n";
  PrintList("inferred", reproduction.inferred);
  PrintList("its replay is like the history", reproduction.reproduced);
  PrintList("its replay differs from the history", reproduction.not_reproduced);
  PrintList("not inferred", reproduction.not_inferred);
}

namespace {

// The violations that are certain, by whether they were promised not to be.
struct CertainCounts {
  int64_t broken = 0;   // promises
  int64_t outside = 0;  // of what is promised
};

CertainCounts CertainIn(const HistoryVerdict& verdict, const ProtocolInfo& protocol) {
  CertainCounts counts;
  for (const InvariantResult& found : verdict.invariants) {
    if (found.verdict != Verdict::kViolated) continue;
    const Promise promise = protocol.promises[static_cast<size_t>(found.invariant)];
    ++(promise == Promise::kPromised ? counts.broken : counts.outside);
  }
  return counts;
}

// "; 2 violations", and the like; empty of none.
std::string PartText(int64_t count, std::string_view one, std::string_view many) {
  return count == 0 ? std::string() : Cat("; ", CountText(count, one, many));
}

std::string_view ReasonOf(const CertainCounts& certain, int64_t outside_writes, bool is_none,
                          const ExitRules& rules, const CommandResult& result) {
  if (result.has_found) {
    if (certain.broken > 0) return "since a promise was broken";
    if (certain.outside == 0) return "since no process can have made a change of a row";
    return is_none ? "since a violation is certain"
                   : "since a violation is certain, promised or not (--promised)";
  }
  if (result.has_failed) return "since not all could be read or written";
  if (result.has_bad_input) return "since some of the input is bad";
  if (result.is_incomplete) {
    return rules.accepts_incomplete ? "by --accept-incomplete, although it was interrupted"
                                    : "since it was interrupted before the end of the files";
  }
  if (certain.outside + outside_writes > 0) {
    return "since no promise was broken (--promised)";
  }
  return "since no violation is certain";
}

}  // namespace

std::string ClosingText(const HistoryVerdict& verdict, const ProtocolInfo& protocol,
                        const ExitRules& rules, const CommandResult& result) {
  const CertainCounts certain = CertainIn(verdict, protocol);
  std::string text;
  if (check::IsNone(protocol)) {
    text = Cat("nothing is promised", PartText(certain.outside, "violation", "violations"));
  } else {
    text = Cat(CountText(certain.broken, "promise", "promises"), " broken",
               PartText(certain.outside, "violation outside of what is promised",
                        "violations outside of what is promised"),
               PartText(verdict.outside_count, "change by no process", "changes by no process"));
  }
  const std::string possible = PossibleText(verdict);
  if (!possible.empty()) text += "; " + possible;
  const int64_t unknown =
      std::ranges::count(verdict.invariants, Verdict::kUnknown, &InvariantResult::verdict);
  if (unknown > 0) text += Cat("; ", std::to_string(unknown), " unknown");
  return Cat(text, "; exit code ", std::to_string(CodeOf(rules, result)), ", ",
             ReasonOf(certain, verdict.outside_count, check::IsNone(protocol), rules, result));
}

sim::Json ReproductionJson(const std::string& path, const check::Reproduction& reproduction) {
  return {{"path", path},
          {"seed", reproduction.scenario.seed},
          {"inferred", reproduction.inferred},
          {"reproduced", reproduction.reproduced},
          {"not_reproduced", reproduction.not_reproduced},
          {"not_inferred", reproduction.not_inferred}};
}

}  // namespace whorl::cli
