// The corpus of a hunt: what is kept does not depend on the order of runs, and nothing that runs showed is
// lost when one is taken out.

#include "sim/hunt/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/sim/hunt/hunt_testing.h"

namespace whorl::sim::hunt_corpus_test {
namespace {

// A world with `nodes` nodes.
Scenario Sized(int nodes, uint64_t seed = 1) {
  std::string names = R"("n0")";
  for (int i = 1; i < nodes; ++i) names += R"(, "n)" + std::to_string(i) + "\"";
  auto scenario = ParseScenario(R"({ "version": 1, "about": "x", "protocol": "fenced_lease",
    "nodes": [ )" + names + R"( ], "duration": "60s", "seed": )" +
                                    std::to_string(seed) + " }",
                                "x.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return *std::move(scenario);
}

struct OneRun {
  Scenario world;
  std::vector<Feature> features;
};

std::vector<std::string> NamesOf(const std::vector<OneRun>& runs) {
  Corpus corpus;
  for (const OneRun& run : runs) corpus.Add(run.world, {}, run.features);
  std::vector<std::string> names;
  for (const auto& [name, world] : corpus.entries()) names.push_back(name);
  return names;
}

std::string NameOf(const Scenario& world) { return Corpus::NameOf(Corpus::EntryOf(world, {})); }

// Workers end in any order, and what they kept is joined by copying files.
TEST(Corpus, DoesNotDependOnTheOrderOfRunsNorOnRepetition) {
  std::vector<OneRun> runs = {
      {Sized(3), {{1, 0}, {2, 0}}}, {Sized(2), {{2, 0}, {3, 0}}}, {Sized(2, 2), {{2, 0}, {4, 7}}},
      {Sized(4), {{4, 5}}},         {Sized(1), {{5, 0}, {1, 0}}},
  };
  const std::vector<std::string> names = NamesOf(runs);
  EXPECT_EQ(names.size(), 4u);  // the world of three nodes has no feature that no simpler one has
  std::ranges::sort(runs, {}, [](const OneRun& run) { return NameOf(run.world); });
  do {
    EXPECT_EQ(NamesOf(runs), names);
  } while (std::next_permutation(runs.begin(), runs.end(), [](const OneRun& a, const OneRun& b) {
    return NameOf(a.world) < NameOf(b.world);
  }));
  std::vector<OneRun> twice = runs;
  twice.insert(twice.end(), runs.begin(), runs.end());
  EXPECT_EQ(NamesOf(twice), names);
}

TEST(Corpus, KeepsTheSimplestRunWithAFeatureAndTheClosest) {
  EXPECT_EQ(NamesOf({{Sized(3), {{1, 0}}}, {Sized(2), {{1, 0}}}}), std::vector{NameOf(Sized(2))});
  EXPECT_EQ(NamesOf({{Sized(3), {{1, 4}}}, {Sized(2), {{1, 5}}}}), std::vector{NameOf(Sized(3))});
  // Equally simple ones: whichever, but always the same.
  EXPECT_EQ(NamesOf({{Sized(2, 5), {{1, 0}}}, {Sized(2, 6), {{1, 0}}}}),
            NamesOf({{Sized(2, 6), {{1, 0}}}, {Sized(2, 5), {{1, 0}}}}));
}

// Two workers with one folder: each takes out what it knows a better run for, and nothing is lost.
TEST(Corpus, WhatIsTakenOutIsCoveredByWhatIsThere) {
  std::vector<OneRun> runs;
  for (int i = 0; i < 24; ++i) {
    runs.push_back(
        {Sized(1 + i % 3, static_cast<uint64_t>(i)),
         {{static_cast<uint64_t>(i % 5), i % 2}, {static_cast<uint64_t>(5 + i % 7), 0}}});
  }
  const std::vector<OneRun> first(runs.begin(), runs.begin() + 14);
  const std::vector<OneRun> second(runs.begin() + 10, runs.end());
  std::vector<OneRun> left;
  for (const OneRun& run : runs) {
    for (const auto& names : {NamesOf(first), NamesOf(second)}) {
      if (std::ranges::find(names, NameOf(run.world)) != names.end()) left.push_back(run);
    }
  }
  EXPECT_EQ(NamesOf(left), NamesOf(runs));
}

// The name is that of the content, so an entry that is read back has it, too.
TEST(Corpus, NamesAnEntryByItsText) {
  ForEachWorld(Fewer(20), {}, [](const ProtocolInfo& protocol, const Scenario& world) {
    const Scenario entry = Corpus::EntryOf(world, {});
    const std::string name = Corpus::NameOf(entry);
    EXPECT_EQ(name.rfind(std::string(protocol.name) + "-", 0), 0u) << name;
    EXPECT_EQ(Corpus::NameOf(Corpus::EntryOf(Reloaded(entry), {})), name);
    EXPECT_TRUE(ParseRunName(name + "@5:7").has_value()) << name;
    Scenario other = world;
    ++other.seed;
    EXPECT_NE(NameOf(other), name);
  });
}

// --- in a hunt ---------------------------------------------------------------------------------

BatchStep GoOn(uint64_t, const RunDigest&, const HuntTallies&) { return BatchStep::kGoOn; }

Entries KeptBy(const HuntOptions& options, uint64_t runs, int threads = 1) {
  HuntTallies tallies;
  GuidanceState learnt;
  learnt.corpus.emplace();
  EXPECT_TRUE(RunHunt(options, 0, runs, threads, GoOn, tallies, learnt).ok());
  return learnt.corpus->entries();
}

std::vector<std::string> Names(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& [name, world] : entries) names.push_back(name);
  return names;
}

