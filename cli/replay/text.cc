#include "cli/replay/text.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/shell_text.h"
#include "cli/version.h"
#include "sim/judge/checkers/setup.h"
#include "sim/judge/expectations.h"
#include "sim/judge/known.h"
#include "sim/report/json_print.h"
#include "sim/report/state_report.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/loader.h"
#include "sim/world/driver.h"

namespace whorl::cli {

namespace {

using sim::Metric;

constexpr size_t kVerdictWidth = 7;
constexpr std::string_view kIndent = "         ";

std::string Left(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}
std::string Right(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string CountRange(Range range) {
  if (range.min == range.max) return GroupedText(range.min);
  return Cat(GroupedText(range.min), "-", GroupedText(range.max));
}

std::string Milliseconds(Duration duration) { return FormatSeconds(duration, 3); }

// "250,000:1"; "-" if the run was too short to be measured.
std::string RatioText(const Tally& tally) {
  constexpr double kMeasurable = 1e-7;
  if (tally.wall_seconds() < kMeasurable) return "-";
  const double simulated = static_cast<double>(tally.simulated().ns) / 1e9;
  const double ratio = simulated / tally.wall_seconds();
  return Cat(GroupedText(std::llround(std::min(ratio, 1e15))), ":1");
}

// "expected" for the judged run; else whether the protocol promised otherwise.
std::string_view MarkOf(const Tally& tally, Invariant invariant) {
  const bool is_promised = tally.invariant(invariant).Found() == Promise::kPromised;
  if (tally.is_judged()) {
    if (sim::ExpectedOf(tally.scenario(), invariant) == sim::Expected::kViolated) return "expected";
    return is_promised ? "NOT EXPECTED, PROMISED" : "NOT EXPECTED";
  }
  if (FindProtocol(tally.scenario().protocol) == nullptr) return "not judged";
  return is_promised ? "PROMISED" : "not promised";
}

// Whether the protocol is wrong, or whorl is.
bool BreaksAPromise(const Tally& tally) {
  if (FindProtocol(tally.scenario().protocol) == nullptr) return false;
  return std::ranges::any_of(AllOf<Invariant>(), [&](Invariant invariant) {
    const InvariantTally& counted = tally.invariant(invariant);
    return counted.runs > 0 &&
           sim::KnownOf(tally.scenario(), invariant, counted.Found()).IsPromiseBroken();
  });
}

// A column of figures between the scenario's name and what was violated.
struct Figure {
  std::string_view head;
  size_t width;
  int dispensable;  // a terminal that is too narrow for all leaves out the highest first
  std::string (*text)(const Tally& tally);
};
constexpr Figure kFigures[] = {
    {"grants", 6, 1, [](const Tally& t) { return CountRange(t.range(Metric::kGrants)); }},
    {"takeovers", 9, 2, [](const Tally& t) { return CountRange(t.range(Metric::kTakeovers)); }},
    {"no holder s", 11, 3,
     [](const Tally& t) { return Milliseconds({t.range(Metric::kWithoutHolderMax).max}); }},
    {"overlap s", 9, 4,
     [](const Tally& t) { return Milliseconds({t.range(Metric::kBeliefOverlapMax).max}); }},
    {"simulated s", 11, 5, [](const Tally& t) { return Milliseconds(t.simulated()); }},
    {"ratio", 11, 6, RatioText},
};
constexpr int kAllFigures = std::size(kFigures);
// Room for "handed_token_monotonic (expected),".
constexpr size_t kViolatedMin = 34;

// How many of the figures fit, the least dispensable ones. 0 for `width`: no terminal, all fit.
int FiguresThatFit(size_t width, size_t name_width) {
  if (width == 0) return kAllFigures;
  int fits = 0;
  size_t used = kVerdictWidth + 2 + name_width + 2 + kViolatedMin;
  for (const Figure& figure : kFigures) {
    used += figure.width + 2;
    if (used <= width) fits = figure.dispensable;
  }
  return fits;
}

std::vector<std::string> Violated(const Tally& tally) {
  std::vector<std::string> all;
  for (const Invariant invariant : AllOf<Invariant>()) {
    const InvariantTally& counted = tally.invariant(invariant);
    if (counted.runs == 0) continue;
    std::string& text = all.emplace_back(WordOf(invariant));
    if (tally.run_count() > 1) {
      text += Cat(" in ", GroupedText(counted.runs), " of ",
                  GroupedText(static_cast<int64_t>(tally.run_count())), " runs (first: seed ",
                  std::to_string(counted.first_seed), ")");
    } else {
      text += Cat(" (", MarkOf(tally, invariant), ")");
    }
  }
  return all;
}

// The parts in lines of at most `width`, where a part fits into one; `indent` precedes every line
// but the first.
std::string Listed(const std::vector<std::string>& parts, size_t width, size_t indent) {
  if (parts.empty()) return "-";
  std::string text = parts.front();
  size_t used = parts.front().size();
  for (size_t i = 1; i < parts.size(); ++i) {
    const bool fits = width == 0 || used + 2 + parts[i].size() + 1 <= width;
    text += fits ? ", " : ",\n" + std::string(indent, ' ');
    used = fits ? used + 2 + parts[i].size() : parts[i].size();
    text += parts[i];
  }
  return text;
}

struct ConclusionStyle {
  std::string_view word;
  std::string_view colour;
};
ConclusionStyle StyleOf(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::kAsExpected:
      return {.word = "ok", .colour = "\x1b[32m"};
    case Conclusion::kFailed:
      return {.word = "FAILED", .colour = "\x1b[31m"};
    case Conclusion::kNotJudged:
      break;
  }
  return {.word = "ran", .colour = "\x1b[33m"};
}

// What is wrong, the first violation, and how to run it again.
std::vector<std::string> FailureTexts(const Tally& tally, const std::string& command) {
  // Of several runs one is judged, and shown.
  const std::string of_shown =
      tally.run_count() == 1
          ? std::string()
          : Cat("seed ", std::to_string(tally.scenario().seed), ", the file's own: ");
  std::vector<std::string> texts;
  for (const std::string& text : tally.failed_expectations()) texts.push_back(of_shown + text);
  for (const SeedCounts::DifferingRun& run : tally.counts().differing) texts.push_back(run.text);
  if (tally.shown() != nullptr) {
    const auto* first = sim::FirstViolation(tally.scenario(), tally.shown()->result);
    if (first != nullptr) {
      texts.push_back(Cat(of_shown, "first violation, at ", FormatSeconds({first->first->at.ns}, 6),
                          " s, of ", WordOf(first->invariant), ": ", first->first->text));
    }
  }
  texts.push_back(
      Cat("replay: ", ReplayCommand(command, tally.scenario(), tally.seed_to_replay())));
  return texts;
}

}  // namespace

void Summary::Add(const Tally& tally) {
  const Conclusion conclusion = tally.conclusion();
  break_a_promise += BreaksAPromise(tally) ? 1 : 0;
  as_expected += conclusion == Conclusion::kAsExpected ? 1 : 0;
  failed += conclusion == Conclusion::kFailed ? 1 : 0;
  not_judged += conclusion == Conclusion::kNotJudged ? 1 : 0;
}

std::string ReplayCommand(const std::string& command, const sim::Scenario& scenario,
                          uint64_t seed) {
  const bool from_stdin = scenario.path == "-";
  // A file named -x would be taken for an option.
  const bool looks_like_option = !from_stdin && scenario.path.starts_with('-');
  return Cat(ShellQuoted(command), " replay ", looks_like_option ? "./" : "",
             ShellQuoted(scenario.path), " --seed ", std::to_string(seed), " --timeline",
             from_stdin ? " < FILE" : "");
}

ReplayTable::ReplayTable(std::ostream& out, const Style& style, std::string command)
    : out_(out),
      width_(style.width),
      name_width_(style.name_width),
      figures_(FiguresThatFit(style.width, style.name_width)),
      command_(std::move(command)),
      colour_(style.colour),
      details_(style.details) {}

void ReplayTable::PrintHead() {
  out_ << Left("verdict", kVerdictWidth) << "  " << Left("scenario", name_width_);
  for (const Figure& figure : kFigures) {
    if (figure.dispensable > figures_) continue;
    out_ << "  " << Right(std::string(figure.head), figure.width);
  }
  out_ << "  violated\n";
}

void ReplayTable::PrintTally(const Tally& tally) {
  const ConclusionStyle style = StyleOf(tally.conclusion());
  const std::string word = Left(std::string(style.word), kVerdictWidth);
  if (colour_) {
    out_ << style.colour << word << "\x1b[0m";
  } else {
    out_ << word;
  }
  out_ << "  " << Left(Printable(tally.scenario().name), name_width_);
  size_t used = kVerdictWidth + 2 + name_width_;
  for (const Figure& figure : kFigures) {
    if (figure.dispensable > figures_) continue;
    out_ << "  " << Right(figure.text(tally), figure.width);
    used += 2 + figure.width;
  }
  used += 2;
  const size_t room = width_ == 0 ? 0 : std::max(kViolatedMin, width_ - std::min(width_, used));
  out_ << "  " << Listed(Violated(tally), room, used) << '\n';
  const bool has_failed = tally.conclusion() == Conclusion::kFailed;
  for (const std::string& warning : sim::WarningsOf(tally.scenario())) {
    out_ << kIndent << "warning: " << warning << '\n';
  }
  if (details_ || has_failed) PrintKnown(tally);
  if (has_failed) PrintFailures(tally);
}

// A line for each violated invariant: who promises what, and which finding it may be.
void ReplayTable::PrintKnown(const Tally& tally) {
  if (FindProtocol(tally.scenario().protocol) == nullptr) return;
  for (const Invariant invariant : AllOf<Invariant>()) {
    if (tally.invariant(invariant).runs == 0) continue;
    const sim::KnownOfViolation known =
        sim::KnownOf(tally.scenario(), invariant, tally.invariant(invariant).Found());
    // None of the page's findings is about a machine that is suspended, unless one says so.
    const bool stands = sim::Has(tally.scenario(), Circumstance::kClockStands);
    const auto& of_page = FindProtocol(tally.scenario().protocol)->findings;
    const bool is_known = std::ranges::any_of(of_page, [&](const KnownFinding& finding) {
      return finding.needs == Circumstance::kClockStands &&
             std::ranges::find(finding.breaks, invariant) != finding.breaks.end();
    });
    if (stands && !is_known) {
      out_ << kIndent << WordOf(invariant) << ": " << sim::PromiseText(known)
           << "; a machine is suspended, and no finding of the protocol's page is about that\n";
      continue;
    }
    const std::string findings = sim::FindingsText(known);
    out_ << kIndent << WordOf(invariant) << ": " << sim::PromiseText(known);
    if (!findings.empty()) out_ << "; it may be " << findings;
    out_ << '\n';
  }
}

void ReplayTable::PrintFailures(const Tally& tally) {
  for (const std::string& failure : FailureTexts(tally, command_)) {
    out_ << kIndent;
    for (const char c : failure) {
      out_ << c;
      if (c == '\n') out_ << kIndent;
    }
    out_ << '\n';
  }
}

JunitTest JunitTestOf(const Tally& tally, const std::string& command) {
  JunitTest test{.group = tally.scenario().protocol,
                 .name = tally.scenario().name,
                 .text = {},
                 .seconds = tally.wall_seconds()};
  const std::vector<std::string> violated = Violated(tally);
  switch (tally.conclusion()) {
    case Conclusion::kAsExpected:
      if (!violated.empty()) test.text = Cat("violated: ", Listed(violated, 0, 0));
      break;
    case Conclusion::kFailed:
      test.outcome = JunitOutcome::kFailed;
      for (const std::string& failure : FailureTexts(tally, command)) {
        test.text += Cat(test.text.empty() ? "" : "\n", failure);
      }
      break;
    case Conclusion::kNotJudged:
      test.outcome = JunitOutcome::kSkipped;
      test.text = "the file's own seed was not run";
      break;
  }
  return test;
}

void ReplayTable::PrintSummary(const Summary& summary, std::string_view missing) {
  std::vector<std::string> parts;
  const auto add = [&](size_t count, std::string_view what) {
    if (count > 0) {
      parts.push_back(Cat(GroupedText(static_cast<int64_t>(count)), " ", what));
    }
  };
  add(summary.as_expected, "as expected");
  add(summary.failed, "failed");
  add(summary.not_judged, "not judged (the file's own seed was not run)");
  out_ << CountText(static_cast<int64_t>(summary.scenarios()), "scenario", "scenarios");
  std::string_view separator = ": ";
  for (const std::string& part : parts) {
    out_ << separator << part;
    separator = ", ";
  }
  // What was not expected may be what nobody promises.
  if (summary.break_a_promise > 0) {
    out_ << "; a promise was broken in "
         << CountText(static_cast<int64_t>(summary.break_a_promise), "scenario", "scenarios");
  } else if (summary.failed > 0) {
    out_ << "; no promise was broken";
  }
  if (summary.bad_inputs > 0) {
    out_ << "; " << CountText(static_cast<int64_t>(summary.bad_inputs), "bad input", "bad inputs");
  }
  out_ << missing << '\n';
}

namespace {

constexpr int kStateFormat = 1;

}  // namespace

int ShowState(const ReplayRequest& request, const sim::Scenario& scenario) {
  OutputFile file;
  if (!request.out.empty()) {
    if (const absl::Status opened = file.Open(request.out); !opened.ok()) return End(opened);
  }
  const uint64_t seed = request.seed.value_or(scenario.seed);
  sim::StateWatch watch(scenario);
  const sim::World world = sim::RunUntil(scenario, seed, *request.at, &watch);
  sim::Json about = sim::Json::object();
  about["scenario"] = scenario.name;
  about["protocol"] = scenario.protocol;
  about["seed"] = std::to_string(seed);
  about.update(sim::StateJson(world, watch, *request.at));
  sim::Json document = {{"format", "whorl-state"}, {"version", kStateFormat}, {"whorl", kVersion}};
  document.update(about);
  const std::string text = sim::DumpJson(document, 2) + "\n";
  if (request.json) {
    std::cout << text;
  } else {
    sim::PrintState(about, std::cout);
  }
  if (!request.out.empty()) {
    file.stream() << text;
    if (const absl::Status written = file.Commit(); !written.ok()) return End(written);
  }
  return End(FlushStdout());
}

}  // namespace whorl::cli
