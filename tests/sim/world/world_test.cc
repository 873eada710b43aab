// The world as processes see it: starts, crashes, pauses, partitions, lost replies, clocks; and as
// drivers see it: a value that can be forked.
#include "sim/world/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "protocol/spanner/fingerprint.h"
#include "protocol/spindle_v2/words.h"
#include "sim/world/chance.h"
#include "sim/world/node_clock.h"
#include "sim/world/parts.h"
#include "sim/world/world_context.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::world_world_test {
namespace {

// Seeds that made no difference would make every hunt a single run.
TEST(Run, DiffersWithTheSeed) {
  const Scenario scenario = ScenarioOf(
      R"({"version": 1, "about": "x", "protocol": "spindle_v2", "nodes": ["a", "b"],
          "duration": "60s"})");
  EXPECT_NE(RunScenario(scenario, 1, nullptr).hash, RunScenario(scenario, 2, nullptr).hash);
}

// "Nothing runs": a paused process that still sent a call would hide every stale-token finding.
TEST(Pause, HoldsUpTimersAndRepliesUntilItEnds) {
  const Witness run = WitnessFaults(R"({"at": "20s", "do": "pause", "node": "a", "for": "9s"})");
  const auto sent = run.OfNode<CallSent>(0);
  EXPECT_TRUE(std::none_of(sent.begin(), sent.end(), [](Instant at) {
    return at > At(Seconds(20)) && at < At(Seconds(29));
  }));
  EXPECT_TRUE(
      std::any_of(sent.begin(), sent.end(), [](Instant at) { return at == At(Seconds(29)); }));
}

// The reply that a pause holds up is the same reply when the pause is over. Counted again, a fault for
// the next one would strike too early; it did, if another process got a reply meanwhile.
TEST(Pause, AReplyThatItHoldsUpIsCountedOnceByFaultsThatWaitForIt) {
  const Witness run =
      WitnessFaults(R"({"when": {"node": "a", "step": "check", "phase": "replied", "count": 3},
          "do": "pause", "node": "a", "for": "9s"},
         {"when": {"node": "a", "step": "check", "phase": "replied", "count": 4},
          "do": "crash", "node": "a"},
         {"when": {"node": "b", "step": "check", "phase": "replied", "count": 1000},
          "do": "crash", "node": "b"})");
  const auto heard_by = [&run](int16_t node) {
    return run.When<CallEnded>([node](const CallEnded& call) {
      return call.call.process.node == node && call.step == spindle_v2::steps::kCheck;
    });
  };
  ASSERT_EQ(run.OfNode<ProcessGone>(0).size(), 1U);
  EXPECT_EQ(heard_by(0).size(), 3U);
  EXPECT_FALSE(heard_by(1).empty());
}

// Two pauses that overlap end with the later one.
TEST(Pause, OverlappingPausesEndWithTheLast) {
  const Witness run = WitnessFaults(R"({"at": "20s", "do": "pause", "node": "a", "for": "9s"},
                                       {"at": "25s", "do": "pause", "node": "a", "for": "9s"})");
  EXPECT_EQ(run.When<ProcessPaused>(), std::vector{At(Seconds(20))});
  EXPECT_EQ(run.When<ProcessResumed>(), std::vector{At(Seconds(34))});
}

// A pause belongs to the process it struck: its end must not wake the next one out of its own.
TEST(Pause, DoesNotOutliveItsProcess) {
  const Witness run = WitnessFaults(R"({"at": "20s", "do": "pause", "node": "a", "for": "10s"},
         {"at": "22s", "do": "crash", "node": "a", "restart_after": "1s"},
         {"at": "25s", "do": "pause", "node": "a", "for": "10s"})");
  EXPECT_EQ(run.When<ProcessResumed>(), std::vector{At(Seconds(35))});
}

// An event that waits for the end of a pause can be cancelled meanwhile.
TEST(Pause, ThatAStopMeetsEndsWithoutWhatWasCancelled) {
  const Witness run = WitnessFaults(R"({"at": "20s", "do": "pause", "node": "a", "for": "9s"},
                                       {"at": "25s", "do": "stop", "node": "a"})");
  EXPECT_EQ(run.When<ProcessResumed>(), std::vector{At(Seconds(29))});
  EXPECT_LT(run.OfNode<WriteSent>(0).back(), At(Seconds(20)));
}

