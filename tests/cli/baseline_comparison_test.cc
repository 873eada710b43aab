// What moved between two records of the same worlds, and the files that hold records.

#include "cli/hunt/baseline_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/hunt/baseline_file.h"
#include "sim/world/mix.h"

namespace whorl::cli::baseline_comparison_test {
namespace {

using sim::Baseline;
using sim::FigureColumn;
using sim::FigureFamily;
using sim::FigureName;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProtocol = "spindle_v3";
const FigureName kViolated{FigureFamily::kViolated, "single_leader_belief"};
const FigureName kRpcs{FigureFamily::kMetric, "rpcs"};

using ValueOfRun = std::function<int64_t(uint64_t run)>;

// A record of so many runs, without figures.
Baseline Runs(uint64_t runs) {
  sim::HuntOptions hunt;
  hunt.protocols = {kProtocol};
  Baseline baseline = sim::BaselineOf(hunt);
  baseline.runs = runs;
  sim::ProtocolRecord& record = baseline.protocols[kProtocol];
  for (uint64_t run = 0; run < runs; ++run) {
    record.numbers.push_back(run);
    record.worlds.push_back(static_cast<uint32_t>(run));
    record.events.push_back(static_cast<uint32_t>(run));
  }
  return baseline;
}

void Add(const FigureName& name, const ValueOfRun& value, Baseline& baseline) {
  FigureColumn column;
  for (uint64_t run = 0; run < baseline.runs; ++run) {
    column.runs += value(run) > 0 ? 1 : 0;
    column.sum += value(run);
    column.levels.push_back(sim::LevelOf(value(run)));
  }
  if (column.runs > 0) baseline.protocols[kProtocol].columns[name] = column;
}

Baseline Runs(uint64_t runs, const FigureName& name, const ValueOfRun& value) {
  Baseline baseline = Runs(runs);
  Add(name, value, baseline);
  return baseline;
}

const FigureMove& Only(const BaselineComparison& comparison) {
  EXPECT_EQ(comparison.protocols.at(0).figures.size(), 1U);
  return comparison.protocols.at(0).figures.at(0);
}

std::string TextOf(const BaselineComparison& comparison) {
  std::ostringstream out;
  PrintMoves(comparison, {.command = "whorl", .accept = "whorl hunt --save-baseline b"}, out);
  return out.str();
}

TEST(Levels, TellAFifthApartAndKeepTheOrder) {
  int last = -1;
  for (int64_t value = 0; value < 8; ++value) EXPECT_EQ(sim::LevelOf(value), ++last);
  for (int64_t value = 8; value < int64_t{1} << 60; value += value / 4) {
    EXPECT_GT(sim::LevelOf(value), last) << value;
    last = sim::LevelOf(value);
  }
  EXPECT_EQ(sim::LevelOf(100), sim::LevelOf(101));
  EXPECT_LT(sim::LevelOf(INT64_MAX), sim::kLevels);
}

TEST(BaselineComparison, OfTheSameRunsSaysSo) {
  const Baseline runs = Runs(300, kRpcs, [](uint64_t run) { return static_cast<int64_t>(run); });
  const BaselineComparison comparison = CompareBaselines(runs, runs);
  EXPECT_FALSE(comparison.HasFound());
  EXPECT_EQ(TextOf(comparison), "spindle_v3: all 300 runs are as recorded\n");
}

// Worlds differ more from each other than a change makes them differ, so the same world is compared.
TEST(BaselineComparison, InPairsSeesAChangeThatIsSmallBesideTheWorlds) {
  const auto before = [](uint64_t run) { return static_cast<int64_t>(sim::Mix(run) % 1'000); };
  const Baseline was = Runs(500, kRpcs, before);
  Baseline is = Runs(500, kRpcs, [&](uint64_t run) { return before(run) * 11 / 10; });
  is.protocols[kProtocol].events.assign(500, 9);
  const BaselineComparison comparison = CompareBaselines(was, is);
  const FigureMove& figure = Only(comparison);
  EXPECT_TRUE(figure.is_beyond_chance);
  EXPECT_EQ(figure.move, Move::kMore);
  EXPECT_EQ(figure.fell, 0);
  EXPECT_TRUE(comparison.HasFound());

  is.protocols[kProtocol].worlds[7] = 1'234;
  const BaselineComparison unpaired = CompareBaselines(was, is);
  EXPECT_FALSE(Only(unpaired).is_beyond_chance);
  EXPECT_THAT(TextOf(unpaired), AllOf(HasSubstr("no figure moved beyond chance"),
                                      HasSubstr("the worlds of 1 of them are drawn otherwise")));
}

TEST(BaselineComparison, NamesTheFirstRunThatHasItNowAndNotBefore) {
  const Baseline was = Runs(400, kViolated, [](uint64_t run) { return run % 10 == 0 ? 1 : 0; });
  const Baseline is = Runs(400, kViolated, [](uint64_t run) { return run % 5 == 0 ? 1 : 0; });
  const FigureMove more = Only(CompareBaselines(was, is));
  EXPECT_EQ(more.move, Move::kMore);
  EXPECT_EQ(more.rose, 40);
  EXPECT_EQ(more.fell, 0);
  EXPECT_EQ(more.shown_by, 5U);
  const FigureMove less = Only(CompareBaselines(is, was));
  EXPECT_EQ(less.move, Move::kLess);
  EXPECT_EQ(less.fell, 40);
  EXPECT_EQ(less.shown_by, 5U);
  EXPECT_TRUE(less.is_beyond_chance);
  EXPECT_THAT(TextOf(CompareBaselines(was, is)),
              AllOf(HasSubstr("violated single_leader_belief  more  10.0 %  20.0 %"),
                    HasSubstr("to take these runs as the baseline: whorl hunt --save-baseline b")));
}

// Other worlds can be compared by their rates alone.
TEST(BaselineComparison, OfOtherWorldsComparesRates) {
  const Baseline was = Runs(500, kViolated, [](uint64_t run) { return run % 10 == 0 ? 1 : 0; });
  Baseline is = Runs(500, kViolated, [](uint64_t run) { return run % 3 == 0 ? 1 : 0; });
  is.protocols[kProtocol].worlds.assign(500, 77);
  const FigureMove figure = Only(CompareBaselines(was, is));
  EXPECT_TRUE(figure.is_beyond_chance);
  EXPECT_EQ(figure.rose, 167);
  EXPECT_EQ(figure.fell, 50);
}

// A promise that is broken decides, in however few runs.
TEST(BaselineComparison, ABrokenPromiseDecidesInOneRun) {
  const Baseline was = Runs(500);
  const Baseline is = Runs(500, {FigureFamily::kBroken, "lease_respected"},
                           [](uint64_t run) { return run == 41 ? 1 : 0; });
  const BaselineComparison comparison = CompareBaselines(was, is);
  EXPECT_EQ(comparison.MovedCount(), 0U);
  EXPECT_TRUE(comparison.HasFound());
  EXPECT_THAT(comparison.protocols.at(0).broken, ElementsAre(41));
  EXPECT_THAT(TextOf(comparison), HasSubstr("a promise is broken in run 41"));
}

// An invariant that the other revision does not know was not violated 0 times there.
TEST(BaselineComparison, LeavesOutWhatOneRevisionDoesNotCount) {
  Baseline was = Runs(500);
  was.enumerated.erase(kViolated);
  const Baseline is = Runs(500, kViolated, [](uint64_t) { return 1; });
  const BaselineComparison comparison = CompareBaselines(was, is);
  EXPECT_FALSE(comparison.HasFound());
  EXPECT_THAT(TextOf(comparison),
              HasSubstr("counted now only, and not compared: violated single_leader_belief"));
}

// --- how often it is wrong ---------------------------------------------------------------------

// Draws runs of a program whose figures depend on the world and on chance.
Baseline Drawn(uint64_t seed, uint64_t runs, int figures) {
  Baseline baseline = Runs(runs);
  for (int figure = 0; figure < figures; ++figure) {
    const auto value = [&](uint64_t run) {
      const uint64_t world = sim::Combine(sim::Combine(1, run), static_cast<uint64_t>(figure));
      const uint64_t chance = sim::Combine(sim::Combine(world, seed), 2);
      // Some are rare, some frequent, and some many.
      if (world % 3 == 0) return static_cast<int64_t>(world % 500 + chance % 40);
      return static_cast<int64_t>(chance % static_cast<uint64_t>(2 + figure) == 0 ? 1 : 0);
    };
    Add({FigureFamily::kEvents, std::to_string(figure)}, value, baseline);
  }
  return baseline;
}

// The rate that the header names. A change that draws other chance and moves nothing is no finding.
TEST(BaselineComparison, ChanceAloneMovesSomethingAsRarelyAsItSays) {
  constexpr int kComparisons = 2'000;
  constexpr int kFigures = 40;
  int false_alarms = 0;
  int false_alarms_unpaired = 0;
  for (uint64_t i = 0; i < kComparisons; ++i) {
    const Baseline was = Drawn(2 * i, 100, kFigures);
    Baseline is = Drawn(2 * i + 1, 100, kFigures);
    is.protocols[kProtocol].events.assign(100, 1);
    false_alarms += CompareBaselines(was, is).HasFound() ? 1 : 0;
    is.protocols[kProtocol].worlds[0] = 999;
    false_alarms_unpaired += CompareBaselines(was, is).HasFound() ? 1 : 0;
  }
  EXPECT_LE(false_alarms, 3 * kComparisons / kOneFalseAlarmIn);
  EXPECT_LE(false_alarms_unpaired, 3 * kComparisons / kOneFalseAlarmIn);
}

// --- files -------------------------------------------------------------------------------------

Baseline Recorded() {
  sim::HuntOptions hunt;
  hunt.protocols = {"spindle_v2", "spindle_v3"};
  hunt.world.duration = Seconds(20);
  Baseline baseline = sim::BaselineOf(hunt);
  EXPECT_TRUE(
      sim::RecordRuns(12, 1, [](uint64_t) { return sim::BatchStep::kGoOn; }, baseline).ok());
  return baseline;
}

TEST(BaselineFile, ReadBackIsTheSameToTheByte) {
  const Baseline baseline = Recorded();
  const std::string text = BaselineText(baseline);
  const absl::StatusOr<Baseline> read = ParseBaseline(text, "b.jsonl");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == baseline);
  EXPECT_EQ(BaselineText(*read), text);
}

// A baseline stands in a repository, so it has to be small.
TEST(BaselineFile, TakesFewBytesForEachRun) {
  Baseline baseline = Drawn(1, 2'000, 20);
  EXPECT_LT(BaselineText(baseline).size(), 2'000U * (8 + 20 * 2) + 4'000);
}

// Small, with all kinds of lines.
std::string SmallText() {
  return BaselineText(
      Runs(4, kViolated, [](uint64_t run) { return static_cast<int64_t>(run % 2); }));
}

TEST(BaselineFile, CutOffAnywhereIsRefusedByNameAndRemedy) {
  const std::string text = SmallText();
  for (size_t size = 0; size + 1 < text.size(); ++size) {
    const absl::StatusOr<Baseline> read = ParseBaseline(text.substr(0, size), "b.jsonl");
    ASSERT_FALSE(read.ok()) << "cut off after " << size << " bytes";
    ASSERT_THAT(std::string(read.status().message()), testing::StartsWith("b.jsonl:"));
  }
  EXPECT_THAT(std::string(ParseBaseline("", "b.jsonl").status().message()),
              HasSubstr("empty; record it anew by --save-baseline"));
}

// Bytes of any kind are refused or read, and never crash.
TEST(BaselineFile, WithAnotherByteAnywhereIsReadOrRefused) {
  const std::string text = SmallText();
  size_t refused = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(sim::Mix(i) % 256);
    const absl::StatusOr<Baseline> read = ParseBaseline(other, "b.jsonl");
    refused += read.ok() ? 0 : 1;
    if (!read.ok()) continue;
    // What is read can be compared.
    const BaselineComparison comparison = CompareBaselines(*read, *read);
    ASSERT_EQ(comparison.protocols.size(), read->protocols.size());
  }
  EXPECT_GT(refused, text.size() / 2);
}

struct Damage {
  std::string from;
  std::string to;
  std::string message;
};

TEST(BaselineFile, SaysWhatIsWrongAndWhere) {
  const std::string text = SmallText();
  const std::vector<Damage> damages = {
      {"\"version\":1", "\"version\":2", "b.jsonl:1: expected a line that whorl hunt"},
      {"\"version\":1", "\"version\":2", "another version of whorl; record it anew"},
      {"whorl-baseline", "whorl-hunt",
       "of another format, \"whorl-hunt\" instead of \"whorl-baseline\""},
      {"[\"spindle_v3\"]", "[\"spindle_v9\"]", "unknown protocol \"spindle_v9\""},
      {"\"runs\":4,\"hash\"", "\"runs\":5,\"hash\"", "b.jsonl:2: "},
      {"\"levels\":\"ABAB\"", "\"levels\":\"ABA9999999999999999999\"", "levels of more runs"},
      {"\"levels\":\"ABAB\"", "\"levels\":\"ABA\"", "b.jsonl:3: "},
      {"\"levels\":\"ABAB\"", "\"levels\":\"AzZAB\"", "there is no such level"},
      {"\"levels\":\"ABAB\"", "\"levels\":\"ABBB\"", "levels do not add up"},
      {"\"family\":\"violated\"", "\"family\":\"hurt\"", "unknown family of figures \"hurt\""},
      {"\"figures\":1}", "\"figures\":2}", "lines before it are missing"},
  };
  for (const Damage& damage : damages) {
    const size_t place = text.find(damage.from);
    ASSERT_NE(place, std::string::npos) << damage.from << " in " << text;
    std::string damaged = text;
    damaged.replace(place, damage.from.size(), damage.to);
    const absl::StatusOr<Baseline> read = ParseBaseline(damaged, "b.jsonl");
    ASSERT_FALSE(read.ok()) << damage.to;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(damage.message));
  }
}

}  // namespace
}  // namespace whorl::cli::baseline_comparison_test
