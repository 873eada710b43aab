// A real run's verdict is worth what its history is worth: put in order, complete, or said not to
// be.
#include "live/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/spindle_v2/words.h"
#include "sim/scenario/loader.h"

namespace whorl::live::history_test {
namespace {

using sim::Instant;
using sim::Observation;
using sim::ObservedEvent;

constexpr ProcessId kA = {.node = 0, .incarnation = 1};
constexpr ProcessId kB = {.node = 1, .incarnation = 1};

Instant At(int64_t ms) { return {Milliseconds(ms).ns}; }

class LiveHistoryTest : public testing::Test {
 protected:
  LiveHistoryTest() {
    auto parsed = sim::ParseScenario(
        R"({"version": 1, "about": "Two.", "protocol": "spindle_v2", "lease": "5s",
            "nodes": ["a", "b"], "duration": "20s"})",
        "two.json");
    scenario_ = *std::move(parsed);
    record_.start = Timestamp::FromUnixNanos(1'800'000'000'000'000'000);
    Happens(0, sim::ProcessStarted{.process = kA});
    Happens(0, sim::ProcessStarted{.process = kB});
  }

  void Happens(int64_t ms, ObservedEvent what, std::optional<Instant> lapses_at = std::nullopt) {
    record_.heard.push_back({.at = At(ms), .what = std::move(what), .lapses_at = lapses_at});
  }
  Timestamp Time(int64_t ms) const { return record_.start + Milliseconds(ms); }
  Row LockRow(int64_t heartbeat, int64_t token) const {
    return {std::string("lock"), Time(heartbeat), Time(token), std::string("me")};
  }
  // Committed at `commit`, and its reply seen at `seen`.
  void Commits(int64_t seen, int64_t commit, ProcessId process, std::vector<Row> before,
               std::vector<Row> after) {
    CallName call;
    call.process = process;
    record_.commits.push_back({.at = At(seen),
                               .call = call,
                               .step = spindle_v2::steps::kHeartbeatUpdate,
                               .commit = Time(commit),
                               .before = std::move(before),
                               .after = std::move(after)});
  }
  template <typename T>
  std::vector<std::pair<Instant, T>> All() {
    if (history_.empty()) history_ = HistoryOf(scenario_, record_);
    std::vector<std::pair<Instant, T>> found;
    for (const Observation& observation : history_) {
      if (const auto* what = std::get_if<T>(&observation.what)) {
        found.emplace_back(observation.at, *what);
      }
    }
    return found;
  }

  sim::Scenario scenario_;
  Record record_;
  std::vector<Observation> history_;
};

// An event that was reported late is placed by its time: each node reports on its own pipe.
TEST_F(LiveHistoryTest, IsInTheOrderOfTheOneClock) {
  Happens(30, sim::CalledBack{.process = kB, .leader = true});
  Happens(20, sim::CalledBack{.process = kA, .leader = true});
  const auto called = All<sim::CalledBack>();
  ASSERT_EQ(called.size(), 2U);
  EXPECT_EQ(called[0].second.process, kA);
  EXPECT_EQ(called[1].second.process, kB);
  for (size_t i = 1; i < history_.size(); ++i) EXPECT_GE(history_[i].at, history_[i - 1].at);
  EXPECT_TRUE(std::holds_alternative<sim::RunEnded>(history_.back().what));
}

// The reply to the first commit took longer than that to the second.
TEST_F(LiveHistoryTest, CommitsStandInTheOrderOfTheirTimestamps) {
  Commits(110, 105, kB, {LockRow(100, 100)}, {LockRow(105, 100)});
  Commits(150, 100, kA, {}, {LockRow(100, 100)});
  const auto rows = All<sim::RowCommitted>();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].second.writer, kA);
  EXPECT_EQ(rows[0].first, At(110));
  EXPECT_EQ(rows[1].second.writer, kB);
  EXPECT_TRUE(record_.holes.empty());
}

TEST_F(LiveHistoryTest, TimesAreToldFromTheStartOfSimulations) {
  Commits(110, 105, kA, {}, {LockRow(105, 105)});
  const auto rows = All<sim::RowCommitted>();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].second.commit, sim::kStartTime + Milliseconds(105));
  EXPECT_EQ(rows[0].second.after->at(1), Value(sim::kStartTime + Milliseconds(105)));
}

