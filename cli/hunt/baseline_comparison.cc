#include "cli/hunt/baseline_comparison.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/keep_ties.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/text_table.h"
#include "cli/version.h"
#include "sim/measure/statistics.h"
#include "sim/report/json_print.h"

namespace whorl::cli {
namespace {

using sim::Baseline;
using sim::FigureColumn;
using sim::FigureFamily;
using sim::FigureName;
using sim::Json;
using sim::ProtocolRecord;
using Levels = std::vector<uint8_t>;

// --- one figure --------------------------------------------------------------------------------

// A column of a record; one that the record lacks is 0 in every run.
FigureColumn ColumnOf(const ProtocolRecord& record, const FigureName& name) {
  const auto found = record.columns.find(name);
  if (found != record.columns.end()) return found->second;
  return {.runs = 0, .sum = 0, .levels = Levels(record.numbers.size(), 0)};
}

void JudgePairs(const Levels& before, const Levels& now, FigureMove& figure) {
  for (size_t i = 0; i < now.size(); ++i) {
    figure.rose += now[i] > before[i] ? 1 : 0;
    figure.fell += now[i] < before[i] ? 1 : 0;
  }
  figure.move = figure.rose >= figure.fell ? Move::kMore : Move::kLess;
  figure.probability = sim::SignTest(figure.rose, figure.fell);
}

// The greatest level that does not belong to the upper half, if they are split as evenly as one level can.
uint8_t SplitOf(const Levels& before, const Levels& now) {
  std::array<size_t, sim::kLevels> counts{};
  for (const uint8_t level : before) ++counts[level];
  for (const uint8_t level : now) ++counts[level];
  const size_t all = before.size() + now.size();
  size_t below = 0;
  size_t best = 0;
  uint8_t split = 0;
  for (size_t level = 0; level < counts.size(); ++level) {
    below += counts[level];
    const size_t smaller = std::min(below, all - below);
    if (smaller <= best) continue;
    best = smaller;
    split = static_cast<uint8_t>(level);
  }
  return split;
}

void JudgeShares(const Levels& before, const Levels& now, FigureMove& figure) {
  const uint8_t split = SplitOf(before, now);
  const auto above = [split](const Levels& levels) {
    return std::ranges::count_if(levels, [split](uint8_t level) { return level > split; });
  };
  figure.rose = above(now);
  figure.fell = above(before);
  figure.move = figure.rose >= figure.fell ? Move::kMore : Move::kLess;
  figure.probability =
      sim::FisherTest(figure.rose, std::ssize(now), figure.fell, std::ssize(before));
}

// The run that shows it best, by its place; nothing if none does.
std::optional<size_t> ShownBy(const Levels& before, const Levels& now, bool in_pairs, Move move) {
  std::optional<size_t> shown;
  int most = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    const int rise = in_pairs ? now[i] - before[i] : now[i];
    const int moved = move == Move::kMore ? rise : -rise;
    const bool is_better = shown ? moved > most : !in_pairs || moved > 0;
    if (!is_better) continue;
    most = moved;
    shown = i;
  }
  return shown;
}

// --- one protocol ------------------------------------------------------------------------------

std::set<FigureName> FiguresOf(const ProtocolRecord& before, const ProtocolRecord& now,
                               const std::set<FigureName>& left_out) {
  std::set<FigureName> names;
  for (const ProtocolRecord* record : {&before, &now}) {
    for (const auto& [name, column] : record->columns) {
      if (!left_out.contains(name)) names.insert(name);
    }
  }
  return names;
}

size_t DifferingCount(const std::vector<uint32_t>& before, const std::vector<uint32_t>& now) {
  size_t count = 0;
  for (size_t i = 0; i < now.size(); ++i) count += before[i] == now[i] ? 0 : 1;
  return count;
}

std::vector<uint64_t> RunsThatBreak(const ProtocolRecord& record) {
  std::vector<uint64_t> runs;
  for (size_t i = 0; i < record.numbers.size(); ++i) {
    const bool breaks = std::ranges::any_of(record.columns, [i](const auto& entry) {
      return entry.first.family == FigureFamily::kBroken && entry.second.levels[i] > 0;
    });
    if (breaks) runs.push_back(record.numbers[i]);
  }
  return runs;
}

ProtocolMoves MovesOf(const std::string& protocol, const ProtocolRecord& before,
                      const ProtocolRecord& now, const std::set<FigureName>& left_out) {
  ProtocolMoves moves{.protocol = protocol,
                      .runs = now.numbers.size(),
                      .other_worlds = DifferingCount(before.worlds, now.worlds),
                      .differing = DifferingCount(before.events, now.events),
                      .figures = {},
                      .unrepeatable = now.unrepeatable,
                      .broken = RunsThatBreak(now)};
  // Short hashes may be equal by chance.
  if (before.hash != now.hash) moves.differing = std::max<size_t>(moves.differing, 1);
  const bool in_pairs = moves.other_worlds == 0;
  for (const FigureName& name : FiguresOf(before, now, left_out)) {
    const FigureColumn was = ColumnOf(before, name);
    const FigureColumn is = ColumnOf(now, name);
    FigureMove figure{.name = name,
                      .before = {.runs = was.runs, .sum = was.sum},
                      .now = {.runs = is.runs, .sum = is.sum},
                      .shown_by = {}};
    in_pairs ? JudgePairs(was.levels, is.levels, figure)
             : JudgeShares(was.levels, is.levels, figure);
    const std::optional<size_t> shown = ShownBy(was.levels, is.levels, in_pairs, figure.move);
    if (shown) figure.shown_by = now.numbers[*shown];
    moves.figures.push_back(std::move(figure));
  }
  return moves;
}

// Invariants come first, then what moved with the least probability by chance.
int RankOf(FigureFamily family) {
  switch (family) {
    case FigureFamily::kBroken:
      return 0;
    case FigureFamily::kViolated:
      return 1;
    case FigureFamily::kViolatedAt:
      return 2;
    case FigureFamily::kMetric:
    case FigureFamily::kGoal:
    case FigureFamily::kCalls:
    case FigureFamily::kEvents:
    case FigureFamily::kUnknown:
      return 3;
  }
  return 3;
}

// Holds all figures of all protocols to one bound, and sorts them.
void JudgeAll(BaselineComparison& comparison) {
  std::vector<FigureMove*> figures;
  std::vector<double> probabilities;
  for (ProtocolMoves& moves : comparison.protocols) {
    for (FigureMove& figure : moves.figures) {
      figures.push_back(&figure);
      probabilities.push_back(figure.probability);
    }
  }
  const std::vector<bool> beyond = sim::BeyondChance(probabilities, 1.0 / kOneFalseAlarmIn);
  for (size_t i = 0; i < figures.size(); ++i) figures[i]->is_beyond_chance = beyond[i];
  for (ProtocolMoves& moves : comparison.protocols) {
    SortKeepingTies(moves.figures, [](const FigureMove& figure) {
      return std::tuple(!figure.is_beyond_chance, RankOf(figure.name.family), figure.probability);
    });
  }
}

std::vector<FigureName> Missing(const std::set<FigureName>& in, const std::set<FigureName>& from) {
  std::vector<FigureName> names;
  std::ranges::set_difference(in, from, std::back_inserter(names));
  return names;
}

// --- text --------------------------------------------------------------------------------------

std::string NameText(const FigureName& name) {
  return Cat(name.family == FigureFamily::kViolatedAt ? "violated" : WordOf(name.family), " ",
             name.word);
}

// "41.3 %" of the runs, or what it is in a run on average: "1.204 s", "812.40".
std::string TotalsText(const FigureName& name, const FigureTotals& totals, size_t runs) {
  const auto all = static_cast<int64_t>(std::max<size_t>(runs, 1));
  if (sim::IsYesOrNo(name)) {
    return Cat(FormatSeconds({totals.runs * 1'000 * 100'000'000 / all}, 1), " %");
  }
  if (sim::IsTime(name)) return Cat(FormatSeconds({totals.sum / all * 1'000'000}, 3), " s");
  return FormatSeconds({totals.sum * 100 / all * 10'000'000}, 2);
}

// "2e-13"; "0" is too small for a number.
std::string ProbabilityText(double probability) {
  if (probability <= 0) return "<1e-300";
  int exponent = 0;
  for (; probability < 1; ++exponent) probability *= 10;
  auto digit = static_cast<int>(probability + 0.5);
  if (digit == 10) {
    digit = 1;
    --exponent;
  }
  return exponent <= 0 ? "1" : Cat(std::to_string(digit), "e-", std::to_string(exponent));
}

constexpr size_t kRowsShown = 15;

void PrintFigures(const ProtocolMoves& moves, const ComparisonWords& words, std::ostream& out) {
  const bool in_pairs = moves.other_worlds == 0;
  TextTable table({"moved", "", words.before, words.now, in_pairs ? "runs with more" : "high now",
                   in_pairs ? "with less" : "high before", "by chance", "shown by run"},
                  2);
  const size_t moved = moves.MovedCount();
  for (size_t i = 0; i < std::min(moved, kRowsShown); ++i) {
    const FigureMove& figure = moves.figures[i];
    table.Add({NameText(figure.name), std::string(WordOf(figure.move)),
               TotalsText(figure.name, figure.before, moves.runs),
               TotalsText(figure.name, figure.now, moves.runs), GroupedText(figure.rose),
               GroupedText(figure.fell), ProbabilityText(figure.probability),
               figure.shown_by ? std::to_string(*figure.shown_by) : "-"});
  }
  table.Print(out);
  if (moved > kRowsShown) {
    out << "and " << moved - kRowsShown << " more, which --json lists\n";
  }
}

std::string RunsText(const std::vector<uint64_t>& runs) {
  std::vector<std::string> texts;
  for (const uint64_t run : runs) texts.push_back(std::to_string(run));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return Cat(runs.size() == 1 ? "run " : "runs ", ListOf(views));
}

// "spindle_v3: 500 runs: 412 differ; 9 of 83 figures moved beyond chance".
void PrintHead(const ProtocolMoves& moves, const ComparisonWords& words, std::ostream& out) {
  const std::string runs = CountText(static_cast<int64_t>(moves.runs), "run", "runs");
  out << moves.protocol << ": ";
  if (moves.IsTheSame()) {
    out << "all " << runs << (words.accept.empty() ? " are the same" : " are as recorded") << '\n';
    return;
  }
  out << runs << ", " << GroupedText(static_cast<int64_t>(moves.differing))
      << (moves.differing == 1 ? " of which differs; " : " of which differ; ");
  const size_t moved = moves.MovedCount();
  if (moved == 0) {
    out << "no figure moved beyond chance\n";
  } else {
    out << moved << " of " << moves.figures.size() << " figures moved beyond chance\n";
  }
  if (moves.other_worlds == 0) return;
  out << moves.protocol << ": the worlds of "
      << GroupedText(static_cast<int64_t>(moves.other_worlds))
      << " of them are drawn otherwise, so that runs are not compared in pairs, and less shows\n";
}

void PrintProtocol(const ProtocolMoves& moves, const ComparisonWords& words, std::ostream& out) {
  PrintHead(moves, words, out);
  if (!moves.broken.empty()) {
    out << moves.protocol << ": a promise is broken in " << RunsText(moves.broken) << '\n';
  }
  if (!moves.unrepeatable.empty()) {
    out << moves.protocol << ": came out otherwise the second time, which is a mistake of whorl's: "
        << RunsText(moves.unrepeatable) << '\n';
  }
  if (moves.MovedCount() > 0) PrintFigures(moves, words, out);
}

void PrintUncounted(const std::vector<FigureName>& names, std::string_view by, std::ostream& out) {
  if (names.empty()) return;
  std::vector<std::string> texts;
  for (const FigureName& name : names) texts.push_back(NameText(name));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  out << "counted " << by << " only, and not compared: " << ListOf(views) << '\n';
}

std::string ShowLine(const BaselineComparison& comparison, const ComparisonWords& words,
                     const std::string& run) {
  return Cat(words.command, " hunt ", HuntWords(comparison.hunt), " --show ", run);
}

}  // namespace

size_t ProtocolMoves::MovedCount() const {
  return static_cast<size_t>(std::ranges::count(figures, true, &FigureMove::is_beyond_chance));
}

bool ProtocolMoves::IsTheSame() const {
  return other_worlds == 0 && differing == 0 &&
         std::ranges::all_of(figures, [](const FigureMove& figure) {
           return figure.rose == 0 && figure.fell == 0;
         });
}

size_t BaselineComparison::MovedCount() const {
  size_t count = 0;
  for (const ProtocolMoves& moves : protocols) count += moves.MovedCount();
  return count;
}

bool BaselineComparison::HasFound() const {
  return MovedCount() > 0 || std::ranges::any_of(protocols, [](const ProtocolMoves& moves) {
           return !moves.broken.empty() || !moves.unrepeatable.empty();
         });
}

BaselineComparison CompareBaselines(const Baseline& before, const Baseline& now) {
  BaselineComparison comparison{.hunt = now.hunt,
                                .runs = now.runs,
                                .protocols = {},
                                .only_before = Missing(before.enumerated, now.enumerated),
                                .only_now = Missing(now.enumerated, before.enumerated)};
  std::set<FigureName> left_out(comparison.only_before.begin(), comparison.only_before.end());
  left_out.insert(comparison.only_now.begin(), comparison.only_now.end());
  for (const auto& [protocol, record] : now.protocols) {
    comparison.protocols.push_back(
        MovesOf(protocol, before.protocols.at(protocol), record, left_out));
  }
  JudgeAll(comparison);
  return comparison;
}

std::string HuntWords(const sim::HuntOptions& hunt) {
  const bool is_all = hunt.protocols.size() == Protocols().size();
  std::string words =
      Cat("--protocol ", is_all ? std::string("all") : hunt.protocols.front(), " --seed ",
          std::to_string(hunt.seed), " --duration ", FormatDuration(hunt.world.duration));
  std::string kinds;
  for (const sim::FaultKind kind : hunt.world.kinds) {
    kinds += Cat(kinds.empty() ? "" : ",", sim::FaultKindText(kind));
  }
  if (!kinds.empty()) words += Cat(" --faults ", kinds);
  if (hunt.world.beyond_assumptions) words += " --beyond-assumptions";
  return words;
}

void PrintMoves(const BaselineComparison& comparison, const ComparisonWords& words,
                std::ostream& out) {
  for (const ProtocolMoves& moves : comparison.protocols) PrintProtocol(moves, words, out);
  PrintUncounted(comparison.only_before, words.before, out);
  PrintUncounted(comparison.only_now, words.now, out);
  if (comparison.HasFound()) {
    out << "the world of a run: " << ShowLine(comparison, words, "RUN") << " | " << words.command
        << " replay - --timeline\n";
  }
  const bool is_same = std::ranges::all_of(comparison.protocols, &ProtocolMoves::IsTheSame);
  if (!is_same && !words.accept.empty()) {
    out << "to take these runs as the baseline: " << words.accept << '\n';
  }
}

namespace {

Json NewMoveLine(std::string_view line) {
  Json json = Json::object();
  json["format"] = "whorl-moved";
  json["version"] = kMovedFormat;
  json["whorl"] = kVersion;
  json["line"] = line;
  return json;
}

Json NumbersJson(const std::vector<uint64_t>& runs) {
  Json json = Json::array();
  for (const uint64_t run : runs) json.push_back(std::to_string(run));
  return json;
}

Json ProtocolJson(const ProtocolMoves& moves) {
  Json json = NewMoveLine("protocol");
  json["protocol"] = moves.protocol;
  json["runs"] = moves.runs;
  json["differing"] = moves.differing;
  json["other_worlds"] = moves.other_worlds;
  json["figures"] = moves.figures.size();
  json["moved"] = moves.MovedCount();
  json["broken"] = NumbersJson(moves.broken);
  json["unrepeatable"] = NumbersJson(moves.unrepeatable);
  return json;
}

Json FigureJson(const ProtocolMoves& moves, const FigureMove& figure,
                const BaselineComparison& comparison, const ComparisonWords& words) {
  Json json = NewMoveLine("moved");
  json["protocol"] = moves.protocol;
  json["family"] = std::string(WordOf(figure.name.family));
  json["name"] = figure.name.word;
  json["move"] = std::string(WordOf(figure.move));
  json["before"] = {{"runs", figure.before.runs}, {"sum", figure.before.sum}};
  json["now"] = {{"runs", figure.now.runs}, {"sum", figure.now.sum}};
  json["rose"] = figure.rose;
  json["fell"] = figure.fell;
  json["by_chance"] = ProbabilityText(figure.probability);
  json["run"] = nullptr;
  if (!figure.shown_by) return json;
  json["run"] = std::to_string(*figure.shown_by);
  json["show"] = ShowLine(comparison, words, std::to_string(*figure.shown_by));
  return json;
}

Json UncountedJson(const std::vector<FigureName>& names) {
  Json json = Json::array();
  for (const FigureName& name : names) {
    json.push_back({{"family", std::string(WordOf(name.family))}, {"name", name.word}});
  }
  return json;
}

}  // namespace

std::string MoveLines(const BaselineComparison& comparison, const ComparisonWords& words) {
  std::string text;
  for (const ProtocolMoves& moves : comparison.protocols) {
    text += sim::DumpJson(ProtocolJson(moves)) + "\n";
    for (size_t i = 0; i < moves.MovedCount(); ++i) {
      text += sim::DumpJson(FigureJson(moves, moves.figures[i], comparison, words)) + "\n";
    }
  }
  Json end = NewMoveLine("end");
  end["runs"] = comparison.runs;
  end["moved"] = comparison.MovedCount();
  end["one_false_alarm_in"] = kOneFalseAlarmIn;
  end["only_before"] = UncountedJson(comparison.only_before);
  end["only_now"] = UncountedJson(comparison.only_now);
  return text + sim::DumpJson(end) + "\n";
}

}  // namespace whorl::cli
