#include "cli/hunt/compare.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/exit_rules.h"
#include "cli/hunt/save.h"
#include "cli/hunt/text.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "cli/version.h"
#include "sim/hunt/compare.h"
#include "sim/measure/statistics.h"
#include "sim/report/json_print.h"
#include "sim/scenario/writer.h"
#include "sim/world/mix.h"

namespace whorl::cli {

namespace {

using sim::BatchStep;

class Comparer {
 public:
  explicit Comparer(const HuntRequest& request)
      : request_(request),
        comparison_(
            sim::ComparisonOf(request.hunt, {request.compared.at(0), request.compared.at(1)})) {}

  int Run() {
    const SignalNotice notice;
    // What would fail at the end of all the work fails before it.
    if (!request_.out.empty()) {
      if (const absl::Status opened = file_.Open(request_.out); !opened.ok()) return End(opened);
    }
    if (!request_.save_folder.empty()) {
      if (const absl::Status made = MakeFolder(request_.save_folder); !made.ok()) return End(made);
    }
    if (const absl::Status ran = RunWorlds(); !ran.ok()) return End(ran);
    ComparisonReport report =
        MakeComparisonReport(std::move(comparison_), RunsAsked(request_).value_or(0));
    for (HuntReport& side : report.told) {
      if (const absl::Status shrunk = Shrink(side); !shrunk.ok()) return End(shrunk);
    }
    return Tell(report);
  }

