// Hunts: runs are named by their numbers, tallies add up, and what is found says where it broke.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/report/breakage.h"
#include "tests/sim/hunt/hunt_testing.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::hunt_hunt_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

HuntOptions HuntOfAll(uint64_t seed) {
  HuntOptions options;
  for (const ProtocolInfo& info : Protocols()) options.protocols.emplace_back(info.name);
  options.seed = seed;
  return options;
}

// A hunt that is spread over machines finds what one machine would find.
TEST(Hunt, ShardsAddUpToTheWhole) {
  constexpr uint64_t kRuns = Fewer(200);
  const HuntTallies whole = Hunted(HuntOfAll(5), kRuns);
  HuntTallies sum;
  for (const uint64_t shard : {2, 0, 1}) {  // in any order
    HuntOptions options = HuntOfAll(5);
    options.shard = shard;
    options.shards = 3;
    for (const auto& [protocol, tally] : Hunted(options, kRuns / 3 + (shard < kRuns % 3 ? 1 : 0))) {
      sum[protocol].Add(tally);
    }
  }
  EXPECT_EQ(RunCount(sum), int64_t{kRuns});
  EXPECT_TRUE(sum == whole);
}

TEST(Hunt, SaysByItsHashThatTwoHuntsHadTheSameRuns) {
  const auto hash = [](uint64_t seed, uint64_t runs) {
    return Hunted(HuntOf("spindle_v2", seed), runs).at("spindle_v2").hash;
  };
  EXPECT_EQ(hash(9, 5), hash(9, 5));
  EXPECT_NE(hash(9, 5), hash(9, 6));
  EXPECT_NE(hash(9, 5), hash(10, 5));
}

TEST(Hunt, ChecksOneRunInTwentyTwice) {
  const HuntTallies tallies = Hunted(HuntOf("spindle_v2", 9), 100);
  const HuntTally& tally = tallies.at("spindle_v2");
  EXPECT_EQ(tally.checked, 5);
  EXPECT_THAT(tally.differing, IsEmpty());
}

// Runs in which nothing happens would prove nothing.
TEST(Hunt, RunsAreNotVacuous) {
  for (const ProtocolInfo& info : Protocols()) {
    const HuntTallies tallies = Hunted(HuntOf(std::string(info.name), 1), Fewer(300));
    const HuntTally& tally = tallies.at(std::string(info.name));
    EXPECT_GE(tally.faults.Quantile(50), 3) << info.name;
    // Two of five runs at least; sanitizers have time for few runs.
    EXPECT_GE(tally.takeovers.Quantile(60), 1) << info.name;
    for (const Sometimes name : {Sometimes::kTakeover, Sometimes::kAborted}) {
      EXPECT_GT(tally.met[static_cast<size_t>(name)].runs, 0) << info.name << ": " << WordOf(name);
    }
  }
}

