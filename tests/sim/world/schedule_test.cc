// A run that follows a schedule: its order and its times are those of the entries, and virtual time
// goes on after them.
#include "sim/world/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "sim/judge/expectations.h"
#include "sim/judge/run.h"
#include "sim/report/trace.h"
#include "sim/scenario/loader.h"

namespace whorl::sim::schedule_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Scenario With(const std::string& faults, const std::string& schedule) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(R"({
  "version": 1, "about": "A test.", "protocol": "fenced_lease", "lease": "4s",
  "nodes": [ "a", "b" ], "duration": "20s", "spanner": { "preset": "none" },
  "faults": [ )" + faults + R"( ],
  "schedule": [
)" + schedule + " ]\n}",
                                                          "x.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return *scenario;
}

// The first observations of some kinds, each with its time.
class Watch : public ObservationSink {
 public:
  explicit Watch(const Scenario& scenario) : names_(NamesOf(scenario)) {}

  void Hear(const Observation& observation, uint64_t, uint64_t) override {
    const std::string at = FormatDuration(observation.at - Instant{}) + " ";
    if (const auto* started = std::get_if<ProcessStarted>(&observation.what)) {
      heard.push_back(at + names_.Process(started->process) + " starts");
    } else if (const auto* served = std::get_if<CallServed>(&observation.what)) {
      heard.push_back(at + names_.Process(served->call.process) + " " +
                      std::string(WordOf(served->step)));
    } else if (std::get_if<FaultBegan>(&observation.what) != nullptr) {
      heard.push_back(at + "fault");
    } else if (std::get_if<CallHangs>(&observation.what) != nullptr) {
      heard.push_back(at + "hangs");
    }
  }
  std::vector<std::string> First(size_t count) const {
    return {heard.begin(), heard.begin() + static_cast<ptrdiff_t>(std::min(count, heard.size()))};
  }

  std::vector<std::string> heard;

 private:
  Names names_;
};

TEST(Schedule, ChoosesTheOrderAndTheTime) {
  const Scenario scenario = With("", R"(
    { "event": "node_starts", "node": "b" },
    { "event": "call_arrives", "node": "b" },
    { "at": "1s", "event": "node_starts", "node": "a" },
    { "event": "call_arrives", "node": "a", "step": "read" },
    { "at": "2s", "event": "reply_arrives", "node": "b" })");
  Watch watch(scenario);
  const RunResult result = RunScenario(scenario, 1, &watch);
  EXPECT_THAT(result.schedule_problem, IsEmpty());
  EXPECT_THAT(watch.First(4),
              ElementsAre("0s b#1 starts", "0s b#1 read", "1s a#1 starts", "1s a#1 read"));
  EXPECT_THAT(watch.heard[4], testing::StartsWith("2s b#1 ")) << "what b does with its late reply";
}

// A regression in a scheduled scenario must not depend on the seed that is given.
TEST(Schedule, DrawsNothingFromTheSeed) {
  Scenario scenario = With("", R"({ "event": "node_starts", "node": "b" })");
  scenario.spanner.preset = Preset::kRegional;  // whose latencies are drawn
  const RunResult one = RunScenario(scenario, 1, nullptr);
  const RunResult other = RunScenario(scenario, 2, nullptr);
  EXPECT_NE(one.hash, other.hash) << "a hash covers the seed";
  EXPECT_EQ(one.checks, other.checks);
  EXPECT_EQ(one.observations, other.observations);
}

// The commit timestamps of a run, each with the time at which the commit was visible.
class Commits : public ObservationSink {
 public:
  void Hear(const Observation& observation, uint64_t, uint64_t) override {
    const auto* committed = std::get_if<TransactionCommitted>(&observation.what);
    if (committed == nullptr) return;
    heard.push_back(FormatDuration(committed->commit - kStartTime) + " at " +
                    FormatDuration(observation.at - Instant{}));
  }
  std::vector<std::string> heard;
};

// TrueTime's epsilon is 4 ms. What is read before takes the earliest timestamp there is.
TEST(Schedule, SaysWhereInTrueTimesIntervalACommitTimestampLies) {
  const auto first_commit = [](const std::string& error) {
    const Scenario scenario = With("", R"(
    { "event": "node_starts", "node": "a" },
    { "event": "call_arrives", "node": "a", "step": "read", "truetime_error": "-4ms" },
    { "event": "reply_arrives", "node": "a", "step": "read" },
    { "event": "call_arrives", "node": "a", "step": "create", "truetime_error": "-4ms" },
    { "event": "reply_arrives", "node": "a", "step": "create" },
    { "event": "call_arrives", "node": "a", "step": "create" )" +
                                           error + "}");
    Commits commits;
    const RunResult result = RunScenario(scenario, 1, &commits);
    EXPECT_THAT(result.schedule_problem, IsEmpty());
    return commits.heard.empty() ? "none" : commits.heard.front();
  };
  EXPECT_EQ(first_commit(""), "4ms at 8.000001ms") << "it waits for an interval of the same kind";
  EXPECT_EQ(first_commit(R"(, "truetime_error": "-4ms")"), "1us at 1.001us");
  EXPECT_EQ(first_commit(R"(, "truetime_error": "0s")"), "4ms at 4.000001ms");
  EXPECT_EQ(first_commit(R"(, "truetime_error": "4ms")"), "8ms at 8.000001ms");
}

