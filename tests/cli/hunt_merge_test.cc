// Reports of parts of one hunt, added up: every run counts once, whatever the files and their order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cli/hunt/merge.h"
#include "cli/shards/coverage.h"
#include "sim/world/mix.h"

namespace whorl::cli {
namespace {

constexpr uint64_t kRuns = 50;
constexpr uint64_t kShards = 5;

TEST(HuntCoverage, ShardsHaveAllRunsOfAHunt) {
  for (uint64_t runs = 0; runs < 30; ++runs) {
    for (uint64_t shards = 1; shards < 10; ++shards) {
      const Coverage whole{.shards = 1, .runs = {{0, runs}}};
      const Coverage split = whole.SplitInto(shards);
      EXPECT_EQ(split.runs.size(), shards);
      EXPECT_EQ(split.RunCount(), runs);
      EXPECT_EQ(split.Due(runs), runs);
      EXPECT_EQ(split.Joined(), whole);
    }
  }
}

TEST(HuntCoverage, RunsThatAreNotTheFirstOnesStayShards) {
  const Coverage holes{.shards = 2, .runs = {{0, 3}, {1, 5}}};
  EXPECT_EQ(holes.Joined(), holes);
  const Coverage half{.shards = 2, .runs = {{0, 3}}};
  EXPECT_EQ(half.Joined(), half);
}

// As a hunt would report it, if a run's hash were a function of its number.
ReportFile Hunted(uint64_t shard, uint64_t runs) {
  sim::HuntOptions hunt;
  hunt.protocols = {"fenced_lease"};
  hunt.shard = shard;
  hunt.shards = kShards;
  sim::HuntTallies tallies;
  sim::HuntTally& tally = tallies["fenced_lease"];
  tally.runs = static_cast<int64_t>(runs);
  for (uint64_t i = 0; i < runs; ++i) tally.hash += sim::Mix(shard + i * kShards);
  return {.path = "shard " + std::to_string(shard) + ", " + std::to_string(runs) + " runs",
          .report = MakeReport(hunt, kRuns, tallies)};
}

uint64_t HashOf(const Coverage& coverage) {
  uint64_t hash = 0;
  for (const auto& [shard, runs] : coverage.SplitInto(kShards).runs) {
    for (uint64_t i = 0; i < runs; ++i) hash += sim::Mix(shard + i * kShards);
  }
  return hash;
}

class Pile {
 public:
  explicit Pile(uint64_t seed) : random_(seed) {}

  std::vector<ReportFile> Draw() {
    std::vector<ReportFile> files;
    for (uint64_t i = 1 + random_() % 7; i > 0; --i) {
      const uint64_t runs = random_() % 3 == 0 ? random_() % 11 : kRuns / kShards;
      files.push_back(Hunted(random_() % kShards, runs));
      if (random_() % 4 != 0) continue;
      auto sum = SumOf({files.begin() + random_() % files.size(), files.end()});
      if (sum.ok()) files.push_back({.path = "a sum", .report = *sum});
    }
    return files;
  }
  void Shuffle(std::vector<ReportFile>& files) { std::ranges::shuffle(files, random_); }

