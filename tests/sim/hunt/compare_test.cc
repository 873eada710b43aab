// Two protocols in the same worlds: they are the same, and what differs is the protocols' doing.

#include "sim/hunt/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/hunt/outcome.h"
#include "sim/scenario/assumptions.h"
#include "tests/sim/hunt/hunt_testing.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::hunt_compare_test {
namespace {

using testing::IsEmpty;

Scenario WorldFor(const std::vector<const ProtocolInfo*>& protocols, uint64_t seed,
                  const WorldOptions& options = {}) {
  return DrawWorld(options, SharedCapabilities(protocols), seed);
}

// Calls visit(a, b) for each two protocols.
template <typename Visit>
void ForEachPair(const Visit& visit) {
  for (const ProtocolInfo& a : Protocols()) {
    for (const ProtocolInfo& b : Protocols()) {
      if (&a < &b) visit(a, b);
    }
  }
}

ProtocolComparison Compared(const std::string& first, const std::string& second, uint64_t runs,
                            int threads = 1, uint64_t seed = 3) {
  HuntOptions hunt;
  hunt.seed = seed;
  hunt.world.duration = Seconds(60);
  ProtocolComparison comparison = ComparisonOf(hunt, {first, second});
  const absl::Status status =
      RunComparison(runs, threads, [](uint64_t) { return BatchStep::kGoOn; }, comparison);
  EXPECT_TRUE(status.ok()) << status.message();
  return comparison;
}

// Whichever of the protocols it has: what waits for a step can strike, and no promise is void.
TEST(CommonWorlds, LoadAndKeepTheAssumptionsOfEachProtocol) {
  int with_steps = 0;
  ForEachPair([&](const ProtocolInfo& a, const ProtocolInfo& b) {
    for (uint64_t seed = 1; seed <= Fewer(150); ++seed) {
      Scenario world = WorldFor({&a, &b}, seed);
      for (const ProtocolInfo* protocol : {&a, &b}) {
        SCOPED_TRACE(std::string(protocol->name) + ", seed " + std::to_string(seed));
        world.protocol = protocol->name;
        EXPECT_EQ(WithoutPlace(Reloaded(world)), WithoutPlace(world));
        EXPECT_THAT(BrokenAssumptions(world), IsEmpty());
      }
      for (const FaultSpec& fault : world.faults) {
        with_steps += std::holds_alternative<When>(fault.trigger) ? 1 : 0;
      }
    }
  });
  EXPECT_GT(with_steps, 0);
}

// No pair of protocols loses the faults that a hunt is about.
TEST(CommonWorlds, HaveFaultsAndTakeovers) {
  ForEachPair([](const ProtocolInfo& a, const ProtocolInfo& b) {
    const ProtocolComparison comparison =
        Compared(std::string(a.name), std::string(b.name), Fewer(60));
    for (const HuntTally& tally : comparison.tallies) {
      EXPECT_GE(tally.faults.Quantile(50), 2) << a.name << " and " << b.name;
      EXPECT_GE(tally.takeovers.Quantile(80), 1) << a.name << " and " << b.name;
    }
  });
}

TEST(CommonWorlds, OfOneProtocolAreItsOwn) {
  for (const ProtocolInfo& info : Protocols()) {
    for (const bool beyond : {false, true}) {
      const WorldOptions options = {.kinds = {}, .beyond_assumptions = beyond};
      EXPECT_EQ(WorldFor({&info, &info}, 9, options), DrawWorld(options, info, 9)) << info.name;
    }
  }
}

TEST(CommonWorlds, DoNotDependOnWhoIsNamedFirst) {
  ForEachPair([](const ProtocolInfo& a, const ProtocolInfo& b) {
    EXPECT_EQ(WorldFor({&a, &b}, 9), WorldFor({&b, &a}, 9)) << a.name << " and " << b.name;
  });
}

TEST(Comparison, OfAProtocolWithItselfShowsNoDifference) {
  for (const ProtocolInfo& info : Protocols()) {
    SCOPED_TRACE(info.name);
    const std::string name(info.name);
    const ProtocolComparison comparison = Compared(name, name, Fewer(80));
    EXPECT_EQ(comparison.equal, int64_t{Fewer(80)});
    EXPECT_EQ(comparison.tallies[0], comparison.tallies[1]);
    for (const ComparedInvariant& counts : comparison.invariants) {
      EXPECT_EQ(counts.alone[0], RunsThatBroke{});
      EXPECT_EQ(counts.alone[1], RunsThatBroke{});
    }
    for (const ComparedRun& run : comparison.runs) EXPECT_EQ(run.sides[0], run.sides[1]);
    // And its worlds are those of a hunt for it alone.
    HuntOptions alone = HuntOf(name, 3);
    alone.world.duration = Seconds(60);
    EXPECT_EQ(Hunted(alone, Fewer(80)).at(name), comparison.tallies[0]);
  }
}

TEST(Comparison, IsTheSameTheOtherWayRound) {
  const ProtocolComparison one = Compared("spindle_v2", "fenced_lease", Fewer(100));
  const ProtocolComparison other = Compared("fenced_lease", "spindle_v2", Fewer(100));
  EXPECT_EQ(one.tallies[0], other.tallies[1]);
  EXPECT_EQ(one.tallies[1], other.tallies[0]);
  for (const Invariant invariant : AllOf<Invariant>()) {
    const auto place = static_cast<size_t>(invariant);
    EXPECT_EQ(one.invariants[place].alone[0], other.invariants[place].alone[1]);
    EXPECT_EQ(one.invariants[place].both, other.invariants[place].both);
  }
  ASSERT_EQ(one.runs.size(), other.runs.size());
  for (size_t i = 0; i < one.runs.size(); ++i) {
    EXPECT_EQ(one.runs[i].sides[0], other.runs[i].sides[1]);
    EXPECT_EQ(one.runs[i].lock_time, other.runs[i].lock_time);
  }
}

TEST(Comparison, FindsWhatOnlyOneOfThemBreaks) {
  const ProtocolComparison comparison = Compared("spindle_v2", "fenced_lease", 100);
  EXPECT_EQ(comparison.equal, 0);
  EXPECT_TRUE(comparison.IsBrokenByAlone(Invariant::kLeaseRespected, 0));
  EXPECT_FALSE(comparison.IsBrokenByAlone(Invariant::kLeaseRespected, 1));
  EXPECT_FALSE(comparison.IsBrokenByAlone(Invariant::kSingleWorker, 0));
  for (const Invariant invariant : AllOf<Invariant>()) {
    const auto place = static_cast<size_t>(invariant);
    const ComparedInvariant& counts = comparison.invariants[place];
    for (size_t side = 0; side < kSides; ++side) {
      EXPECT_EQ(counts.BrokenBy(side), comparison.tallies[side].violated[place])
          << WordOf(invariant);
    }
    // The first run is one that the hunt of that side would show.
    const RunsThatBroke& alone = counts.alone[0];
    if (!alone.first) continue;
    const RunOutcome outcome = OutcomeOf(comparison.hunts[0], *alone.first, nullptr);
    EXPECT_EQ(outcome.digest.verdicts[place], Verdict::kViolated) << WordOf(invariant);
    EXPECT_NE(OutcomeOf(comparison.hunts[1], *alone.first, nullptr).digest.verdicts[place],
              Verdict::kViolated)
        << WordOf(invariant);
  }
}

TEST(Comparison, LooksForWhatItIsAskedFor) {
  HuntOptions hunt;
  hunt.promised_only = true;
  ProtocolComparison comparison = ComparisonOf(hunt, {"spindle_v2", "fenced_lease"});
  const absl::Status status =
      RunComparison(50, 1, [](uint64_t) { return BatchStep::kGoOn; }, comparison);
  ASSERT_TRUE(status.ok()) << status.message();
  for (const ComparedInvariant& counts : comparison.invariants) {
    EXPECT_EQ(counts, ComparedInvariant{});
  }
}

// --- what a run took ---------------------------------------------------------------------------

RunFigures FiguresOf(const Scenario& scenario) {
  FiguresOfRun figures(scenario);
  RunScenario(scenario, scenario.seed, &figures);
  return figures.figures();
}

Scenario CrashOf(const std::string& protocol, const std::string& faults) {
  return ScenarioOf(R"({"version": 1, "about": "a test", "protocol": ")" + protocol +
                    R"(", "lease": "5s", "duration": "60s", "seed": 4,
    "nodes": ["a", {"name": "b", "start_at": "1s"}], "faults": [)" +
                    faults + "]}");
}

