// spindle_v2: its words (tokens, names, configuration, statements), its course from start to
// leadership, and several Runs. The rounds, the heartbeats, the end and the
// questions have files of their own.
#include "protocol/spindle_v2/spindle_v2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/random_id.h"
#include "tests/protocol/spindle_v2_testing.h"

namespace whorl::spindle_v2::spindle_v2_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using SpindleV2StatementTest = SpindleTest;
using SpindleV2Test = SpindleTest;
using SpindleV2RunsTest = SpindleTest;
using SpindleV2ValueTest = SpindleTest;

// --- tokens ------------------------------------------------------------------------------------

TEST(SpindleV2TokenTest, IsHashedAsItsRfc3339TextWithXxh64) {
  // Go pods and this port decide over the same rows; a different hash would be a second lock. The
  // numbers are from an implementation of XXH64 that is not this library.
  EXPECT_EQ(HashOf(At(Duration{})), 14'098'415'059'675'736'591U);        // 2026-01-01T00:00:00Z
  EXPECT_EQ(HashOf(At(Milliseconds(500))), 4'534'056'637'851'642'752U);  // ...00.5Z
  EXPECT_EQ(HashOf(*ParseRfc3339("2026-11-21T06:36:59.022661Z")), 1'582'942'791'736'699'424U);
  EXPECT_EQ(HashOf(Timestamp::Min()), 6'935'757'474'513'069'070U);  // a NULL token
}

TEST(SpindleV2TokenTest, OfNoRowIsTheHashOfTheEmptyText) {
  // XXH64 of nothing under seed 0 is a published constant; the takeover row of an absent row bears
  // it (finding S6).
  EXPECT_EQ(kHashOfNoRow, 0xEF46'DB37'51D8'E999U);
}

TEST(SpindleV2TokenTest, NamesTheTakeoverRow) {
  // The decimal form, unsigned, after one underscore: what all pods compete for.
  EXPECT_EQ(TakeoverRowName("job", HashOf(At(Duration{}))), "job_14098415059675736591");
  EXPECT_EQ(TakeoverRowName("job", kHashOfNoRow), "job_17241709254077376921");
  EXPECT_EQ(TakeoverRowName("", 0), "_0");
}

// Searches tell instants by how far they are from now, so what is made of one has to tell when it was.
TEST(SpindleV2TokenTest, OnTheGridIsItsNanoseconds) {
  EXPECT_EQ(NanosecondsOf(At(Milliseconds(500))), 1'767'225'600'500'000'000U);
  const std::string name = TakeoverRowName("job", NanosecondsOf(At(Milliseconds(500))));
  const auto parsed = ParseInstantName(name);
  ASSERT_TRUE(parsed.has_value()) << name;
  EXPECT_EQ(parsed->base, "job");
  EXPECT_EQ(parsed->number, 1'767'225'600'500'000'000U);
  EXPECT_EQ(parsed->more, "");
  EXPECT_TRUE(Constants().hashes_tokens);
  EXPECT_FALSE(GridConstants(Seconds(4)).hashes_tokens);
}

// As in the error of an INSERT: states of a search differ by it as by the row.
TEST(SpindleV2TokenTest, AnInstantIsReadInAMessageToo) {
  const auto parsed =
      ParseInstantName("Row [my_job_1767225600500000000] in table my_table already exists");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->base, "Row [my_job");
  EXPECT_EQ(parsed->number, 1'767'225'600'500'000'000U);
  EXPECT_EQ(parsed->more, "] in table my_table already exists");
}

TEST(SpindleV2TokenTest, OtherTextsAreNoNamesOfInstants) {
  for (const char* text :
       {"", "job", "job_", "job_14098415059675736591", "job-1767225600500000000",
        "job_176722560050000000x", "job_0767225600500000000", "1767225600500000000"}) {
    EXPECT_FALSE(ParseInstantName(text).has_value()) << text;
  }
  EXPECT_TRUE(ParseInstantName("_1767225600500000000").has_value());
}

TEST(SpindleV2TokenTest, HashesGoDownAboutAsOftenAsUp) {
  // Finding S12: a resource that compares what users are handed refuses the rightful leader.
  int down = 0;
  for (int i = 0; i < 1'000; ++i) {
    if (HashOf(At(Seconds(i + 1))) < HashOf(At(Seconds(i)))) ++down;
  }
  EXPECT_GT(down, 400);
  EXPECT_LT(down, 600);
}

