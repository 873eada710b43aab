// Shrinking: the result is small, loads, and still shows the violation.

#include "sim/hunt/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "sim/judge/expectations.h"
#include "sim/judge/run.h"
#include "sim/report/breakage.h"
#include "sim/scenario/loader.h"
#include "tests/sim/hunt/hunt_testing.h"

namespace whorl::sim::shrink_test {
namespace {

using testing::IsEmpty;

// Whether removing any one fault, or any one node with its faults, loses the violation.
template <typename Keeps>
void ExpectMinimal(const Scenario& scenario, const Keeps& keeps) {
  for (const Scenario& smaller : WithoutAPart(scenario)) {
    EXPECT_FALSE(keeps(smaller)) << ScenarioText(smaller) << "does it, too, and is less than\n"
                                 << ScenarioText(scenario);
  }
}

// rapidcheck and the hunter try the candidates in order. A candidate that does not load could not
// be saved as a finding; one that is not smaller could make the search endless.
TEST(Shrinking, OffersWhatLoads) {
  ForEachWorld(Fewer(100), {}, [](const ProtocolInfo&, const Scenario& world) {
    const std::vector<Scenario> offers = SmallerScenarios(world);
    EXPECT_GE(offers.size(), 5U);
    for (const Scenario& smaller : offers) {
      EXPECT_NE(smaller, world);
      EXPECT_EQ(WithoutPlace(Reloaded(smaller)), WithoutPlace(smaller));
    }
  });
}

TEST(Shrinking, EndsWithAlmostNothingWhenAnythingWillDo) {
  ForEachWorld(50, {}, [](const ProtocolInfo&, const Scenario& world) {
    const Scenario least = Shrink(world, [](const Scenario&) { return true; }, 1'000'000).scenario;
    EXPECT_EQ(SizeOf(least), (Size{.faults = 0, .nodes = 1, .locks = 1, .duration = Seconds(1)}));
    EXPECT_THAT(SmallerScenarios(least), IsEmpty()) << ScenarioText(least);
  });
}

// Shrinking keeps what `keeps` requires, and nothing else.
TEST(Shrinking, KeepsWhatIsNeededAndNothingElse) {
  const auto keeps = [](const Scenario& scenario) {
    return std::ranges::any_of(scenario.faults, [&](const FaultSpec& fault) {
      const auto* pause = fault.As<PauseFault>();
      return pause != nullptr && pause->lasts >= Seconds(3) && scenario.nodes.size() >= 2;
    });
  };
  size_t shrunk = 0;
  ForEachWorld(Fewer(500), {}, [&](const ProtocolInfo&, const Scenario& world) {
    if (!keeps(world)) return;
    ++shrunk;
    const Scenario least = Shrink(world, keeps, 1'000'000).scenario;
    EXPECT_EQ(SizeOf(least).faults, 1);
    EXPECT_EQ(SizeOf(least).nodes, 2);
    EXPECT_LE(LastsOf(least.faults.front().what), Seconds(6));
    ExpectMinimal(least, keeps);
  });
  EXPECT_GE(shrunk, 5U);
}

// When no calls are left for numbers, parts are still removed until none can be.
TEST(Shrinking, TakesOutPartsHoweverFewQuestionsNumbersGet) {
  const auto keeps = [](const Scenario& scenario) { return !scenario.faults.empty(); };
  ForEachWorld(50, {}, [&](const ProtocolInfo&, const Scenario& world) {
    if (!keeps(world)) return;
    ExpectMinimal(Shrink(world, keeps, 3).scenario, keeps);
  });
}

// From end to end: a world is drawn, run, shrunk and written, and the file is run again.
TEST(Shrinking, OfAFindingIsMinimalRepeatableAndReadyToBeCommitted) {
  const HuntOptions options = HuntOf("spindle_v2", 3);
  HuntTallies tallies = Hunted(options, Fewer(150));
  ASSERT_TRUE(FoundAnything(tallies));
  HuntTallies again = tallies;
  const auto go_on = [](size_t) { return BatchStep::kGoOn; };
  ASSERT_TRUE(ShrinkFindings(options, 1, go_on, tallies).ok());
  ASSERT_TRUE(ShrinkFindings(options, 1, go_on, again).ok());
  EXPECT_EQ(tallies, again);
  for (const auto& [kind, finding] : tallies.at("spindle_v2").findings) {
    ASSERT_TRUE(finding.shrunk.has_value());
    const Scenario saved = Reloaded(*finding.shrunk);
    EXPECT_THAT(FailuresOf(saved, RunScenario(saved, saved.seed, nullptr)), IsEmpty())
        << ScenarioText(saved);
    EXPECT_NE(std::ranges::find(saved.expect.violates, kind.invariant),
              saved.expect.violates.end());
    EXPECT_LE(SizeOf(saved).faults, finding.size.faults);
    EXPECT_LE(SizeOf(saved).nodes, finding.size.nodes);
    ExpectMinimal(saved, [&wanted = kind](const Scenario& scenario) {
      return Find(RunWatched(scenario).breakages, wanted) != nullptr;
    });
  }
}

// A person who writes a schedule by hand writes more than is needed.
TEST(Shrinking, LeavesOutEntriesOfAScheduleAndTheirFaults) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(R"({
  "version": 1, "about": "x", "protocol": "fenced_lease", "lease": "4s", "nodes": [ "a", "b" ],
  "duration": "20s", "spanner": { "preset": "none" },
  "faults": [
    { "at": "0s", "do": "drop_request", "node": "b" },
    { "at": "0s", "do": "pause", "node": "b", "for": "1s" },
    { "at": "0s", "do": "drop_request", "node": "a" }
  ],
  "schedule": [
    { "at": "0s", "event": "node_starts", "node": "a" },
    { "at": "0s", "event": "node_starts", "node": "b" },
    { "at": "0s", "event": "fault_begins", "fault": 0 },
    { "at": "0s", "event": "fault_begins", "fault": 2 },
    { "at": "0s", "event": "fault_begins", "fault": 1 },
    { "at": "1s", "event": "fault_ends", "fault": 1 }
  ]
})",
                                                          "x.json");
  ASSERT_TRUE(scenario.ok()) << scenario.status().message();
  for (const Scenario& smaller : SmallerScenarios(*scenario)) {
    EXPECT_EQ(WithoutPlace(Reloaded(smaller)), WithoutPlace(smaller));
  }
  // A request of a is lost, and the schedule is taken to its end.
  const auto keeps = [](const Scenario& smaller) {
    const RunResult result = RunScenario(smaller, smaller.seed, nullptr);
    const bool drops = std::ranges::any_of(smaller.faults, [&](const FaultSpec& fault) {
      return fault.As<DropRequestFault>() != nullptr && smaller.nodes[fault.node].name == "a";
    });
    return drops && result.schedule_problem.empty() && result.unfired_faults.empty();
  };
  const Scenario least = Shrink(*scenario, keeps, 1'000).scenario;
  ASSERT_EQ(least.faults.size(), 1U);
  EXPECT_EQ(least.nodes.size(), 1U);
  ASSERT_EQ(least.schedule.size(), 2U) << ScenarioText(least);
  EXPECT_EQ(least.schedule[1].fault, 0U);
}

