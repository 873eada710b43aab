// The worlds that a hunt draws: they load, they are of all kinds, and they keep to what they may
// do. A generator that never draws something never finds what needs it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <variant>

#include "sim/hunt/shrink.h"
#include "sim/judge/checkers/setup.h"
#include "sim/scenario/assumptions.h"
#include "sim/scenario/language.h"
#include "sim/world/latency.h"
#include "tests/sim/hunt/hunt_testing.h"

namespace whorl::sim::hunt_world_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool Waits(const FaultSpec& fault) { return std::holds_alternative<When>(fault.trigger); }

// A finding is saved as text, and has to be the world that was run.
TEST(DrawnWorlds, LoadAsTheyWereDrawn) {
  ForEachWorld(Fewer(3'000), {}, [](const ProtocolInfo&, const Scenario& world) {
    EXPECT_EQ(WithoutPlace(Reloaded(world)), WithoutPlace(world));
  });
}

// Of every scenario of the repository that has one lock or more, faults of all kinds, or a schedule.
TEST(DrawnWorlds, VariationsOfAScenarioLoadAsTheyWereDrawn) {
  int with_part_of_a_schedule = 0;
  for (const auto& file : std::filesystem::directory_iterator(WHORL_SOURCE_DIR "/scenarios")) {
    if (file.path().extension() != ".json" || file.path().stem().string().ends_with("schema"))
      continue;
    const absl::StatusOr<Scenario> base = LoadScenario(file.path().string());
    ASSERT_TRUE(base.ok()) << base.status().message();
    EXPECT_EQ(VariationOf(*base, {}, 0, 7).schedule, base->schedule);
    for (uint64_t run = 1; run <= Fewer(20); ++run) {
      SCOPED_TRACE(file.path().string() + ", run " + std::to_string(run));
      const Scenario world = VariationOf(*base, {}, run, run);
      EXPECT_EQ(WithoutPlace(Reloaded(world)), WithoutPlace(world));
      with_part_of_a_schedule +=
          !world.schedule.empty() && world.schedule.size() < base->schedule.size() ? 1 : 0;
    }
  }
  EXPECT_GT(with_part_of_a_schedule, 0);
}