int64_t WithoutHolder(const Scenario& scenario) {
  const RunResult run = RunScenario(scenario, scenario.seed, nullptr);
  return run.checks.metrics[Metric::kWithoutHolderSum];
}

// From the crash until the other process would be answered "yes".
TEST(RunFigures, ATakeoverLastsAsLongAsNobodyHasTheLock) {
  for (const ProtocolInfo& info : Protocols()) {
    const std::string name(info.name);
    const Scenario crash = CrashOf(name, R"({"at": "20s", "do": "crash", "node": "a"})");
    const RunFigures figures = FiguresOf(crash);
    ASSERT_TRUE(figures.first_takeover) << name;
    EXPECT_EQ(figures.first_takeover->ns, WithoutHolder(crash) - WithoutHolder(CrashOf(name, "")))
        << name;
    EXPECT_GT(*figures.first_takeover, Milliseconds(500)) << name;
  }
}

TEST(RunFigures, ARunWithoutAnotherOwnerHasNoTakeover) {
  for (const ProtocolInfo& info : Protocols()) {
    EXPECT_FALSE(FiguresOf(CrashOf(std::string(info.name), "")).first_takeover) << info.name;
  }
}

TEST(RunFigures, EveryCallIsCountedOnce) {
  for (const ProtocolInfo& info : Protocols()) {
    const HuntOptions hunt = HuntOf(std::string(info.name), 5);
    for (uint64_t run = 0; run < 5; ++run) {
      const Scenario world = WorldOfRun(hunt, run);
      FiguresOfRun figures(world);
      const RunOutcome outcome = OutcomeOf(hunt, run, &figures);
      EXPECT_EQ(figures.figures().calls + figures.figures().questions,
                outcome.metrics[Metric::kRpcs])
          << info.name;
      EXPECT_GT(figures.figures().commits, 0) << info.name;
      EXPECT_TRUE(!info.answers_locally || figures.figures().questions == 0) << info.name;
    }
  }
}

}  // namespace
}  // namespace whorl::sim::hunt_compare_test
