// Branches and guided hunts: a branch goes as the run that it leaves, its name says all, and a guided
// hunt depends on nothing but its options.

#include "sim/hunt/guide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sim/hunt/branch.h"
#include "sim/report/breakage.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/waypoints.h"
#include "sim/world/driver.h"
#include "tests/sim/hunt/hunt_testing.h"

namespace whorl::sim::hunt_guide_test {
namespace {

HuntOptions Guided(const std::string& protocol, uint64_t seed) {
  HuntOptions options = HuntOf(protocol, seed);
  options.guided = true;
  return options;
}

std::vector<RunDigest> DigestsOf(const HuntOptions& options, uint64_t count, int threads = 1) {
  std::vector<RunDigest> digests;
  HuntTallies tallies;
  EXPECT_TRUE(RunHunt(
                  options, 0, count, threads,
                  [&](uint64_t, const RunDigest& last, const HuntTallies&) {
                    digests.push_back(last);
                    return BatchStep::kGoOn;
                  },
                  tallies)
                  .ok());
  return digests;
}

uint64_t HashAfter(const Scenario& world, uint64_t events) {
  Driver driver(world, world.seed, nullptr);
  driver.TakeEvents(events);
  return driver.hash();
}

// --- branches ----------------------------------------------------------------------------------

// Otherwise the run would not come back to where it showed something new.
TEST(Branch, GoesAsTheRunThatItLeavesUpToItsEvent) {
  int others = 0;
  ForEachWorld(Fewer(150), {}, [&](const ProtocolInfo& protocol, const Scenario& world) {
    const Scenario branch = BranchOf({}, world, Instant{Seconds(40).ns}, 7);
    ASSERT_EQ(branch.branches.size(), 1u);
    const uint64_t event = branch.branches[0].event;
    EXPECT_EQ(HashAfter(branch, event), HashAfter(world, event)) << protocol.name << world.seed;
    others += HashAfter(branch, event + 300) != HashAfter(world, event + 300) ? 1 : 0;
  });
  EXPECT_GT(others, static_cast<int>(Fewer(150) * 8 / 10));  // and as another one from there on
}

TEST(Branch, IsTheSameByItsTimeAndByItsEvent) {
  ForEachWorld(Fewer(60), {}, [&](const ProtocolInfo&, const Scenario& world) {
    const Scenario branch = BranchOf({}, world, Instant{Seconds(30).ns}, 9);
    EXPECT_EQ(BranchOf({}, world, branch.branches[0]), branch);
    const Scenario second = BranchOf({}, branch, Instant{Seconds(50).ns}, 10);
    EXPECT_EQ(BranchOf({}, branch, second.branches[1]), second);
  });
}

TEST(Branch, IsAValidScenarioThatKeepsTheAssumptions) {
  int longer = 0;
  ForEachWorld(Fewer(150), {}, [&](const ProtocolInfo&, const Scenario& world) {
    const Scenario branch = BranchOf({}, world, Instant{Seconds(20).ns}, 3);
    EXPECT_EQ(WithoutPlace(Reloaded(branch)), WithoutPlace(branch));
    EXPECT_TRUE(BrokenAssumptions(branch).empty());
    longer += branch.faults.size() > world.faults.size() ? 1 : 0;
  });
  EXPECT_GT(longer, static_cast<int>(Fewer(150) / 10));  // faults are added
}

// A branch before the last one would change what that one left.
TEST(Branch, ComesAfterTheBranchesBeforeIt) {
  const Scenario world = DrawWorld({}, *FindProtocol("fenced_lease"), 5);
  const Scenario branch = BranchOf({}, world, Instant{Seconds(60).ns}, 1);
  const Scenario second = BranchOf({}, branch, Instant{Seconds(1).ns}, 2);
  ASSERT_EQ(second.branches.size(), 2u);
  EXPECT_GT(second.branches[1].event, second.branches[0].event);
}

TEST(RunNames, AreReadBackAndNothingElseIs) {
  for (const char* text : {"0", "17", "17@1200:903", "17@1:0@2:18446744073709551615"}) {
    const auto name = ParseRunName(text);
    ASSERT_TRUE(name.has_value()) << text;
    EXPECT_EQ(NameText(*name), text);
  }
  for (const char* text : {"", "x", "-1", "17@", "17@5", "17@5:", "17@0:1", "17@5:1@5:2",
                           "17@9:1@5:2", "17@5:1x", "17 ", "17@5:99999999999999999999"}) {
    EXPECT_FALSE(ParseRunName(text).has_value()) << text;
  }
}

// --- guided hunts ------------------------------------------------------------------------------

constexpr uint64_t kRuns = 640;

TEST(GuidedHunt, IsTheSameOnAnyNumberOfThreads) {
  const auto one = DigestsOf(Guided("fenced_lease", 3), kRuns, 1);
  EXPECT_EQ(one, DigestsOf(Guided("fenced_lease", 3), kRuns, 3));
}

// Whatever guidance is worth, what an unguided hunt finds soon is found as soon, and the rest of it later.
TEST(GuidedHunt, IsAMixtureOfPlainRunsOrderedOnesAndBranches) {
  const auto guided = DigestsOf(Guided("fenced_lease", 3), kRuns);
  const auto plain = DigestsOf(HuntOf("fenced_lease", 3), kRuns);
  constexpr uint64_t kPlain = Guide::PlainRuns(false);
  uint64_t branches = 0;
  uint64_t same = 0;
  for (size_t i = 0; i < kRuns; ++i) {
    if (!guided[i].name.branches.empty()) {
      EXPECT_TRUE(Guide::Branches(i, false));
      ++branches;
    } else if (guided[i] == plain[i]) {
      ++same;
    } else {
      EXPECT_GE(i, kPlain);
    }
  }
  EXPECT_EQ(branches, (kRuns - kPlain) / 8);
  const uint64_t drawn = kRuns - kPlain - branches;
  // A sixth.
  EXPECT_GT(same - kPlain, drawn * 11 / 100);
  EXPECT_LT(same - kPlain, drawn * 23 / 100);
}

// By priorities, a slower node stays slower for a while: messages of two nodes keep their order.
TEST(Priorities, MakeSomeNodesSlowerThanOthers) {
  WorldOptions options;
  options.style = Style::kPriorities;
  ForEachWorld(Fewer(40), options, [](const ProtocolInfo&, const Scenario& world) {
    std::set<int16_t> slow;
    for (const FaultSpec& fault : world.faults) {
      const auto* latency = fault.As<LatencyFault>();
      const Instant* at = std::get_if<Instant>(&fault.trigger);
      if (latency != nullptr && at != nullptr && at->ns == 0) slow.insert(fault.node);
    }
    EXPECT_GE(slow.size(), world.nodes.size() - 1);
    EXPECT_EQ(WithoutPlace(Reloaded(world)), WithoutPlace(world));
  });
}

// A checkpoint keeps the places, and the worlds follow from their names.
TEST(GuidedHunt, GoesOnFromWhatItsGuidesRemember) {
  const auto step = [](uint64_t, const RunDigest&, const HuntTallies&) { return BatchStep::kGoOn; };
  const HuntOptions options = Guided("fenced_lease", 4);
  HuntTallies whole;
  GuidanceState all;
  ASSERT_TRUE(RunHunt(options, 0, kRuns, 1, step, whole, all).ok());
  HuntTallies parts;
  GuidanceState learnt;
  ASSERT_TRUE(RunHunt(options, 0, 384, 1, step, parts, learnt).ok());
  for (auto& [protocol, guide] : learnt.guides) {
    for (auto& [number, cell] : guide.cells) {
      for (BranchPoint& point : cell.points) point.world = nullptr;
    }
    for (auto& moments : guide.nearest) {
      for (BranchPoint& moment : moments) moment.world = nullptr;
    }
  }
  ASSERT_TRUE(RunHunt(options, 384, kRuns, 1, step, parts, learnt).ok());
  EXPECT_TRUE(parts == whole);
  EXPECT_TRUE(learnt.guides == all.guides);
}

// A branch's name, one line, gives the world, and so the run, without the hunt that made it.
TEST(GuidedHunt, NamesItsBranchesSoThatAnybodyRunsThemAgain) {
  const HuntOptions options = Guided("spindle_v2", 2);
  int branches = 0;
  const uint64_t plain = Guide::PlainRuns(false);
  for (const RunDigest& digest : DigestsOf(options, plain + Fewer(200))) {
    if (digest.name.branches.empty()) continue;
    ++branches;
    const auto name = ParseRunName(NameText(digest.name));
    ASSERT_TRUE(name.has_value());
    EXPECT_EQ(DigestOfRun(options, *name), digest) << NameText(*name);
  }
  EXPECT_GT(branches, 0);
}

std::vector<KindSeen> SeenIn(uint64_t cell) { return {{.kind = cell, .at = {5}, .cell = cell}}; }

// Memory does not grow with the hunt.
TEST(Guide, RemembersABoundedNumberOfMoments) {
  Guide guide;
  const auto world = std::make_shared<const Scenario>();
  for (uint64_t run = 0; run < 30'000; ++run) {
    const NearestOfRun nearest = {Nearest{.distance = static_cast<int64_t>(run % 97), .at = {}}};
    guide.Learn({.run = run}, world, SeenIn(run), nearest);
    guide.Learn({.run = run}, world, SeenIn(1), nearest);
  }
  EXPECT_EQ(guide.cells.size(), Guide::kCellsMax);
  EXPECT_EQ(guide.cells.at(1).points.size(), Guide::kPointsOfCell);
  EXPECT_EQ(guide.nearest[0].size(), Guide::kNearestMax);
  for (const BranchPoint& moment : guide.nearest[0]) EXPECT_EQ(moment.distance, 0);
}

// Energy decays: a cell that was left often makes room for others.
TEST(Guide, LeavesRareCellsMoreOftenAndEachLessAndLess) {
  Guide guide;
  const auto world = std::make_shared<const Scenario>();
  guide.Learn({.run = 1}, world, SeenIn(1), {});
  for (uint64_t run = 2; run < 11; ++run) {
    guide.Learn({.run = run}, world, SeenIn(2), {});
  }
  int rare = 0;
  int common = 0;
  for (uint64_t bits = 0; bits < 40; ++bits) {
    const auto moment = guide.PickBranchPoint(bits);
    ASSERT_TRUE(moment.has_value());
    (moment->name.run == 1 ? rare : common) += 1;
  }
  EXPECT_GT(rare, common);
  EXPECT_GT(common, 0);
}

// A guide that has seen runs 0, 1, ... come within these distances of a violation.
Guide Approached(const std::vector<int64_t>& distances, NearMissKind approach) {
  Guide guide;
  for (size_t run = 0; run < distances.size(); ++run) {
    NearestOfRun came;
    came[static_cast<size_t>(approach)] = Nearest{.distance = distances[run], .at = {}};
    guide.Learn({.run = run}, std::make_shared<const Scenario>(), {}, came);
  }
  return guide;
}

std::vector<uint64_t> RunsOf(const std::vector<BranchPoint>& moments) {
  std::vector<uint64_t> runs;
  for (const BranchPoint& moment : moments) runs.push_back(moment.name.run);
  return runs;
}

// Those that can come closer are near already. What is violated is found, and no place to go on from.
TEST(Guide, RemembersTheRunsThatCameClosestInTheirOrder) {
  Guide guide = Approached({7, 3, -1, 9, 0, 3}, NearMissKind::kBelief);
  EXPECT_THAT(RunsOf(guide.Of(NearMissKind::kBelief)), testing::ElementsAre(4, 1, 5, 0, 3));
  EXPECT_TRUE(guide.Of(NearMissKind::kLease).empty());
}

// A run that only came as close as many others before it would push those out that can come closer.
TEST(Guide, ForgetsTheFurthestForACloserOneAndNoneForAnEqualOne) {
  std::vector<int64_t> distances(Guide::kNearestMax, 7);
  distances.back() = 8;
  distances.push_back(8);
  Guide guide = Approached(distances, NearMissKind::kLease);
  std::vector<uint64_t> first(Guide::kNearestMax);
  for (size_t i = 0; i < first.size(); ++i) first[i] = i;
  EXPECT_EQ(RunsOf(guide.Of(NearMissKind::kLease)), first);
  distances.push_back(2);
  guide = Approached(distances, NearMissKind::kLease);
  first.pop_back();
  first.insert(first.begin(), distances.size() - 1);
  EXPECT_EQ(RunsOf(guide.Of(NearMissKind::kLease)), first);
}

// --- waypoints ---------------------------------------------------------------------------------

// A run that has come halfway is worth more than one that has not begun; one that has arrived is done.
TEST(Guide, GoesOnFromTheRunsThatReachedTheMostWaypoints) {
  Guide guide = Approached({2, 1, 2, 0, 1}, NearMissKind::kReach);
  EXPECT_THAT(RunsOf(guide.Of(NearMissKind::kReach)), testing::ElementsAre(1, 4, 0, 2));
  std::set<uint64_t> left;
  for (uint64_t bits = 0; bits < 40; ++bits) {
    if (const auto moment = guide.PickBranchPoint(bits)) left.insert(moment->name.run);
  }
  EXPECT_THAT(left, testing::ElementsAre(1, 4));
}

// Rare in drawn worlds: of two takeovers by the one who was paused before, and its late write.
HuntOptions WithWaypoints(bool guided) {
  HuntOptions options = HuntOf("fenced_lease", 3);
  options.guided = guided;
  for (const char* text : {"leader paused", "take ended", "old leader resumed",
                           "old leader crashed", "leader paused", "take ended"}) {
    const auto waypoint = ParseWaypoint(text, {}, FindProtocol("fenced_lease"));
    options.reach.push_back(std::get<Waypoint>(waypoint));
  }
  return options;
}

std::vector<int64_t> RunsThatReached(const HuntOptions& options, uint64_t count) {
  std::vector<int64_t> runs;
  const HuntTallies tallies = Hunted(options, count);
  for (const RunsThat& reached : tallies.at("fenced_lease").reached) runs.push_back(reached.runs);
  return runs;
}

TEST(GuidedHunt, ComesFurtherAlongWaypointsThanOneWithoutAGuide) {
  const std::vector<int64_t> plain = RunsThatReached(WithWaypoints(false), 1'024);
  const std::vector<int64_t> guided = RunsThatReached(WithWaypoints(true), 1'024);
  ASSERT_EQ(plain.size(), 6u);
  ASSERT_EQ(guided.size(), 6u);
  EXPECT_TRUE(std::ranges::is_sorted(plain, std::greater{}));
  EXPECT_GT(guided[3], 5 * (plain[3] + 1));
}

// The first run that reached one is named, and its world says so again.
TEST(GuidedHunt, NamesTheFirstRunThatReachedEachWaypoint) {
  const HuntOptions options = WithWaypoints(true);
  const HuntTallies tallies = Hunted(options, 256);
  const std::vector<RunsThat>& reached = tallies.at("fenced_lease").reached;
  for (size_t i = 0; i < reached.size() && reached[i].runs > 0; ++i) {
    const Scenario world = WorldOf(options, reached[i].first);
    EXPECT_EQ(world.expect.reach, options.reach);
    EXPECT_GT(RunWatched(world).result.reached, i) << NameText(reached[i].first);
  }
}

}  // namespace
}  // namespace whorl::sim::hunt_guide_test