 private:
  absl::Status RunWorlds() {
    const auto started = std::chrono::steady_clock::now();
    uint64_t done = 0;
    Progress progress;
    const absl::Status status = sim::RunComparison(
        RunsOfComparison(request_), static_cast<int>(request_.jobs),
        [&](uint64_t worlds) {
          done = worlds;
          const double seconds = SecondsSince(started);
          if (progress.IsDue()) progress.Show(SpeedText(worlds * sim::kSides, seconds));
          is_over_ = request_.time && seconds * 1e9 >= static_cast<double>(request_.time->ns);
          return is_over_ || SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        comparison_);
    Progress::Clear();
    is_over_ |= done >= RunsOfComparison(request_) || !SignalNotice::HasCome();
    std::cerr << SpeedText(done * sim::kSides, SecondsSince(started)) << '\n';
    return status;
  }

  absl::Status Shrink(HuntReport& side) const {
    if (SignalNotice::HasCome()) return absl::OkStatus();
    Progress progress;
    const absl::Status status = sim::ShrinkFindings(
        side.hunt, static_cast<int>(request_.jobs),
        [&](size_t done) {
          if (progress.IsDue()) {
            progress.Show(Cat(std::to_string(done), " findings shrunk"));
          }
          return SignalNotice::HasCome() ? BatchStep::kStop : BatchStep::kGoOn;
        },
        side.tallies);
    Progress::Clear();
    return status;
  }

  // If one output cannot be written, the others get the report all the same.
  int Tell(const ComparisonReport& report) {
    const std::string& folder = request_.save_folder;
    absl::Status done;
    for (const HuntReport& side : report.told) done.Update(SaveFindings(request_, side));
    if (request_.json || !request_.out.empty()) {
      const std::string lines = ComparisonLines(report, request_.command, folder);
      if (request_.json) std::cout << lines;
      if (!request_.out.empty()) {
        file_.stream() << lines;
        done.Update(file_.Commit());
      }
    }
    if (!request_.json) PrintComparison(report, request_.command, folder, std::cout);
    done.Update(FlushStdout());
    return EndJudged(done, *request_.exits,
                     {.has_found = SecondIsWorse(report), .is_incomplete = !is_over_});
  }

  const HuntRequest& request_;
  sim::ProtocolComparison comparison_;
  bool is_over_ = false;  // all worlds were run, or the time that was given is over
  OutputFile file_;
};

}  // namespace

int Compare(const HuntRequest& request) { return Comparer(request).Run(); }

namespace {

using sim::ComparedInvariant;
using sim::ComparedRun;
using sim::Json;
using sim::kSides;
using sim::ProtocolComparison;
using sim::RunsThatBroke;
using sim::SideOfRun;
using Value = std::optional<int64_t>;

const ComparedInvariant& CountsOf(const ProtocolComparison& comparison, Invariant invariant) {
  return comparison.invariants[static_cast<size_t>(invariant)];
}

Promise PromiseOf(const ProtocolComparison& comparison, size_t side, Invariant invariant) {
  return FindProtocol(comparison.Name(side))->promises[static_cast<size_t>(invariant)];
}

// "spindle_v3", or "the first fenced_lease" beside itself.
std::string SideName(const ProtocolComparison& comparison, size_t side) {
  if (comparison.Name(0) != comparison.Name(1)) return comparison.Name(side);
  return Cat(side == 0 ? "the first " : "the second ", comparison.Name(side));
}

// --- what a run took ---------------------------------------------------------------------------

struct FigureKind {
  std::string_view word;  // in JSON
  std::string_view text;
  bool is_rate = false;  // thousandths of calls; otherwise nanoseconds
  Value (*of)(const ComparedRun& run, const SideOfRun& side);
};

// Thousandths for an hour of one lock.
int64_t PerLockHour(int64_t count, const ComparedRun& run) {
  const auto hour = static_cast<sim::Int128>(Seconds(3600).ns) * 1000;
  return static_cast<int64_t>(hour * count / run.lock_time.ns);
}

constexpr std::array<FigureKind, 5> kFigures = {{
    {.word = "first_takeover",
     .text = "first takeover, s",
     .of = [](const ComparedRun&, const SideOfRun& side) -> Value {
       if (!side.figures.first_takeover) return std::nullopt;
       return side.figures.first_takeover->ns;
     }},
    {.word = "without_holder",
     .text = "longest without a holder, s",
     .of = [](const ComparedRun&, const SideOfRun& side) -> Value {
       return side.without_holder.ns;
     }},
    {.word = "calls",
     .text = "calls per lock-hour",
     .is_rate = true,
     .of = [](const ComparedRun& run, const SideOfRun& side) -> Value {
       return PerLockHour(side.figures.calls, run);
     }},
    {.word = "commits",
     .text = "commits per lock-hour",
     .is_rate = true,
     .of = [](const ComparedRun& run, const SideOfRun& side) -> Value {
       return PerLockHour(side.figures.commits, run);
     }},
    {.word = "questions",
     .text = "questions per lock-hour",
     .is_rate = true,
     .of = [](const ComparedRun& run, const SideOfRun& side) -> Value {
       return PerLockHour(side.figures.questions, run);
     }},
}};

struct Figure {
  const FigureKind* kind = nullptr;
  std::array<sim::Distribution, kSides> sides;
  sim::Distribution difference;  // second less first, of runs in which both have a value
};

Figure FigureOf(const FigureKind& kind, const std::vector<ComparedRun>& runs) {
  std::array<std::vector<int64_t>, kSides> values;
  std::vector<int64_t> differences;
  for (const ComparedRun& run : runs) {
    const std::array<Value, kSides> both = {kind.of(run, run.sides[0]), kind.of(run, run.sides[1])};
    for (size_t side = 0; side < kSides; ++side) {
      if (both[side]) values[side].push_back(*both[side]);
    }
    if (both[0] && both[1]) differences.push_back(*both[1] - *both[0]);
  }
  return {.kind = &kind,
          .sides = {sim::DistributionOf(std::move(values[0]), 0),
                    sim::DistributionOf(std::move(values[1]), 0)},
          .difference = sim::DistributionOf(std::move(differences), 0)};
}

// --- text --------------------------------------------------------------------------------------

std::string NumberText(const FigureKind& kind, Value value) {
  if (!value) return "?";
  return kind.is_rate ? FormatSeconds({*value * 1'000'000}, 1) : FormatSeconds({*value}, 3);
}

// "8.029 (7.991 to 8.112)".
std::string EstimateText(const FigureKind& kind, const sim::QuantileEstimate& estimate) {
  if (!estimate.value) return "-";
  return Cat(NumberText(kind, estimate.value), " (", NumberText(kind, estimate.low), " to ",
             NumberText(kind, estimate.high), ")");
}

std::vector<std::string> FigureRow(const FigureKind& kind, std::string_view figure, std::string of,
                                   const sim::Distribution& values) {
  return {std::string(figure),
          std::move(of),
          GroupedText(values.count),
          values.mean ? NumberText(kind, values.mean) : "-",
          EstimateText(kind, values.p50),
          EstimateText(kind, values.p99)};
}

void PrintFigures(const ProtocolComparison& comparison, std::ostream& out) {
  TextTable table({"of a run", "with", "runs", "mean", "median (95 %)", "p99 (95 %)"}, 2);
  for (const FigureKind& kind : kFigures) {
    const Figure figure = FigureOf(kind, comparison.runs);
    for (size_t side = 0; side < kSides; ++side) {
      table.Add(FigureRow(kind, side == 0 ? kind.text : "", SideName(comparison, side),
                          figure.sides[side]));
    }
    table.Add(FigureRow(kind, "", "  second less first", figure.difference));
  }
  out << '\n';
  table.Print(out);
  out << "(a lock-hour: a simulated hour of one lock; ?: too few runs to tell)\n";
}

// A share of a million in percent: "3.04 (1.75 to 5.21)".
std::string ShareText(int64_t count, int64_t all) {
  const sim::ShareEstimate share = sim::ShareOf(count, all);
  if (!share.value) return "-";
  const auto percent = [](Value millionths) { return FormatSeconds({*millionths * 100'000}, 2); };
  return Cat(percent(share.value), " (", percent(share.low), " to ", percent(share.high), ")");
}

std::string CountAndFirst(const RunsThatBroke& runs) {
  if (!runs.first) return "0";
  return Cat(GroupedText(runs.runs), " (run ", std::to_string(*runs.first), ")");
}

void PrintInvariants(const ProtocolComparison& comparison, std::ostream& out) {
  const auto all = static_cast<int64_t>(comparison.runs.size());
  TextTable table({"broken", SideName(comparison, 0) + " % (95 %)",
                   SideName(comparison, 1) + " % (95 %)", "first alone", "second alone", "both"},
                  1);
  std::vector<std::string_view> kept;
  for (const Invariant invariant : AllOf<Invariant>()) {
    const ComparedInvariant& counts = CountsOf(comparison, invariant);
    if (counts.BrokenBy(0) + counts.BrokenBy(1) == 0) {
      kept.push_back(WordOf(invariant));
      continue;
    }
    table.Add({std::string(WordOf(invariant)), ShareText(counts.BrokenBy(0), all),
               ShareText(counts.BrokenBy(1), all), CountAndFirst(counts.alone[0]),
               CountAndFirst(counts.alone[1]), CountAndFirst(counts.both)});
  }
  if (!table.empty()) {
    out << '\n';
    table.Print(out);
  }
  if (!kept.empty()) out << "\nbroken by neither: " << ListOf(kept) << '\n';
}

// "not promised there; fenced_lease promises it".
std::string PromisesText(const ComparisonReport& report, size_t side, Invariant invariant) {
  const bool is_promised = std::ranges::any_of(
      FindingsOf(report.told[side].tallies), [invariant](const NamedFinding& finding) {
        return finding.kind->invariant == invariant && finding.IsPromised();
      });
  const ProtocolComparison& comparison = report.comparison;
  const bool other_promises = PromiseOf(comparison, 1 - side, invariant) == Promise::kPromised;
  return Cat(is_promised ? "promised" : "not promised there",
             other_promises ? Cat("; ", comparison.Name(1 - side), " promises it") : "");
}

void PrintVerdict(const ComparisonReport& report, std::ostream& out) {
  const ProtocolComparison& comparison = report.comparison;
  for (size_t side = 0; side < kSides; ++side) {
    std::string text;
    for (const Invariant invariant : AllOf<Invariant>()) {
      if (!comparison.IsBrokenByAlone(invariant, side)) continue;
      text += Cat(text.empty() ? "" : ", ", WordOf(invariant), " (",
                  PromisesText(report, side, invariant), ")");
    }
    out << "broken by " << SideName(comparison, side)
        << " only: " << (text.empty() ? "nothing" : text) << '\n';
  }
}

// --- JSON --------------------------------------------------------------------------------------

Json LineOf(std::string_view line) {
  Json json = Json::object();
  json["format"] = "whorl-compare";
  json["version"] = kCompareFormat;
  json["whorl"] = kVersion;
  json["line"] = line;
  return json;
}

Json OrNull(Value value) { return value ? Json(*value) : Json(nullptr); }

Json RunsJson(const RunsThatBroke& runs) {
  Json json = Json::object();
  json["runs"] = runs.runs;
  json["first"] = nullptr;
  if (runs.first) json["first"] = std::to_string(*runs.first);
  return json;
}

Json ProtocolsLine(const ComparisonReport& report) {
  const ProtocolComparison& comparison = report.comparison;
  const sim::HuntOptions& hunt = comparison.hunts[0];
  Json json = LineOf("protocols");
  json["protocols"] = Json::array({comparison.Name(0), comparison.Name(1)});
  json["seed"] = std::to_string(hunt.seed);
  json["duration"] = FormatDuration(hunt.world.duration);
  Json& kinds = json["faults"] = Json::array();
  for (const sim::FaultKind kind : hunt.world.kinds) {
    kinds.push_back(std::string(sim::FaultKindText(kind)));
  }
  json["beyond_assumptions"] = hunt.world.beyond_assumptions;
  json["invariant"] = nullptr;
  if (hunt.invariant) json["invariant"] = std::string(WordOf(*hunt.invariant));
  json["promised"] = hunt.promised_only;
  return json;
}

Json InvariantLine(const ProtocolComparison& comparison, Invariant invariant) {
  const ComparedInvariant& counts = CountsOf(comparison, invariant);
  const auto all = static_cast<int64_t>(comparison.runs.size());
  Json json = LineOf("invariant");
  json["invariant"] = std::string(WordOf(invariant));
  json["promises"] = Json::array();
  json["alone"] = Json::array();
  json["broken_millionths"] = Json::array();
  for (size_t side = 0; side < kSides; ++side) {
    json["promises"].push_back(std::string(WordOf(PromiseOf(comparison, side, invariant))));
    json["alone"].push_back(RunsJson(counts.alone[side]));
    const sim::ShareEstimate share = sim::ShareOf(counts.BrokenBy(side), all);
    json["broken_millionths"].push_back(Json::object({{"value", OrNull(share.value)},
                                                      {"low", OrNull(share.low)},
                                                      {"high", OrNull(share.high)}}));
  }
  json["both"] = RunsJson(counts.both);
  return json;
}

Json EstimateJson(const sim::QuantileEstimate& estimate) {
  return {{"value", OrNull(estimate.value)},
          {"low", OrNull(estimate.low)},
          {"high", OrNull(estimate.high)}};
}

Json DistributionJson(const sim::Distribution& values) {
  return {{"runs", values.count},
          {"mean", OrNull(values.mean)},
          {"p50", EstimateJson(values.p50)},
          {"p99", EstimateJson(values.p99)}};
}

Json FigureLine(const FigureKind& kind, const ProtocolComparison& comparison) {
  const Figure figure = FigureOf(kind, comparison.runs);
  Json json = LineOf("figure");
  json["figure"] = kind.word;
  json["unit"] = kind.is_rate ? "thousandths per lock-hour" : "ns";
  json["of"] = Json::array({DistributionJson(figure.sides[0]), DistributionJson(figure.sides[1])});
  json["difference"] = DistributionJson(figure.difference);
  return json;
}

Json FindingLineOf(const HuntReport& side, size_t place, const NamedFinding& named,
                   const std::string& command, const std::string& save_folder) {
  const sim::Scenario scenario = sim::ScenarioOf(side.hunt, *named.kind, *named.finding);
  Json json = LineOf("finding");
  json["side"] = place;
  json["protocol"] = std::string(named.protocol->name);
  json["invariant"] = std::string(WordOf(named.kind->invariant));
  json["where"] = named.kind->where;
  json["promised"] = named.IsPromised();
  json["run"] = std::to_string(named.finding->run);
  json["scenario"] = Json::parse(sim::ScenarioLine(scenario));
  json["replay"] = ReplayLine(side, named, command, save_folder);
  return json;
}

}  // namespace

ComparisonReport MakeComparisonReport(sim::ProtocolComparison comparison, uint64_t asked) {
  ComparisonReport report{.comparison = std::move(comparison), .asked = asked, .told = {}};
  for (size_t side = 0; side < kSides; ++side) {
    const sim::HuntTally& tally = report.comparison.tallies[side];
    sim::HuntTallies told;
    sim::HuntTally& its = told[report.comparison.Name(side)];
    for (const Invariant invariant : AllOf<Invariant>()) {
      const sim::ViolationKind* least = nullptr;
      for (const auto& [kind, finding] : tally.findings) {
        if (kind.invariant != invariant) continue;
        if (!finding.promised && !report.comparison.IsBrokenByAlone(invariant, side)) continue;
        if (least == nullptr || finding.Rank() < tally.findings.at(*least).Rank()) least = &kind;
      }
      if (least != nullptr) its.findings[*least] = tally.findings.at(*least);
    }
    report.told[side] = MakeReport(report.comparison.hunts[side], asked, std::move(told));
  }
  return report;
}

bool SecondIsWorse(const ComparisonReport& report) {
  for (const sim::HuntTally& tally : report.comparison.tallies) {
    if (!tally.differing.empty()) return true;
  }
  // Its promises and what it breaks alone.
  return sim::FoundAnything(report.told[1].tallies);
}

void PrintComparison(const ComparisonReport& report, const std::string& command,
                     const std::string& save_folder, std::ostream& out) {
  const ProtocolComparison& comparison = report.comparison;
  out << "first: " << comparison.Name(0) << ", second: " << comparison.Name(1) << "; "
      << CountText(static_cast<int64_t>(comparison.runs.size()), "world", "worlds")
      << ", each for both; " << GroupedText(comparison.equal) << " the same to the event\n";
  for (size_t side = 0; side < kSides; ++side)
    PrintDiffering(comparison.Name(side), comparison.tallies[side], out);
  PrintInvariants(comparison, out);
  PrintFigures(comparison, out);
  for (const HuntReport& side : report.told) {
    for (const NamedFinding& finding : FindingsOf(side.tallies)) {
      PrintFinding(side, finding, ReplayLine(side, finding, command, save_folder), out);
    }
  }
  out << '\n';
  PrintVerdict(report, out);
  if (report.asked > comparison.runs.size()) {
    out << "ended early, after " << GroupedText(static_cast<int64_t>(comparison.runs.size()))
        << " of " << GroupedText(static_cast<int64_t>(report.asked)) << " worlds\n";
  }
}

std::string ComparisonLines(const ComparisonReport& report, const std::string& command,
                            const std::string& save_folder) {
  const ProtocolComparison& comparison = report.comparison;
  std::string lines = sim::DumpJson(ProtocolsLine(report)) + "\n";
  for (const Invariant invariant : AllOf<Invariant>()) {
    lines += sim::DumpJson(InvariantLine(comparison, invariant)) + "\n";
  }
  for (const FigureKind& kind : kFigures) {
    lines += sim::DumpJson(FigureLine(kind, comparison)) + "\n";
  }
  for (size_t side = 0; side < kSides; ++side) {
    const HuntReport& told = report.told[side];
    for (const NamedFinding& finding : FindingsOf(told.tallies)) {
      lines += sim::DumpJson(FindingLineOf(told, side, finding, command, save_folder)) + "\n";
    }
  }
  Json end = LineOf("end");
  end["runs"] = comparison.runs.size();
  end["asked"] = nullptr;
  if (report.asked != 0) end["asked"] = report.asked;
  end["equal"] = comparison.equal;
  end["hashes"] =
      Json::array({HashText(comparison.tallies[0].hash), HashText(comparison.tallies[1].hash)});
  Json& differing = end["differing"] = Json::array();
  for (const sim::HuntTally& tally : comparison.tallies) {
    for (const uint64_t run : tally.differing) differing.push_back(std::to_string(run));
  }
  return lines + sim::DumpJson(end) + "\n";
}

}  // namespace whorl::cli