// The published flaws are found without a world made for them, and no promise is broken.
TEST(Hunt, FindsWhatSpindleV2DoesNotPromiseAndNothingElse) {
  const HuntTallies tallies = Hunted(HuntOf("spindle_v2", 1), Fewer(1'000));
  const HuntTally& tally = tallies.at("spindle_v2");
  for (const Invariant invariant :
       {Invariant::kHandedTokenMonotonic, Invariant::kLeaseRespected, Invariant::kNoWedge,
        Invariant::kSingleLeaderBelief, Invariant::kIsolation}) {
    EXPECT_GT(tally.violated[static_cast<size_t>(invariant)], 0) << WordOf(invariant);
  }
  for (const Invariant invariant :
       {Invariant::kOneLiveToken, Invariant::kHasLockTruthful, Invariant::kFencedWritesOrdered}) {
    EXPECT_EQ(tally.violated[static_cast<size_t>(invariant)], 0) << WordOf(invariant);
  }
}

TEST(Hunt, LooksForWhatItIsAskedFor) {
  HuntOptions options = HuntOf("spindle_v2", 1);
  options.invariant = Invariant::kLeaseRespected;
  const HuntTallies tallies = Hunted(options, 100);
  EXPECT_TRUE(FoundAnything(tallies));
  for (const auto& [kind, finding] : tallies.at("spindle_v2").findings) {
    EXPECT_EQ(kind.invariant, Invariant::kLeaseRespected);
  }
  options.invariant.reset();
  options.promised_only = true;
  EXPECT_FALSE(FoundAnything(Hunted(options, 100)));
}

TEST(Hunt, GoesOnAfterRunsThatAreCounted) {
  HuntOptions options = HuntOf("spindle_v2", 1);
  options.shard = 1;
  options.shards = 3;
  HuntTallies tallies = Hunted(options, 25);
  uint64_t told = 0;
  const absl::Status status = RunHunt(
      options, 25, 60, 2,
      [&told](uint64_t done, const RunDigest&, const HuntTallies&) {
        EXPECT_EQ(done, told == 0 ? 26U : told + 1);
        told = done;
        return BatchStep::kGoOn;
      },
      tallies);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(told, 60);
  EXPECT_EQ(tallies, Hunted(options, 60));
}

TEST(Hunt, StopsWhenItIsTold) {
  HuntTallies tallies;
  const absl::Status status = RunHunt(
      HuntOf("spindle_v2", 1), 0, 1'000, 1,
      [](uint64_t done, const RunDigest&, const HuntTallies&) {
        return done == 7 ? BatchStep::kStop : BatchStep::kGoOn;
      },
      tallies);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(RunCount(tallies), 7);
}

// --- what was broken, and where ----------------------------------------------------------------

Scenario FileOf(const std::string& name) {
  const auto scenario = LoadScenario(WHORL_SOURCE_DIR "/scenarios/" + name + ".json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return *scenario;
}

std::vector<std::string> BrokenIn(const std::string& file) {
  std::vector<std::string> broken;
  for (const Breakage& breakage : RunWatched(FileOf(file)).breakages) {
    broken.push_back(std::string(WordOf(breakage.kind.invariant)) + " at " + breakage.kind.where);
  }
  return broken;
}

// Violations with the same cause are one finding, others are separate findings.
TEST(Breakages, AreNamedByTheStepAtWhichTheyCameAbout) {
  EXPECT_THAT(BrokenIn("s4_token_goes_back"), ElementsAre("token_monotonic at takeover_update"));
  EXPECT_THAT(BrokenIn("s4b_late_update_takes_live_lease"),
              testing::Contains("lease_respected at takeover_update"));
  EXPECT_THAT(BrokenIn("gc_pause_stale_token"),
              testing::Contains("single_leader_belief at belief_changed"));
}

// Three ways to wedge are three findings: the last commit before the deadline distinguishes them.
TEST(Breakages, OfAWedgeAreNamedByTheLastCommit) {
  EXPECT_THAT(BrokenIn("w3_lock_times_out_and_beats_on"),
              testing::Contains("no_wedge at heartbeat_update"));
}

// --- numbers -----------------------------------------------------------------------------------

TEST(Histogram, QuantilesAreValuesThatCame) {
  Histogram histogram;
  EXPECT_EQ(histogram.Quantile(50), 0);
  for (const int64_t value : {5, 1, 1, 9}) histogram.Add(value);
  EXPECT_EQ(histogram.Quantile(50), 1);
  EXPECT_EQ(histogram.Quantile(75), 5);
  EXPECT_EQ(histogram.Quantile(100), 9);
}

TEST(Finding, KeepsTheSmallestScenarioInWhateverOrderTheyCome) {
  const Finding small{.runs = 1, .run = 8, .size = {.faults = 1, .nodes = 2}};
  const Finding large{.runs = 1, .run = 3, .size = {.faults = 5, .nodes = 2}};
  Finding a;
  a.Add(small);
  a.Add(large);
  Finding b;
  b.Add(large);
  b.Add(small);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.run, 8U);
  EXPECT_EQ(a.runs, 2);
}

}  // namespace
}  // namespace whorl::sim::hunt_hunt_test