// A commit whose reply was not seen has changed rows: then no verdict about rows is certain.
TEST_F(LiveHistoryTest, ARowThatNobodyWroteIsAHole) {
  Commits(110, 105, kA, {}, {LockRow(105, 105)});
  Commits(210, 205, kA, {LockRow(150, 150)}, {LockRow(205, 150)});
  const auto history = HistoryOf(scenario_, record_);
  ASSERT_EQ(record_.holes.size(), 1U);
  EXPECT_THAT(record_.holes[0], testing::HasSubstr("reply was not seen"));
  const sim::RunResult result = JudgeHistory(scenario_, 1, history, record_.holes, nullptr);
  for (const sim::InvariantResult& invariant : result.checks.invariants) {
    if (invariant.promise == Promise::kNotApplicable) continue;
    EXPECT_EQ(invariant.verdict, sim::Verdict::kUnknown) << WordOf(invariant.invariant);
  }
}

TEST_F(LiveHistoryTest, RowsThatCouldNotBeReadAreAHole) {
  Commits(110, 105, kA, {}, {});
  record_.commits[0].after.reset();
  HistoryOf(scenario_, record_);
  EXPECT_EQ(record_.holes.size(), 1U);
}

// A process that stands still cannot say that its belief is over.
TEST_F(LiveHistoryTest, ABeliefLapsesByTheClockWhileItsProcessIsPaused) {
  Happens(1000, sim::LeadershipViewChanged{.process = kA, .standing = {.believes = true}},
          At(5000));
  Happens(2000, sim::ProcessPaused{.process = kA});
  Happens(9000, sim::ProcessResumed{.process = kA});
  Happens(9001, sim::LeadershipViewChanged{.process = kA, .standing = {}});
  const auto beliefs = All<sim::BeliefChanged>();
  ASSERT_EQ(beliefs.size(), 2U);
  EXPECT_EQ(beliefs[0].first, At(1000));
  EXPECT_TRUE(beliefs[0].second.believes);
  EXPECT_EQ(beliefs[1].first, At(5000));
  EXPECT_FALSE(beliefs[1].second.believes);
}

TEST_F(LiveHistoryTest, ABeliefEndsWithItsProcess) {
  Happens(1000, sim::LeadershipViewChanged{.process = kA, .standing = {.believes = true}});
  Happens(2000, sim::ProcessGone{.process = kA, .crashed = true});
  const auto beliefs = All<sim::BeliefChanged>();
  ASSERT_EQ(beliefs.size(), 2U);
  EXPECT_EQ(beliefs[1].first, At(2000));
}

// no_wedge does not count the time in which calls hang.
TEST_F(LiveHistoryTest, ACallThatACutLinkMeetsHangs) {
  CallName under_way;
  under_way.process = kA;
  under_way.call = 1;
  CallName answered = under_way;
  answered.request = 1;
  Happens(100, sim::CallSent{.call = answered});
  Happens(110, sim::CallEnded{.call = answered});
  Happens(120, sim::CallSent{.call = under_way});
  Happens(130, sim::LinkChanged{.node = 0, .link = sim::LinkState::kBlackHoled});
  const auto hangs = All<sim::CallHangs>();
  ASSERT_EQ(hangs.size(), 1U);
  EXPECT_EQ(hangs[0].second.call, under_way);
  EXPECT_EQ(hangs[0].first, At(130));
}

// Two believers at once: the checkers see what the merged history says.
TEST_F(LiveHistoryTest, IsJudgedByTheSimulationsCheckers) {
  Happens(1000, sim::LeadershipViewChanged{.process = kA, .standing = {.believes = true}});
  Happens(2000, sim::LeadershipViewChanged{.process = kB, .standing = {.believes = true}});
  const auto history = HistoryOf(scenario_, record_);
  const sim::RunResult result = JudgeHistory(scenario_, 1, history, {}, nullptr);
  EXPECT_EQ(result.checks[Invariant::kSingleLeaderBelief].verdict, sim::Verdict::kViolated);
  EXPECT_EQ(result.checks[Invariant::kOneLiveToken].verdict, sim::Verdict::kHolds);
}

}  // namespace
}  // namespace whorl::live::history_test