// A crash loses volatile state: the next incarnation must not own the token of the last.
TEST(Crash, LosesTheOwnTokenAndComesBackAsAnotherProcess) {
  const Witness run = WitnessThree(
      "40s", "", R"({"at": "20s", "do": "crash", "node": "a", "restart_after": "1s"})");
  const auto owning = run.When<LeadershipViewChanged>([](const LeadershipViewChanged& change) {
    return change.process == ProcessId{0, 2} && change.standing.own_token.has_value();
  });
  EXPECT_TRUE(owning.empty() || owning.front() > At(Seconds(26)));
  EXPECT_EQ(run.When<ProcessStarted>(
                [](const ProcessStarted& x) { return x.process == ProcessId{0, 2}; }),
            std::vector{At(Seconds(21))});
}

// Messages of a crashed process stay on their way: a Commit that was sent still commits.
TEST(Crash, DoesNotTakeBackWhatWasSent) {
  const Witness run = WitnessThree(
      "30s", "",
      R"({"when": {"node": "a", "step": "first_insert", "phase": "served"}, "do": "pause",
          "node": "b", "for": "1s"},
         {"when": {"node": "a", "step": "heartbeat_update", "phase": "committed"},
          "do": "crash", "node": "a"})");
  EXPECT_FALSE(run.OfStep<RowCommitted>(spindle_v2::steps::kHeartbeatUpdate).empty());
}

// A call into a black hole ends at the connection timeout, not before and not never.
TEST(Partition, BlackHoledCallsEndUnavailableAfterTheConnectionTimeout) {
  const Witness run =
      WitnessThree("80s", R"("network": {"connection_timeout": "7s"}, )",
                   R"({"at": "20.5s", "do": "partition", "node": "a", "for": "50s"})");
  std::map<CallName, Instant> hanging;
  int ended = 0;
  for (const Observation& observation : run.observations) {
    if (const auto* sent = std::get_if<CallSent>(&observation.what)) {
      if (sent->call.process.node == 0) hanging[sent->call] = observation.at;
    }
    const auto* end = std::get_if<CallEnded>(&observation.what);
    if (end == nullptr || end->from_spanner || end->call.process.node != 0) continue;
    const Duration lasted = observation.at - hanging[end->call];
    if (end->code == Code::kDeadlineExceeded) {  // 30 s in all for a statement and its resends
      EXPECT_LT(lasted, Seconds(7));
      continue;
    }
    EXPECT_EQ(end->code, Code::kUnavailable);
    EXPECT_EQ(lasted, Seconds(7));
    ++ended;
  }
  EXPECT_GT(ended, 3);
}

// TCP retransmits: what a short partition held back arrives when it ends.
TEST(Partition, WhatABlackHoleHeldArrivesWhenItEndsInTime) {
  const Witness run =
      WitnessFaults(R"({"at": "20.5s", "do": "partition", "node": "a", "for": "5s"})");
  EXPECT_TRUE(run.When<CallEnded>([](const CallEnded& end) { return !end.from_spanner; }).empty());
  const auto ended = run.OfNode<CallEnded>(0);
  EXPECT_TRUE(std::any_of(ended.begin(), ended.end(), [](Instant at) {
    return at > At(Milliseconds(25'500)) && at < At(Milliseconds(25'900));
  }));
}

// Refused connections fail at once: the two modes must not be the same thing with two names.
TEST(Partition, RefusedCallsEndUnavailableAtOnce) {
  const Witness run = WitnessFaults(
      R"({"at": "20.5s", "do": "partition", "node": "a", "for": "20s", "mode": "refuse"})");
  const auto refused = run.When<CallEnded>(
      [](const CallEnded& end) { return !end.from_spanner && end.code == Code::kUnavailable; });
  ASSERT_FALSE(refused.empty());
  EXPECT_LT(refused.front(), At(Seconds(22)));
}

// Spanner tells transactions apart by the names of their calls. One whose Rollback never reached it
// keeps its locks, and must not be taken for a later one.
TEST(Calls, HaveNamesThatNoOtherCallHas) {
  const Witness run = Watch(ScenarioOf(
      R"({"version": 1, "about": "x", "protocol": "lease_lock", "nodes": ["a", "b"],
          "duration": "60s", "faults": [
            {"at": "1s", "do": "error", "node": "b", "for": "58s", "percent": 60,
             "of_step": "acquire", "code": "UNKNOWN"}]})"));
  std::set<CallName> names;
  for (const auto& [at, sent] : run.All<CallSent>()) names.insert(sent.call);
  EXPECT_GT(names.size(), 50u);
  EXPECT_EQ(names.size(), run.When<CallSent>().size());
}