TEST(SpindleV2ConfigTest, TheLeaseIsInWholeMillisecondsAndRaisedToOneSecond) {
  // Upstream does not refuse a short lease, whatever its sign: a user who asks for 200 ms gets 1 s
  // and a line in the log. A fraction of its unit cannot have been meant.
  struct Case {
    Duration given;
    Duration used;
    std::string first;  // thing that it does
  };
  for (const Case& c :
       {Case{Milliseconds(200), Seconds(1), "note lease raised to its minimum 200 1000"},
        Case{Seconds(-5), Seconds(1), "note lease raised to its minimum -5000 1000"},
        Case{Seconds(1), Seconds(1), "set tick 1s"},
        Case{Milliseconds(1'001), Milliseconds(1'001), "set tick 1.001s"},
        Case{Microseconds(1'500'500), Milliseconds(1'500), "set tick 1.5s"},
        Case{Seconds(10), Seconds(10), "set tick 10s"}}) {
    Spindle spindle(MakeTestConfig(c.given));
    EXPECT_EQ(spindle.config.lease, c.used);
    EXPECT_EQ(spindle.Starts().front(), c.first);
    EXPECT_EQ(spindle.timers.at(0), ShownAfter(c.used)) << "the rounds' period";
  }
}

TEST(SpindleV2ConfigTest, AnIdThatIsGivenIsKept) {
  // The writer column tells pods apart.
  Spindle named(MakeTestConfig(Seconds(10), "pod-1"));
  named.Starts();
  EXPECT_EQ(named.state.id, "pod-1");
  EXPECT_THAT(named.entropy.draws, IsEmpty());
}

TEST_F(SpindleV2StatementTest, AreReadsOutsideOfTransactionsAndTakeTheirParametersByPosition) {
  // The check must not take locks; that it does not is why two pods can both see a lease expired.
  // And where parameters are positional, a swap would write the writer into the name.
  const auto expect = [&](Mode mode, const std::vector<Value>& parameters) {
    EXPECT_EQ(spindle.InRound().mode, mode);
    EXPECT_EQ(spindle.Parameters(), parameters);
  };
  spindle.Starts();
  expect(Mode::kStrongRead, {"job"});
  spindle.SeesNoRow();
  expect(Mode::kReadWrite, {"job", "a"});
  spindle.Fails(Code::kAlreadyExists);
  expect(Mode::kStrongRead, {"job"});
  spindle.Rereads(At(Duration{}));
  expect(Mode::kReadWrite, {"job_14098415059675736591"});
  spindle.Commits(At(Seconds(1)));
  expect(Mode::kReadWrite, {"job", At(Seconds(1)), "a"});
}

TEST_F(SpindleV2StatementTest, NameTheirParametersAsTheyAreGiven) {
  // The texts go to Spanner as they stand; every name in a text has to have its value.
  const Config config = MakeTestConfig();
  for (const Sql sql :
       {config.check, config.read_token, config.insert_lock, config.insert_takeover,
        config.update_token, config.update_heartbeat, config.delete_takeover_rows}) {
    for (const Parameter& parameter : sql.parameters()) {
      EXPECT_NE(sql.text().find("@" + parameter.name), std::string::npos) << sql.text();
    }
    EXPECT_NE(sql.text().find("locktable"), std::string::npos) << sql.text();
  }
}

TEST_F(SpindleV2StatementTest, OfTheTokenUpdateAndTheHeartbeatHaveNoConditionButTheName) {
  // That they do not compare the token is what S4b and the late heartbeats of S8 live on.
  const Config config = MakeTestConfig();
  const auto condition = [](const Sql& sql) { return sql.text().substr(sql.text().find("WHERE")); };
  EXPECT_EQ(condition(config.update_token), "WHERE name = @name");
  EXPECT_EQ(condition(config.update_heartbeat), "WHERE name = @name");
  EXPECT_EQ(condition(config.delete_takeover_rows), "WHERE STARTS_WITH(name, @prefix)");
}

TEST_F(SpindleV2Test, AsksAtOnceWhenItStarts) {
  // A free lock is taken within a round trip, not after one period.
  spindle.At(Seconds(3));
  EXPECT_THAT(spindle.Starts(), ElementsAre("set tick 13s", "set wake 4s", "run check"));
}

TEST_F(SpindleV2Test, TheWinnerIsToldOnlyOneLeaseLater) {
  // W2's cause: the INSERT makes the token, and leadership is noticed by the next round's check,
  // which waits for a heartbeat before it tells the user: the lease is a whole period old by then.
  const Timestamp token = At(Seconds(1));
  spindle.Starts();
  EXPECT_THAT(spindle.SeesNoRow(), ElementsAre("run first_insert"));
  EXPECT_THAT(spindle.Commits(token), ElementsAre("note got the first lock 2026-01-01T00:00:01Z"));
  EXPECT_EQ(spindle.state.own_token, token) << "the fence is Spanner's own clock";
  EXPECT_TRUE(spindle.RoundIsOver());
  EXPECT_EQ(spindle.state.iterations, 1);
  EXPECT_FALSE(spindle.Believes());
  spindle.Ticks();
  EXPECT_EQ(spindle.now, ShownAfter(Seconds(10)));
  EXPECT_THAT(spindle.Sees(9'990, token), ElementsAre("run heartbeat_update"));
  EXPECT_EQ(spindle.state.runs[0]->leader, 1);
  EXPECT_FALSE(spindle.Believes());
  EXPECT_THAT(spindle.Commits({}), ElementsAre("callback 1"));
  EXPECT_TRUE(spindle.Believes());
  EXPECT_TRUE(spindle.RoundIsOver());
}

TEST_F(SpindleV2RunsTest, ShareTokenIterationsAndId) {
  // They are fields of the instance upstream; what one Run wins the other one holds.
  spindle = Spindle(MakeTestConfig(Seconds(10), ""));
  spindle.Starts();
  const std::string id = spindle.state.id;
  const size_t draws = spindle.entropy.draws.size();
  spindle.Starts();
  EXPECT_EQ(spindle.state.id, id);
  EXPECT_EQ(spindle.entropy.draws.size(), draws) << "drawn once for the instance";
  spindle.SeesNoRow(0);
  spindle.Commits(At(Seconds(1)), 0);
  EXPECT_THAT(spindle.Sees(100, At(Seconds(1)), 1), ElementsAre("run heartbeat_update of run 1"));
  EXPECT_EQ(spindle.state.iterations, 1);
}

TEST_F(SpindleV2RunsTest, EachHasItsOwnInitialAndLeaderCounter) {
  // They are local to Run upstream: a new Run tries the INSERT again, and beats at its first
  // notice.
  spindle.Starts();
  spindle.SeesNoRow(0);
  spindle.Fails(Code::kAlreadyExists, 0);
  spindle.Fails(Code::kInternal, 0);
  EXPECT_FALSE(spindle.state.runs[0]->initial);
  spindle.Starts();
  EXPECT_THAT(spindle.SeesNoRow(1), ElementsAre("run first_insert of run 1"));
}

TEST_F(SpindleV2RunsTest, StopEndsAllThatStillLoop) {
  // A process's context ends once for all that it started under it.
  spindle.Starts();
  spindle.Starts();
  EXPECT_THAT(spindle.Stops(), ElementsAre("cancel tick", "cancel tick of run 1"));
}

TEST_F(SpindleV2RunsTest, AnEndedRunLeavesItsPlaceAndItsIdsFree) {
  // Ids are functions of the state: a process that ran and stopped often is as one that never did.
  for (int i = 0; i < 3; ++i) {
    spindle.Starts();
    spindle.Fails();
    spindle.Stops();
    spindle.Wakes();
    EXPECT_EQ(spindle.state.runs, std::vector<std::optional<RunState>>(1)) << i;
  }
}

TEST_F(SpindleV2RunsTest, ARunLivesUntilItsRoundAndItsHeartbeatsHaveEnded) {
  // A reply that comes for a freed Run would be taken for the next one's.
  spindle.Starts();
  spindle.Stops();
  spindle.Wakes();
  ASSERT_TRUE(spindle.state.runs[0].has_value()) << "its check is still out";
  EXPECT_EQ(spindle.Starts().back(), "run check of run 1");
  spindle.Fails(Code::kInternal, 0);
  EXPECT_FALSE(spindle.state.runs[0].has_value());
}

TEST_F(SpindleV2RunsTest, TheBeliefIsTheLastCallbacksWhicheverRunMadeIt) {
  // An application has one callback for the instance; an old Run's 1 does not outlive a new one's
  // 0.
  Leads(spindle, At(Seconds(1)));
  spindle.Stops();
  spindle.Starts();
  EXPECT_EQ(spindle.Sees(100, At(Seconds(99)), 1).front(), "callback 0");
  EXPECT_FALSE(spindle.Believes());
  spindle.Wakes(0);
  EXPECT_FALSE(spindle.Believes());
}

TEST_F(SpindleV2ValueTest, EffectsAreAppendedToTheCallers) {
  // The buffer is the host's and reused; a step must not clear what is in it.
  std::vector<Effect> out = {LeadershipChanged{.leader = true}};
  Step(spindle.config, spindle.state, {}, spindle.entropy, Started{}, out);
  ASSERT_EQ(out.size(), 4U);
  EXPECT_EQ(out.front(), Effect(LeadershipChanged{.leader = true}));
}

TEST_F(SpindleV2ValueTest, AReplyThatNobodyWaitsForChangesNothing) {
  // A host drops what was cancelled; should something slip through, it must not act.
  Leads(spindle, At(Seconds(1)));
  const State before = spindle.state;
  std::vector<Effect> out;
  for (const Event& event :
       {Event(TransactionEnded{.request = 0}), Event(TransactionEnded{.request = 40}),
        Event(TransactionEnded{.request = kFirstAskRequest + 9}), Event(TimerFired{.timer = 40})}) {
    Step(spindle.config, spindle.state, {}, spindle.entropy, event, out);
  }
  EXPECT_EQ(spindle.state, before);
  EXPECT_THAT(out, IsEmpty());
}

}  // namespace
}  // namespace whorl::spindle_v2::spindle_v2_test