// A report takes a run in a thousand parts.
TEST(Schedule, IsTheSameRunInParts) {
  class GoOn : public RunWatch {
    bool GoesOn(Instant, uint64_t) override { return true; }
  };
  const Scenario scenario = With("", R"(
    { "at": "3s", "event": "node_starts", "node": "b" },
    { "at": "7s", "event": "node_starts", "node": "a" })");
  GoOn watch;
  EXPECT_EQ(RunScenario(scenario, 1, nullptr, watch), RunScenario(scenario, 1, nullptr));
}

TEST(Schedule, AFaultOfOneCallStrikesTheCallThatTheEntryNames) {
  const std::string drop = R"({ "at": "0s", "do": "drop_request", "node": "b" })";
  const std::string begin = R"(
    { "event": "node_starts", "node": "a" },
    { "event": "node_starts", "node": "b" },
    { "event": "call_arrives", "node": "a" },)";
  const Scenario scenario = With(drop, begin + R"( { "event": "fault_begins", "fault": 0 })");
  Watch watch(scenario);
  const RunResult result = RunScenario(scenario, 1, &watch);
  EXPECT_THAT(result.unfired_faults, IsEmpty());
  EXPECT_THAT(watch.First(5),
              ElementsAre("0s a#1 starts", "0s b#1 starts", "0s a#1 read", "0s fault", "0s hangs"));

  const RunResult missed =
      RunScenario(With(drop, begin + R"( { "event": "fault_begins", "fault": 0, "step": "beat" })"),
                  1, nullptr);
  EXPECT_THAT(missed.schedule_problem,
              HasSubstr("(/schedule/3) strikes no call that is on its way: "));
}

// The fault's own time is for readers.
TEST(Schedule, AFaultThatItBeginsStrikesOnceOnly) {
  const Scenario scenario =
      With(R"({ "at": "5s", "do": "pause", "node": "a", "for": "1s" })",
           R"( { "event": "node_starts", "node": "a" }, { "event": "fault_begins", "fault": 0 },
          { "event": "fault_ends", "fault": 0 } )");
  Watch watch(scenario);
  RunScenario(scenario, 1, &watch);
  EXPECT_EQ(std::ranges::count(watch.heard, "0s fault"), 1);
  EXPECT_EQ(std::ranges::count(watch.heard, "5s fault"), 0);
}

// Who wrote the entry by hand, or changed the protocol since, has to see what is there instead.
TEST(Schedule, AnEntryThatCannotHappenIsAFailureThatNamesItAndTheOthers) {
  const Scenario scenario = With("", R"(
    { "event": "node_starts", "node": "a" },
    { "event": "reply_arrives", "node": "a" })");
  const RunResult result = RunScenario(scenario, 1, nullptr);
  EXPECT_EQ(result.schedule_problem,
            "the entry at x.json:8 (/schedule/1) cannot happen: { \"event\": \"reply_arrives\", "
            "\"node\": \"a\" }; at 0s there can happen: { \"event\": \"timer_due\", \"node\": "
            "\"a\", \"timer\": \"application\" }, { \"event\": \"node_starts\", \"node\": \"b\" "
            "}, { \"event\": \"call_arrives\", \"node\": \"a\", \"step\": \"read\" }");
  EXPECT_THAT(FailuresOf(scenario, result), testing::Contains(result.schedule_problem));
  EXPECT_GT(result.checks.metrics[Metric::kGrants], 0) << "virtual time goes on";
}

TEST(Schedule, AnEntryAfterTheEndIsAFailure) {
  const Scenario scenario = With(R"({ "at": "0s", "do": "pause", "node": "a", "for": "30s" })", R"(
    { "event": "node_starts", "node": "a" }, { "event": "fault_begins", "fault": 0 },
    { "event": "fault_ends", "fault": 0 })");
  EXPECT_THAT(RunScenario(scenario, 1, nullptr).schedule_problem,
              HasSubstr("(/schedule/2) comes after the end of the run: "));
}

// A name that fits two events would be another run, one day.
TEST(Schedule, NamesAnEventByAsManyKeysAsTellItApart) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(R"({
  "version": 1, "about": "A test.", "protocol": "fenced_lease", "lease": "4s",
  "locks": [ "x", "y" ], "nodes": [ "a" ], "duration": "20s", "spanner": { "preset": "none" } })",
                                                          "x.json");
  ASSERT_TRUE(scenario.ok());
  Outbox out;
  World world(MakeSetup(*scenario), out);
  FixedChance chance;
  EXPECT_EQ(WhatCanHappen(world), R"({ "event": "node_starts", "node": "a" })");
  world.TakeNext(chance, out);
  EXPECT_EQ(WhatCanHappen(world),
            R"({ "event": "timer_due", "node": "a", "lock": "x", "timer": "application" }, )"
            R"({ "event": "timer_due", "node": "a", "lock": "y", "timer": "application" }, )"
            R"({ "event": "call_arrives", "node": "a", "lock": "x", "step": "read" }, )"
            R"({ "event": "call_arrives", "node": "a", "lock": "y", "step": "read" })");
  for (int taken = 0; taken < 200; ++taken) {
    world.state().pending.ForEach([&](const PendingSlot& slot, uint32_t) {
      const PendingSlot* found = FindScheduled(world, EntryOf(world, slot));
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->choice, slot.choice);
    });
    world.TakeNext(chance, out);
  }
}

}  // namespace
}  // namespace whorl::sim::schedule_test