// The reply is lost, not the commit: the outcome is unknown to the client until it asks again.
TEST(DropReply, LosesTheReplyButNotTheCommit) {
  const Witness run =
      WitnessFaults(R"({"when": {"node": "a", "step": "first_insert", "phase": "committed"},
          "do": "drop_reply", "node": "a"})");
  const auto commits = run.OfStep<TransactionCommitted>(spindle_v2::steps::kFirstInsert);
  ASSERT_EQ(commits.size(), 1u);  // the resent Commit is answered, not done again
  const auto finished = run.When<TransactionFinished>([](const TransactionFinished& end) {
    return end.step == spindle_v2::steps::kFirstInsert && end.outcome == Outcome::kCommitted;
  });
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_GE(finished.front() - commits.front(), Seconds(19));
}

// "Between INSERT and UPDATE" has to mean exactly that.
TEST(Triggers, RepliedStrikesAfterTheCommitAndBeforeTheNextStep) {
  const Witness run = WitnessFaults(R"({"at": "10s", "do": "crash", "node": "a"},
         {"when": {"node": "b", "step": "takeover_insert", "phase": "replied"},
          "do": "crash", "node": "b"})");
  EXPECT_EQ(run.When<RowCommitted>([](const RowCommitted& row) {
                 return row.step == spindle_v2::steps::kTakeoverInsert && row.writer.node == 1;
               })
                .size(),
            1u);
  EXPECT_TRUE(run.When<CallSent>([](const CallSent& sent) {
                   return sent.step == spindle_v2::steps::kTakeoverUpdate &&
                          sent.call.process.node == 1;
                 })
                  .empty());
}

// The count-th time, not every time and not the first.
TEST(Triggers, CountChoosesWhichTime) {
  const Witness run =
      WitnessFaults(R"({"when": {"node": "b", "step": "check", "phase": "ended", "count": 3},
          "do": "crash", "node": "b"})");
  const auto checks = run.When<TransactionFinished>([](const TransactionFinished& end) {
    return end.step == spindle_v2::steps::kCheck && end.process.node == 1;
  });
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_EQ(run.When<ProcessGone>(), std::vector{checks.back()});
}

// If the end of a fault were not observed, no_wedge could never be judged.
TEST(Faults, ARestartThatFindsItsNodeRunningIsOver) {
  const Witness run = WitnessFaults(R"({"at": "20s", "do": "crash", "node": "a",
                                       "restart_after": "9s"},
                                      {"at": "22s", "do": "start", "node": "a"})");
  EXPECT_EQ(run.When<FaultEnded>(), (std::vector{At(Seconds(22)), At(Seconds(29))}));
}