// The last fault alone breaks the same invariant, but voids its promise.
TEST(Shrinking, OfABrokenPromiseStaysABrokenPromise) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(R"({
  "version": 1, "about": "x", "protocol": "fenced_lease", "lease": "20s", "duration": "200s",
  "nodes": [ "a", { "name": "b", "start_at": "1s" } ],
  "faults": [
    { "at": "100ms", "do": "clock", "node": "a", "rate_ppm": -100000 },
    { "at": "100ms", "do": "clock", "node": "b", "rate_ppm": 100000 },
    { "at": "20s", "do": "partition", "node": "a", "for": "60s" },
    { "at": "150s", "do": "release_row" }
  ]
})",
                                                          "x.json");
  ASSERT_TRUE(scenario.ok()) << scenario.status().message();
  HuntOptions options = HuntOf("fenced_lease", 3);
  options.from = *scenario;
  options.invariant = Invariant::kSingleLeaderBelief;
  HuntTallies tallies = Hunted(options, 1);
  const auto go_on = [](size_t) { return BatchStep::kGoOn; };
  ASSERT_TRUE(ShrinkFindings(options, 1, go_on, tallies).ok());
  ASSERT_EQ(tallies.at("fenced_lease").findings.size(), 1U);
  const Finding& finding = tallies.at("fenced_lease").findings.begin()->second;
  EXPECT_TRUE(finding.promised);
  const Scenario& least = *finding.shrunk;
  EXPECT_EQ(RunScenario(least, least.seed, nullptr).checks[Invariant::kSingleLeaderBelief].promise,
            Promise::kPromised)
      << ScenarioText(least);
}

}  // namespace
}  // namespace whorl::sim::shrink_test