TEST(DrawnWorlds, BeyondAssumptionsLoadToo) {
  ForEachWorld(Fewer(2'000), {.beyond_assumptions = true},
               [](const ProtocolInfo&, const Scenario& world) {
                 EXPECT_EQ(WithoutPlace(Reloaded(world)), WithoutPlace(world));
               });
}

// In a run that is shorter than a lease, what is drawn from the lease may lie beyond the end.
TEST(DrawnWorlds, OfShortAndLongRunsLoadToo) {
  for (const Duration duration : {Seconds(10), Seconds(20), Seconds(30), Seconds(24 * 3600)}) {
    for (const bool beyond : {false, true}) {
      ForEachWorld(Fewer(400), {.beyond_assumptions = beyond, .duration = duration},
                   [](const ProtocolInfo&, const Scenario& world) {
                     EXPECT_EQ(WithoutPlace(Reloaded(world)), WithoutPlace(world));
                   });
    }
  }
}

TEST(DrawnWorlds, AreAFunctionOfTheSeed) {
  const ProtocolInfo& protocol = Protocols().front();
  EXPECT_EQ(DrawWorld({}, protocol, 7), DrawWorld({}, protocol, 7));
  EXPECT_NE(DrawWorld({}, protocol, 7), DrawWorld({}, protocol, 8));
}

// Every kind of fault at times and on steps, every step, every number of nodes: a hunt never finds
// what its worlds never contain.
TEST(DrawnWorlds, HaveEveryKindOfFaultAtTimesAndOnSteps) {
  std::map<FaultKind, std::set<bool>> kinds;
  std::map<std::string, std::set<StepName>> steps;
  std::set<Phase> phases;
  size_t without_faults = 0;
  constexpr uint64_t kWorlds = Fewer(5'000);
  ForEachWorld(kWorlds, {.beyond_assumptions = true},
               [&](const ProtocolInfo&, const Scenario& world) {
                 without_faults += world.faults.empty() ? 1 : 0;
                 for (const FaultSpec& fault : world.faults) {
                   kinds[fault.kind()].insert(Waits(fault));
                   if (!Waits(fault)) continue;
                   steps[world.protocol].insert(std::get<When>(fault.trigger).step);
                   phases.insert(std::get<When>(fault.trigger).phase);
                 }
               });
  for (const FaultInfo& info : Faults()) {
    EXPECT_THAT(kinds[info.kind], ElementsAre(false, true)) << info.word;
  }
  EXPECT_EQ(phases.size(), kCountOf<Phase>);
  for (const ProtocolInfo& protocol : Protocols()) {
    EXPECT_EQ(steps[std::string(protocol.name)].size(), protocol.steps.size() + 2) << protocol.name;
  }
  EXPECT_GT(without_faults, kWorlds / 40);
  EXPECT_LT(without_faults, kWorlds / 5);
}

TEST(DrawnWorlds, HaveAllThatTheSpecificationNames) {
  std::map<size_t, int> nodes;
  std::map<std::string, int> seen;
  const auto count = [&](const std::string& what, bool is_so) { seen[what] += is_so ? 1 : 0; };
  constexpr auto kWorlds = static_cast<int>(Fewer(5'000));
  ForEachWorld(kWorlds, {}, [&](const ProtocolInfo& protocol, const Scenario& world) {
    ++nodes[world.nodes.size()];
    const Duration lease = world.nodes.front().lease;
    EXPECT_GE(lease, std::max(Seconds(1), protocol.lease_min));
    EXPECT_LE(lease, Seconds(30));
    count("a lease below 2 s", lease < Seconds(2) || protocol.lease_min >= Seconds(2));
    count("a lease above 15 s", lease > Seconds(15));
    count("mixed leases", std::ranges::any_of(world.nodes, [&](const NodeSpec& node) {
            return node.lease != lease;
          }));
    count("two locks", world.locks.size() == 2);
    count("a lock's name that could be a side row's",
          world.locks.size() == 2 && world.locks[1] == "X_1");
    count("ids that outlive restarts", world.nodes.back().id == world.nodes.back().name);
    count("a commit timeout", world.network.commit_timeout.has_value());
    count("time to stop", world.workload.stop_takes > Duration{});
    count("work that goes on for more than a lease", world.workload.stop_takes > lease);
    count("questions beside the work", !world.workload.ask.empty());
    count("several questions at once", world.workload.ask.size() >= 3);
    count("a node that is stopped again and again",
          std::ranges::count_if(world.faults, [](const FaultSpec& fault) {
            return fault.As<StopFault>() != nullptr && !Waits(fault);
          }) >= 4);
    count("a row at the start", !world.rows.empty());
    count("an operator among different leases",
          Has(world, Circumstance::kOperatorWritesAmongLeases));
    count("one lock's name begins another's", world.locks.size() == 2 && world.locks[0] == "job");
    count("a clock's rate", std::ranges::any_of(world.nodes, [](const NodeSpec& node) {
            return node.clock.rate_ppm != 0;
          }));
    count("CURRENT_TIMESTAMP is wrong", world.spanner.current_timestamp_error != Duration{});
    count("another epsilon", world.spanner.truetime.epsilon != TrueTimeSpec().epsilon);
    count("a shared id", !world.nodes.front().id.empty());
    count("writes every 200 ms", world.workload.write_every == Milliseconds(200));
    count("a tail beyond 200 ms", std::ranges::any_of(world.faults, [](const FaultSpec& fault) {
            return fault.As<LatencyFault>() &&
                   fault.As<LatencyFault>()->add.max > Milliseconds(200);
          }));
    count("rows from before", !world.rows.empty());
    count("several splits", !world.spanner.splits.empty());
    count("repeatable read", world.spanner.default_isolation == DefaultIsolation::kRepeatableRead);
    count("many faults", world.faults.size() >= 8);
  });
  for (const auto& [what, times] : seen) EXPECT_GT(times, kWorlds / 100) << what;
  EXPECT_EQ(nodes.begin()->first, 2U);
  EXPECT_EQ(nodes.rbegin()->first, 20U);
  EXPECT_EQ(nodes.size(), 7U);
}

// Locks that are held for a while, given back and locked again, each time with a deadline: mistakes of the second
// call are in no world without them.
TEST(DrawnWorlds, LockAgainAndAgainWhereThereIsALock) {
  const ProtocolInfo& protocol = *FindProtocol("spindle_v2");
  int again = 0;
  int with_deadline = 0;
  constexpr auto kWorlds = static_cast<int>(Fewer(2'000));
  for (uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const Scenario world = DrawWorld({}, protocol, seed);
    if (!world.workload.lock_again) continue;
    EXPECT_TRUE(world.workload.hold_for.has_value());
    ++again;
    with_deadline += std::ranges::any_of(
        world.nodes, [](const NodeSpec& node) { return node.use == Use::kLock && node.deadline; });
  }
  EXPECT_GT(again, kWorlds / 20);
  EXPECT_GT(with_deadline, kWorlds / 40);
}

// A lost reply, and another fault at what is sent again: each alone is in many worlds, and the pair was in few.
TEST(DrawnWorlds, HaveFaultsThatMeetACommitThatIsSentAgain) {
  std::map<FaultKind, int> seconds;
  ForEachWorld(Fewer(2'000), {}, [&](const ProtocolInfo&, const Scenario& world) {
    for (size_t i = 1; i < world.faults.size(); ++i) {
      if (world.faults[i - 1].As<DropReplyFault>() == nullptr || !Waits(world.faults[i - 1]))
        continue;
      if (world.faults[i].trigger == world.faults[i - 1].trigger) ++seconds[world.faults[i].kind()];
    }
  });
  for (const FaultKind kind : {kKindOf<SessionLossFault>, kKindOf<ErrorFault>, kKindOf<AbortFault>,
                               kKindOf<DuplicateRequestFault>}) {
    EXPECT_GT(seconds[kind], 10) << FaultKindText(kind);
  }
}

// What shows only in time: of the usual worlds, a few are long. Those of another duration are as long as was
// asked for.
TEST(DrawnWorlds, AreLongerInAFew) {
  int long_ones = 0;
  int quiet = 0;
  ForEachWorld(Fewer(15'000), {}, [&](const ProtocolInfo&, const Scenario& world) {
    if (world.duration == kUsualDuration) return;
    if (world.duration == Seconds(20 * 60)) {
      ++long_ones;
      return;
    }
    ++quiet;
    EXPECT_EQ(world.duration, kUsualDuration + Seconds(3600));
    for (const FaultSpec& fault : world.faults) {
      ASSERT_FALSE(Waits(fault));
      const Instant at = std::get<Instant>(fault.trigger);
      EXPECT_TRUE(at >= Instant{Seconds(3600).ns} || at <= Instant{Seconds(60).ns});
    }
  });
  EXPECT_GT(long_ones, static_cast<int>(Fewer(12)));
  EXPECT_GT(quiet, static_cast<int>(Fewer(6)));
  ForEachWorld(
      Fewer(500), {.duration = Seconds(60)},
      [](const ProtocolInfo&, const Scenario& world) { EXPECT_EQ(world.duration, Seconds(60)); });
}

// A guided hunt raises what the table of draws shows to be rare.
TEST(DrawnWorlds, OfTheRareStyleHaveMoreOfWhatIsRare) {
  std::map<Style, int> crowds;
  std::map<Style, int> asks;
  for (const Style style : {Style::kSwarm, Style::kRare}) {
    ForEachWorld(Fewer(2'000), {.style = style}, [&](const ProtocolInfo&, const Scenario& world) {
      crowds[style] += world.nodes.size() == 20 ? 1 : 0;
      asks[style] += world.workload.ask.empty() ? 0 : 1;
    });
  }
  EXPECT_GT(crowds[Style::kRare], 4 * crowds[Style::kSwarm]);
  EXPECT_GT(asks[Style::kRare], 2 * asks[Style::kSwarm]);
}

// No_wedge can only be judged when the faults have ended.
TEST(DrawnWorlds, EndTheirTimedFaultsInTimeForARecovery) {
  ForEachWorld(Fewer(2'000), {}, [](const ProtocolInfo&, const Scenario& world) {
    Duration bound;
    for (const LockSetup& lock :
         MakeCheckerSetup(world, RoundTripP999(world.spanner.preset)).locks) {
      bound = std::max(bound, lock.wedge_bound);
    }
    const Duration quiet = std::min(bound, world.duration * 3 / 4);
    for (const FaultSpec& fault : world.faults) {
      if (Waits(fault)) continue;
      const Instant ends =
          std::get<Instant>(fault.trigger) + LastsOf(fault.what).value_or(Duration{});
      EXPECT_GE(world.duration - (ends - Instant{}), quiet) << ScenarioText(world);
    }
    for (const FaultSpec& fault : world.faults) {
      if (GoesOn(fault.what)) {
        EXPECT_TRUE(LastsOf(fault.what).has_value());
      }
    }
  });
}

// A promise that is broken beyond its assumptions says nothing against the protocol.
TEST(DrawnWorlds, KeepAssumptionsUnlessTheyMayNot) {
  ForEachWorld(Fewer(2'000), {}, [](const ProtocolInfo&, const Scenario& world) {
    EXPECT_THAT(BrokenAssumptions(world), IsEmpty()) << ScenarioText(world);
  });
  std::set<std::string> broken;
  ForEachWorld(Fewer(2'000), {.beyond_assumptions = true},
               [&](const ProtocolInfo&, const Scenario& world) {
                 for (const std::string& what : BrokenAssumptions(world)) broken.insert(what);
               });
  EXPECT_THAT(broken, testing::IsSupersetOf(
                          {"TrueTime lies", "a node's clocks run faster or slower than assumed"}));
}

TEST(DrawnWorlds, HaveOnlyTheFaultsThatAreAskedFor) {
  const WorldOptions options{.kinds = {kKindOf<PauseFault>, kKindOf<PartitionFault>}};
  std::set<FaultKind> kinds;
  ForEachWorld(500, options, [&](const ProtocolInfo&, const Scenario& world) {
    for (const FaultSpec& fault : world.faults) kinds.insert(fault.kind());
  });
  EXPECT_THAT(kinds, ElementsAre(kKindOf<PauseFault>, kKindOf<PartitionFault>));
}

// Errors are drawn where a hunt asks for them, of six codes and every step, for one call and for a
// while.
TEST(DrawnWorlds, HaveErrorsWhereTheyAreAskedFor) {
  std::set<ErrorCode> codes;
  std::set<bool> last;
  std::set<StepName> of_steps;
  ForEachWorld(
      500, {.kinds = {kKindOf<ErrorFault>}},
      [&](const ProtocolInfo& protocol, const Scenario& world) {
        for (const FaultSpec& fault : world.faults) {
          const auto* error = fault.As<ErrorFault>();
          ASSERT_NE(error, nullptr);
          codes.insert(error->code);
          last.insert(error->lasts.has_value());
          ASSERT_TRUE(error->of_step.has_value());
          EXPECT_TRUE(error->of_step == steps::kHasLock ||
                      std::ranges::find(protocol.steps, *error->of_step) != protocol.steps.end());
          of_steps.insert(*error->of_step);
        }
      });
  EXPECT_EQ(codes.size(), 6U);
  EXPECT_EQ(last.size(), 2U);
  EXPECT_GE(of_steps.size(), 15U);
  EXPECT_TRUE(of_steps.contains(steps::kHasLock));
}

TEST(Draws, LogReachesBothEndsAndEachDoublingAsOften) {
  Draws draws(1);
  std::map<int, int> doublings;
  for (int i = 0; i < 8'000; ++i) {
    const int64_t drawn = draws.Log(1, 255);
    ASSERT_GE(drawn, 1);
    ASSERT_LE(drawn, 255);
    int doubling = 0;
    while (drawn >> (doubling + 1) > 0) ++doubling;
    ++doublings[doubling];
  }
  ASSERT_EQ(doublings.size(), 8U);
  for (const auto& [doubling, count] : doublings) EXPECT_NEAR(count, 1'000, 150) << doubling;
  EXPECT_EQ(draws.Log(5, 5), 5);
}

}  // namespace
}  // namespace whorl::sim::hunt_world_test