// A clock that runs fast makes this node's rounds come early; the others keep their times.
TEST(Clocks, ARateMovesTheRoundsOfItsNodeOnly) {
  const Witness run = Watch(ScenarioOf(
      R"({"version": 1, "about": "x", "protocol": "spindle_v2", "lease": "10s",
          "nodes": [{"name": "a", "clock": {"rate_ppm": 100000}}, "b"], "duration": "25s"})"));
  const auto rounds = [&](int16_t node) {
    return run.When<CallSent>([node](const CallSent& sent) {
      return sent.step == spindle_v2::steps::kCheck && sent.call.process.node == node;
    });
  };
  ASSERT_GE(rounds(0).size(), 3u);
  EXPECT_EQ(rounds(0)[1], (Instant{9'090'909'091}));  // 10 s at 1.1, rounded up
  EXPECT_EQ(rounds(0)[2], (Instant{18'181'818'182}));
  ASSERT_EQ(rounds(1).size(), 3u);
  EXPECT_EQ(rounds(1)[2], At(Seconds(20)));
}

TEST(Clocks, LocalTimersNeverFireBeforeTheirTime) {
  for (const int64_t rate : {-100'000, -333, -1, 0, 1, 777, 100'000}) {
    NodeClock clock = MakeNodeClock({.offset = {}, .rate_ppm = rate});
    const Duration started = Shows(clock, At(Milliseconds(12'345)));
    for (const Instant changed : {Instant{}, At(Milliseconds(12'345)), At(Seconds(13))}) {
      Rebase(clock, changed);
      for (const Duration after : {Seconds(1), Milliseconds(2'999), Seconds(12'345)}) {
        const LocalInstant local = LocalInstant{} + after;
        const Instant fires = WhenShows(clock, started, local);
        EXPECT_GE(ReadClocks(clock, started, fires).monotonic, local) << rate;
        EXPECT_LT(ReadClocks(clock, started, Instant{fires.ns - 3}).monotonic, local) << rate;
      }
    }
  }
}

// TrueTime that lies moves commit timestamps away from true time: the switch must do something.
TEST(TrueTime, ALyingIntervalShiftsCommitTimestamps) {
  const auto first_commit_error = [](const std::string& truetime) {
    const auto [at, row] = WitnessThree("10s", R"("spanner": {"truetime": )" + truetime + "}, ", "")
                               .All<RowCommitted>()
                               .at(0);
    return row.commit - ToTimestamp(at);
  };
  const Duration honest = first_commit_error(R"({"epsilon": "4ms"})");
  EXPECT_LT(honest, Duration{});  // commit wait: visible only when the timestamp is past
  const Duration lying =
      first_commit_error(R"({"epsilon": "4ms", "truthful": false, "error": "-1s"})");
  EXPECT_LT(lying, Milliseconds(-900));
}

// A world whose first node has just been started, and whose events happen by hand.
struct Bench {
  explicit Bench(const Scenario& scenario) : setup(MakeSetup(scenario)), chance(1, scenario) {
    StartNode(work, 0, std::nullopt);
    RunMachines(work);
  }
  std::shared_ptr<const WorldSetup> setup;
  Outbox out;
  SeededChance chance;
  WorldState state = World(setup, out).state();
  WorldContext work{*setup, state, &chance, out};
};

// A belief ends at its local deadline, which no pause delays. If this were not an event of the
// world, a paused process would still count as believing. No protocol here has such a deadline yet,
// so the test uses the world's own timer.
TEST(Belief, LapsesAtItsLocalDeadlineEvenWhileItsProcessIsPaused) {
  const Scenario scenario = ScenarioOf(
      R"({"version": 1, "about": "x", "protocol": "spindle_v2", "nodes": ["a"],
          "duration": "60s"})");
  Bench bench(scenario);
  Participant& participant = bench.state.nodes[0].participants[0];
  participant.standing.believes = true;
  participant.believes = true;
  PauseNode(bench.work, 0);
  bench.out.observed.clear();
  OnTimer(bench.work, {.process = {0, 1}, .lock = 0, .owner = TimerOwner::kBeliefLapses, .id = 0});
  ASSERT_EQ(bench.out.observed.size(), 1u);
  EXPECT_EQ(bench.out.observed.front().what,
            ObservedEvent(BeliefChanged{.process = {0, 1}, .lock = 0, .believes = false}));
}

// Its local clock stands, too.
TEST(Belief, DoesNotLapseWhileItsMachineIsSuspended) {
  const Scenario scenario = ScenarioOf(
      R"({"version": 1, "about": "x", "protocol": "spindle_v2", "nodes": ["a"],
          "duration": "60s",
          "faults": [{"at": "1s", "do": "clock", "node": "a", "stands": true, "for": "9s"}]})");
  Bench bench(scenario);
  WorldState& state = bench.state;
  const auto dues = [&] {
    std::vector<Instant> all;
    for (const ActiveTimer& timer : state.nodes[0].participants[0].timers) {
      all.push_back(state.pending[timer.place].due);
    }
    return all;
  };
  std::vector<Instant> before = dues();
  ASSERT_FALSE(before.empty());
  state.now = At(Seconds(1));
  OnFaultBegins(bench.work, {.fault = 0, .trigger = std::nullopt});
  for (const Instant due : dues()) EXPECT_EQ(due, kNever);
  state.now = At(Seconds(10));
  OnFaultEnds(bench.work, {.fault = 0, .node = 0, .incarnation = 1});
  for (Instant& due : before) due = due + Seconds(9);
  EXPECT_EQ(dues(), before);
}

// --- the world as a value ----------------------------------------------------------------------

// A small driver: earliest first.
struct Driver {
  Driver(const Scenario& scenario, uint64_t seed)
      : chance(seed, scenario), world(MakeSetup(scenario), out) {}
  bool TakeNext() {
    if (world.Next() == nullptr) return false;
    world.TakeNext(chance, out);
    return true;
  }
  void TakeUntil(Instant end) {
    while (world.now() < end && TakeNext()) {
    }
  }

  Outbox out;
  SeededChance chance;
  World world;
};

Scenario Busy() {
  return ScenarioOf(R"({"version": 1, "about": "x", "protocol": "spindle_v2", "lease": "2s",
    "nodes": [{"name": "n", "count": 4}], "duration": "1000h",
    "spanner": {"strict_pending_commit_timestamp": "column"},
    "workload": {"write_every": "300ms"},
    "faults": [{"at": "7s", "do": "pause", "node": "n-1", "for": "9s"},
               {"at": "20s", "do": "crash", "node": "n-2", "restart_after": "3s"},
               {"at": "30s", "do": "partition", "node": "n-3", "for": "30s"},
               {"at": "2s", "do": "latency", "node": "n-4", "direction": "from",
                "add": {"p50": "2ms", "p99": "20ms", "max": "1s"}},
               {"at": "3s", "do": "session_loss", "node": "n-4"},
               {"at": "5s", "do": "abort", "node": "n-*", "for": "20s", "percent": 30},
               {"at": "9s", "do": "clock", "node": "n-4", "stands": true, "for": "3s"},
               {"at": "13s", "do": "clock", "node": "n-4", "rate_ppm": 70000},
               {"at": "26s", "do": "drop_request", "node": "n-4"},
               {"at": "27s", "do": "unavailable", "for": "2s"},
               {"at": "32s", "do": "truetime", "epsilon": "70ms", "for": "20s"},
               {"at": "40s", "do": "current_timestamp", "error": "3s", "for": "5s"},
               {"at": "50s", "do": "delete_row"}]})");
}

// Exploration and shrinking fork worlds: a copy must be the same world, and its own.
TEST(World, ACopyIsAForkThatGoesTheSameWay) {
  Driver original(Busy(), 5);
  original.TakeUntil(At(Seconds(33)));
  Driver fork = original;
  EXPECT_EQ(fork.world, original.world);
  original.TakeUntil(At(Seconds(80)));
  EXPECT_FALSE(fork.world == original.world);
  fork.TakeUntil(At(Seconds(80)));
  EXPECT_EQ(fork.world, original.world);
}

// What == compares, the fingerprint covers, in every corner of the state: the same visitor.
TEST(World, FingerprintsTellWorldsApartAsEqualityDoes) {
  const auto fingerprint = [](const Driver& driver) {
    Fingerprint print;
    print.Add(driver.world.state());
    return print.value();
  };
  Driver original(Busy(), 5);
  Driver same(Busy(), 5);
  uint64_t before = fingerprint(original);
  for (int i = 0; i < 500; ++i) {
    const WorldState last = original.world.state();
    ASSERT_TRUE(original.TakeNext() && same.TakeNext());
    const uint64_t now = fingerprint(original);
    ASSERT_EQ(now, fingerprint(same));
    ASSERT_EQ(now == before, original.world.state() == last);
    before = now;
  }
}

// A day must not cost more memory than an hour: hunts and benchmarks run for days.
TEST(World, DoesNotGrowWithSimulatedTime) {
  const auto size_after = [](Duration time) {
    Driver driver(Busy(), 5);
    driver.TakeUntil(At(time));
    const WorldState& state = driver.world.state();
    size_t versions = 0;
    for (const auto& row : state.database.tables.front().rows) versions += row.second.size();
    return std::vector<size_t>{state.calls.size() / 16,
                               state.pending.capacity() / 32,
                               state.database.transactions.size() / 16,
                               state.database.finished.size() / 16,
                               state.database.tables.front().rows.size() / 4,
                               versions / 4};
  };
  EXPECT_EQ(size_after(Seconds(300)), size_after(Seconds(3600)));
}

// A search finds the same events as a run by time does, and names them by content.
TEST(World, OffersTheNextEventAmongItsChoicesAndTakesItByName) {
  Driver by_time(Busy(), 5);
  Driver by_name(Busy(), 5);
  for (int i = 0; i < 500; ++i) {
    Instant first = kNever;
    by_name.world.ForEachChoice([&](const Choice&, Instant due) { first = std::min(first, due); });
    const PendingSlot next = *by_time.world.Next();
    EXPECT_EQ(next.due, first);
    ASSERT_TRUE(by_time.TakeNext());
    by_name.world.Take(next.choice, by_name.chance, by_name.out);
    ASSERT_EQ(by_name.world, by_time.world);
  }
}

TEST(World, TakingAnEventThatIsNotPendingDoesNothing) {
  Driver driver(Busy(), 5);
  driver.TakeUntil(At(Seconds(10)));
  const World before = driver.world;
  driver.world.Take(
      {.kind = ChoiceKind::kFire, .node = 0, .event = TimerDue{.process = {0, 12'345}}},
      driver.chance, driver.out);
  EXPECT_EQ(driver.world, before);
  EXPECT_TRUE(driver.out.observed.empty());
}

}  // namespace
}  // namespace whorl::sim::world_world_test