 private:
  std::mt19937_64 random_;
};

TEST(HuntMerge, EveryRunCountsOnceInAnyOrder) {
  int sums = 0;
  int wholes = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Pile pile(seed);
    std::vector<ReportFile> files = pile.Draw();
    const auto first = SumOf(files);
    if (first.ok()) {
      ++sums;
      wholes += first->coverage.shards == 1 ? 1 : 0;
      const sim::HuntTally& tally = first->tallies.at("fenced_lease");
      EXPECT_EQ(static_cast<uint64_t>(tally.runs), first->coverage.RunCount());
      EXPECT_EQ(tally.hash, HashOf(first->coverage));
      // Nothing that any of them has is lost.
      for (const ReportFile& file : files) {
        EXPECT_TRUE(
            first->coverage.SplitInto(kShards).Contains(file.report.coverage.SplitInto(kShards)));
      }
    }
    for (int i = 0; i < 5; ++i) {
      pile.Shuffle(files);
      files.push_back(files.front());
      const auto again = SumOf(files);
      ASSERT_EQ(again.ok(), first.ok()) << seed;
      if (!first.ok()) continue;
      EXPECT_EQ(again->tallies, first->tallies) << seed;
      EXPECT_EQ(again->coverage, first->coverage) << seed;
    }
  }
  EXPECT_GT(sums, 1000);
  EXPECT_GT(wholes, 10);
}

// The sum has less of shard 0 than another report, and all that it has is in the others.
TEST(HuntMerge, ASumOfWhatIsThereByNowIsLeftOut) {
  const auto sum = SumOf({Hunted(0, 1), Hunted(1, 10)});
  ASSERT_TRUE(sum.ok());
  const ReportFile old{.path = "a sum", .report = *sum};
  const auto all = SumOf({Hunted(1, 10), old, Hunted(0, 10)});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->coverage.RunCount(), 20U);
  EXPECT_FALSE(SumOf({old, Hunted(0, 10)}).ok());
}

TEST(HuntMerge, OfTwoReportsTheOneThatWasShrunkIsTold) {
  ReportFile drawn = Hunted(0, 10);
  sim::Finding finding;
  finding.runs = 1;
  finding.run = 5;
  drawn.report.tallies["fenced_lease"].findings[{Invariant::kNoWedge, "take"}] = finding;
  ReportFile shrunk = drawn;
  finding.shrunk = sim::Scenario{};
  finding.shrink_runs = 7;
  shrunk.report.tallies["fenced_lease"].findings[{Invariant::kNoWedge, "take"}] = finding;
  for (const auto& files : {std::vector{drawn, shrunk}, std::vector{shrunk, drawn}}) {
    const auto sum = SumOf(files);
    ASSERT_TRUE(sum.ok());
    EXPECT_EQ(sum->tallies, shrunk.report.tallies);
  }
}

// A checkpoint says which run was its last, and what its guide remembers, so that its hunt goes on. From a sum
// nobody goes on: marks of one of its parts would be wrong for the others.
TEST(HuntMerge, ASumHasNoMarksOfOneOfItsParts) {
  ReportFile one = Hunted(0, 7);
  one.report.last = RunMark{.name = {.run = 30}, .hash = 5};
  one.report.guides["fenced_lease"].cells[1].runs = 2;
  ReportFile other = Hunted(1, 10);
  other.report.last = RunMark{.name = {.run = 46}, .hash = 6};
  for (const auto& files : {std::vector{one, other}, std::vector{other, one}, std::vector{one}}) {
    const auto sum = SumOf(files);
    ASSERT_TRUE(sum.ok()) << sum.status();
    EXPECT_FALSE(sum->last.has_value());
    EXPECT_TRUE(sum->guides.empty());
  }
}

// What is cut off may lack a finding that an earlier, shorter report has.
TEST(HuntMerge, AReportThatIsCutOffStandsInForNoOther) {
  ReportFile cut = Hunted(0, 10);
  cut.report.is_partial = true;
  const ReportFile shorter = Hunted(0, 7);
  EXPECT_FALSE(SumOf({cut, shorter}).ok());
  EXPECT_FALSE(SumOf({shorter, cut}).ok());
  EXPECT_FALSE(SumOf({cut, cut}).ok());
  const auto whole = SumOf({cut, Hunted(0, 10)});
  ASSERT_TRUE(whole.ok());
  EXPECT_FALSE(whole->is_partial);
  const auto sum = SumOf({Hunted(1, 10), cut});
  ASSERT_TRUE(sum.ok());
  EXPECT_TRUE(sum->is_partial);
}

}  // namespace
}  // namespace whorl::cli