// Run again, the entries show all that the hunt showed: none of them is pruned, and the hunt adds nothing.
TEST(Corpus, OfAHuntIsWholeWhenItsEntriesAreRunAgain) {
  HuntOptions options = HuntOf("fenced_lease", 3);
  const Entries kept = KeptBy(options, Fewer(300));
  EXPECT_GT(kept.size(), 10u);
  EXPECT_LT(kept.size(), 200u);
  EXPECT_EQ(Names(KeptBy(options, Fewer(300), 3)), Names(kept));
  options.entries.worlds = kept;
  HuntTallies tallies;
  GuidanceState learnt;
  learnt.corpus.emplace();
  ASSERT_TRUE(RunEntries(options, 2, true, tallies, learnt).ok());
  EXPECT_EQ(Names(learnt.corpus->entries()), Names(kept));
  ASSERT_TRUE(RunHunt(options, 0, Fewer(300), 1, GoOn, tallies, learnt).ok());
  EXPECT_EQ(Names(learnt.corpus->entries()), Names(kept));
}

// What a corpus has that breaks something is found again, once by all shards.
TEST(Corpus, EntriesThatBreakSomethingAreFindings) {
  HuntOptions options = HuntOf("spindle_v2", 4);
  options.entries.worlds = KeptBy(options, 200);
  const auto findings = [&](uint64_t shard, uint64_t shards) {
    options.shard = shard;
    options.shards = shards;
    HuntTallies tallies;
    GuidanceState learnt;
    learnt.corpus.emplace();
    EXPECT_TRUE(RunEntries(options, 1, true, tallies, learnt).ok());
    EXPECT_EQ(RunCount(tallies), 0);
    return tallies;
  };
  HuntTallies whole = findings(0, 1);
  const HuntTally& tally = whole.at("spindle_v2");
  ASSERT_FALSE(tally.findings.empty());
  for (const auto& [kind, finding] : tally.findings) {
    EXPECT_FALSE(finding.name.entry.empty());
    const Scenario world = WorldOf(options, finding.name);
    EXPECT_NE(Find(RunWatched(world).breakages, kind), nullptr) << NameText(finding.name);
  }
  HuntTallies sum = findings(0, 2);
  sum.at("spindle_v2").Add(findings(1, 2).at("spindle_v2"));
  EXPECT_EQ(sum, whole);
}

// A guided hunt goes on from what earlier ones kept, and says so in the names of its runs.
TEST(Corpus, AGuidedHuntBranchesFromItsEntries) {
  HuntOptions options = HuntOf("fenced_lease", 5);
  options.entries.worlds = KeptBy(options, 200);
  options.guided = true;
  options.seed = 6;
  HuntTallies tallies;
  GuidanceState learnt;
  learnt.corpus.emplace();
  ASSERT_TRUE(RunEntries(options, 1, true, tallies, learnt).ok());
  int from_entries = 0;
  ASSERT_TRUE(RunHunt(
                  options, 0, 448, 1,
                  [&](uint64_t, const RunDigest& last, const HuntTallies&) {
                    if (last.name.entry.empty()) return BatchStep::kGoOn;
                    ++from_entries;
                    const auto name = ParseRunName(NameText(last.name));
                    EXPECT_TRUE(name && DigestOfRun(options, *name) == last) << NameText(last.name);
                    return BatchStep::kGoOn;
                  },
                  tallies, learnt)
                  .ok());
  EXPECT_GT(from_entries, 3);
}

}  // namespace
}  // namespace whorl::sim::hunt_corpus_test
