// What the runner does again, after which pause and for how long: ABORTED and UNAVAILABLE.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/client/transaction_runner.h"
#include "tests/protocol/client/transaction_runner_testing.h"

namespace whorl::transaction_runner_retry_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using RunnerAbortedTest = RunnerFixture;
using RunnerUnavailableTest = RunnerFixture;
using RunnerDeadlineTest = RunnerFixture;

// The upper ends of the draws so far.
std::vector<int64_t> UpperEnds(const ScriptedEntropy& entropy) {
  std::vector<int64_t> ends;
  for (const ScriptedEntropy::Draw& draw : entropy.draws) ends.push_back(draw.hi);
  return ends;
}

// --- ABORTED -----------------------------------------------------------------------------------

TEST_F(RunnerAbortedTest, ACommitThatIsAbortedRunsTheWholeTransactionAgain) {
  // Nothing of the old attempt may be used: what it heard may not be true any more.
  client.Runs(HeartbeatTransaction());
  client.Hears({.transaction = "t1", .result = {.row_count = 1}}).HearsAnswer().HearsAborted();
  EXPECT_THAT(client.state.heard, IsEmpty());
  client.Waits().Hears({.transaction = "t2", .result = {.row_count = 0}}).HearsAnswer();
  EXPECT_THAT(
      client.HearsCommit(At(Seconds(2))).did,
      ElementsAre("UPDATE begin seq=1", "DELETE t1 seq=2", "Commit t1", "wait 20ms",
                  "UPDATE begin after t1 seq=1", "DELETE t2 seq=2", "Commit t2", "committed"));
  ASSERT_EQ(client.Result().results.size(), 2U);
  EXPECT_EQ(client.Result().results[0].row_count, 0) << "of the last attempt";
}

TEST_F(RunnerAbortedTest, AStatementThatIsAbortedRunsTheWholeTransactionAgain) {
  // Seen with an explicit begin only, since an inlined one masks its errors; the next attempt
  // inlines again, because the old one had an id.
  client.Runs(InsertTransaction()).HearsError(Code::kInternal).HearsAnswer("t1");
  EXPECT_THAT(client.HearsAborted().Waits().did,
              ElementsAre("INSERT begin seq=1", "BeginTransaction", "INSERT t1 seq=1", "wait 20ms",
                          "INSERT begin after t1 seq=1"));
}

TEST_F(RunnerAbortedTest, TheNextAttemptInlinesItsBeginAndHandsTheOldIdOn) {
  // So the source of the Go client reads: no BeginTransaction here. The old id gives the
  // new attempt its age, without which wound-wait would starve it.
  client.Runs(InsertTransaction()).HearsAnswer("t1").HearsAborted().Waits();
  EXPECT_EQ(client.did.back(), "INSERT begin after t1 seq=1");
  EXPECT_EQ(client.HearsAnswer("t2").HearsAborted().Waits().did.back(),
            "INSERT begin after t2 seq=1");
}

TEST_F(RunnerAbortedTest, TheOldIdIsKeptOverAMaskedBegin) {
  // The attempt that could not begin has no id of its own to hand on.
  client.Runs(InsertTransaction()).HearsAnswer("t1").HearsAborted().Waits();
  EXPECT_EQ(client.HearsError(Code::kInternal).did.back(), "BeginTransaction after t1");
}

TEST_F(RunnerAbortedTest, AnAbortedBeginTransactionIsFollowedByAnother) {
  // Without an id the Go client begins explicitly again, after a pause.
  client.Runs(InsertTransaction()).HearsError(Code::kInternal).HearsAborted().Waits();
  EXPECT_THAT(client.did, ElementsAre("INSERT begin seq=1", "BeginTransaction", "wait 20ms",
                                      "BeginTransaction"));
}

TEST_F(RunnerAbortedTest, APolicyMayAskForAnExplicitBegin) {
  // The policy is a value: another client library begins in another way.
  RetryPolicy policy = GoRetryPolicy();
  policy.begin_after_aborted = BeginAfterAborted::kExplicit;
  client = Client(policy);
  client.Runs(InsertTransaction()).HearsAnswer("t1").HearsAborted().Waits().HearsAnswer("t2");
  EXPECT_THAT(client.did, ElementsAre("INSERT begin seq=1", "Commit t1", "wait 20ms",
                                      "BeginTransaction after t1", "INSERT t2 seq=1"));
}

TEST_F(RunnerAbortedTest, RetryInfoDecidesThePause) {
  // Spanner knows when the conflict will be over; its word goes before the policy's. The Go client
  // draws its own pause first and then drops it, so that the next one is longer.
  client.Runs(InsertTransaction()).HearsAnswer("t1").HearsAborted(Milliseconds(3));
  EXPECT_EQ(client.did.back(), "wait 3ms");
  EXPECT_EQ(client.Waits().HearsAnswer("t2").HearsAborted().did.back(), "wait 26ms");
}

TEST_F(RunnerAbortedTest, TheBackoffGrowsByThreeTenthsToItsCap) {
  // 20 ms times 1.3 each time, never above 32 s: with full jitter each pause is drawn from [1 ns,
  // that].
  client.Runs(InsertTransaction());
  for (int i = 0; i < 40; ++i) client.HearsAnswer("t").HearsAborted().Waits();
  ASSERT_EQ(client.entropy.draws.size(), 40U);
  EXPECT_EQ(client.entropy.draws[0].hi, 20'000'000);
  EXPECT_EQ(client.entropy.draws[1].hi, 26'000'000);
  EXPECT_EQ(client.entropy.draws[2].hi, 33'800'000);
  EXPECT_EQ(client.entropy.draws[3].hi, 43'940'000);
  EXPECT_EQ(client.entropy.draws[39].hi, 32'000'000'000);
  for (size_t i = 1; i < client.entropy.draws.size(); ++i) {
    const auto grown = static_cast<double>(client.entropy.draws[i - 1].hi) * 1.3;
    EXPECT_NEAR(static_cast<double>(client.entropy.draws[i].hi), std::min(grown, 32e9), 200) << i;
  }
  for (const ScriptedEntropy::Draw& draw : client.entropy.draws) {
    EXPECT_EQ(draw.lo, 1);
    EXPECT_EQ(draw.purpose, purposes::kAbortedBackoff);
  }
}

TEST_F(RunnerAbortedTest, ThePauseIsWhatWasDrawn) {
  // Full jitter: the whole range is used, so that two losers part.
  client.entropy.next = {1, 13'000'000};
  EXPECT_EQ(client.Runs(InsertTransaction()).HearsAnswer("t1").HearsAborted().did.back(),
            "wait 1ns");
  EXPECT_EQ(client.Waits().HearsAnswer("t2").HearsAborted().did.back(), "wait 13ms");
}

TEST_F(RunnerAbortedTest, IsRetriedWithoutEnd) {
  // spindle's contexts have no deadline; only luck ends the loop.
  client.Runs(InsertTransaction());
  for (int i = 0; i < 5'000; ++i) {
    client.HearsAnswer("t").HearsAborted().Waits();
    ASSERT_FALSE(client.IsFinished());
  }
  EXPECT_GT(client.now, LocalInstant{} + Seconds(3'600 * 24));
  EXPECT_EQ(client.HearsAnswer("t").HearsCommit(At(Seconds(1))).did.back(), "committed");
}

TEST_F(RunnerAbortedTest, AResentCommitThatIsAbortedIsRunAgainAsWell) {
  // Commit is idempotent under its id, so ABORTED says that no copy of it did anything.
  client.Runs(InsertTransaction()).HearsAnswer("t1");
  EXPECT_EQ(client.HearsError(Code::kUnavailable).Waits().HearsAborted().Waits().did.back(),
            "INSERT begin after t1 seq=1");
}

TEST_F(RunnerUnavailableTest, ResendsTheSameCall) {
  // A statement that has an id is resent with its sequence number, so that it runs once.
  for (const Code code : {Code::kUnavailable, Code::kResourceExhausted}) {
    client = Client();
    client.Runs(HeartbeatTransaction()).HearsAnswer("t1").HearsError(code).Waits();
    EXPECT_THAT(client.did, ElementsAre("UPDATE begin seq=1", "DELETE t1 seq=2", "wait 250ms",
                                        "DELETE t1 seq=2"));
  }
}

TEST_F(RunnerUnavailableTest, ABeginIsResentAsANewAttempt) {
  // Spanner cannot tell that it began before; the first transaction is left to its idle timeout.
  EXPECT_THAT(client.Runs(InsertTransaction()).HearsError(Code::kUnavailable).Waits().did,
              ElementsAre("INSERT begin seq=1", "wait 250ms", "INSERT begin seq=1"));
  EXPECT_EQ(client.Name(), std::pair(2, 0));
}

TEST_F(RunnerUnavailableTest, ACommitIsResentUnderItsTransactionIdOnly) {
  // A Commit under another id could apply the transaction twice.
  client.Runs(InsertTransaction()).HearsAnswer("t1");
  for (int i = 0; i < 50; ++i) {
    client.HearsError(Code::kUnavailable).Waits();
    ASSERT_EQ(client.did.back(), "Commit t1");
  }
}

TEST_F(RunnerUnavailableTest, ARollbackIsResentToo) {
  // The client waits for it before it returns the error of the body.
  client.Runs(InsertTransaction()).HearsError(Code::kInternal).HearsAnswer("t1");
  client.HearsError(Code::kAlreadyExists).HearsError(Code::kUnavailable).Waits().HearsAnswer();
  EXPECT_THAT(client.did,
              ElementsAre("INSERT begin seq=1", "BeginTransaction", "INSERT t1 seq=1",
                          "Rollback t1", "wait 250ms", "Rollback t1", "aborted ALREADY_EXISTS"));
}

TEST_F(RunnerUnavailableTest, AQueryIsResentSoonerThanTheRest) {
  // A broken stream is taken up after 20 ms, a unary call after 250 ms; both grow by three tenths.
  Client read;
  read.Runs(ReadTransaction());
  Client insert;
  insert.Runs(InsertTransaction());
  for (Client* one : {&read, &insert}) {
    for (int i = 0; i < 3; ++i) one->HearsError(Code::kUnavailable).Waits();
  }
  EXPECT_THAT(UpperEnds(read.entropy), ElementsAre(20'000'000, 26'000'000, 33'800'000));
  EXPECT_THAT(UpperEnds(insert.entropy), ElementsAre(250'000'000, 325'000'000, 422'500'000));
  EXPECT_EQ(insert.entropy.draws[0].lo, 1);
  EXPECT_EQ(insert.entropy.draws[0].purpose, purposes::kCallBackoff);
}

TEST_F(RunnerUnavailableTest, TheBackoffBeginsAnewWithEachCall) {
  // It belongs to the call, not to the transaction.
  client.Runs(HeartbeatTransaction());
  client.HearsError(Code::kUnavailable).Waits().HearsError(Code::kUnavailable).Waits();
  client.HearsAnswer("t2").HearsError(Code::kUnavailable);
  EXPECT_THAT(UpperEnds(client.entropy), ElementsAre(250'000'000, 325'000'000, 250'000'000));
}

// Refuses every call until the one that is out is something else: how long that took.
Duration GivenUpAfter(Client& client) {
  const LocalInstant began = client.now;
  const auto doing = client.state.doing;
  for (int call = 0; call < 10'000; ++call) {
    if (client.IsFinished() || client.state.doing != doing) return client.now - began;
    client.HearsError(Code::kUnavailable).Waits();
  }
  ADD_FAILURE() << "resent without end";
  return {};
}

// A call, after which time it is given up, and what follows.
struct GivenUp {
  const char* call;
  std::vector<Code> heard_before;  // kOk: an answer
  Duration after;
  const char* then;
};

TEST_F(RunnerDeadlineTest, EveryCallIsGivenUpWhenItsTimeIsOverToTheMoment) {
  // The client sleeps out the rest of its timeout and then answers DEADLINE_EXCEEDED: neither
  // earlier, when the next pause would not fit, nor with another copy after it. Any of a Commit's
  // copies may have committed; and a carried begin is masked like any other error.
  using enum Code;
  for (const GivenUp& given_up : std::vector<GivenUp>{
           {"a statement", {kInternal, kOk}, Seconds(30), "Rollback t1"},
           {"a begin that is carried", {}, Seconds(30), "BeginTransaction"},
           {"a BeginTransaction", {kInternal}, Seconds(30), "aborted DEADLINE_EXCEEDED"},
           {"a rollback", {kInternal, kOk, kAlreadyExists}, Seconds(30), "aborted ALREADY_EXISTS"},
           {"a Commit", {kOk}, Seconds(3'600), "unknown DEADLINE_EXCEEDED"}}) {
    SCOPED_TRACE(given_up.call);
    client = Client();
    client.Runs(InsertTransaction());
    for (const Code code : given_up.heard_before) {
      code == kOk ? client.HearsAnswer("t1") : client.HearsError(code);
    }
    EXPECT_EQ(GivenUpAfter(client), given_up.after);
    EXPECT_EQ(client.did.back(), given_up.then);
    if (given_up.then == std::string_view("Rollback t1")) {
      EXPECT_EQ(client.HearsAnswer().did.back(), "aborted DEADLINE_EXCEEDED");
    }
  }
  // A partitioned leader's check hangs that long, and meanwhile no round says callback(0).
  client.Runs(ReadTransaction());
  EXPECT_EQ(GivenUpAfter(client), Seconds(3'600));
  EXPECT_EQ(client.did.back(), "aborted DEADLINE_EXCEEDED");
}

TEST_F(RunnerDeadlineTest, AfterALateWakeUpNothingIsSentAnyMore) {
  // A process that was paused beyond the timeout finds its call timed out.
  client.Runs(InsertTransaction()).HearsError(Code::kInternal).HearsAnswer("t1");
  EXPECT_EQ(client.HearsError(Code::kUnavailable).Later(Seconds(100)).Waits().did.back(),
            "Rollback t1");
}

TEST_F(RunnerDeadlineTest, AReplyThatComesAfterTheTimeoutIsNotResent) {
  // The pause that is left is none; time does not run backwards.
  client.Runs(ReadTransaction()).Later(Seconds(3'601)).HearsError(Code::kUnavailable);
  EXPECT_EQ(client.did.back(), "wait 0s");
  EXPECT_EQ(client.Waits().did.back(), "aborted DEADLINE_EXCEEDED");
}

TEST_F(RunnerDeadlineTest, ATransportsOwnDeadlineIsNotResent) {
  // A black-holed call that the transport ended has used its time up.
  EXPECT_THAT(client.Runs(ReadTransaction()).HearsError(Code::kDeadlineExceeded).did,
              ElementsAre("SELECT single seq=1", "aborted DEADLINE_EXCEEDED"));
}

TEST_F(RunnerDeadlineTest, TheDeletesTimeoutAfterAnAbortedUpdateRunsAllAgain) {
  // The clean-up's own failure is ignored even here; the UPDATE's ABORTED decides.
  client.Runs(HeartbeatTransaction()).HearsError(Code::kInternal).HearsAnswer("t1");
  client.HearsAborted();
  while (client.did.back() == "DELETE t1 seq=2") client.HearsError(Code::kUnavailable).Waits();
  EXPECT_EQ(client.did.back(), "wait 20ms");
  EXPECT_EQ(client.Waits().did.back(), "UPDATE begin after t1 seq=1");
}

TEST(RunnerPolicyTest, GosIsWhatWasReadInItsSources) {
  // Each number here is time that a caller waits, so it must not change by accident.
  const RetryPolicy policy = GoRetryPolicy();
  const Backoff stream{.initial = Milliseconds(20), .growth_percent = 130, .max = Seconds(32)};
  EXPECT_EQ(policy.aborted, stream);
  EXPECT_EQ(policy.query, stream);
  EXPECT_EQ(policy.unary,
            (Backoff{.initial = Milliseconds(250), .growth_percent = 130, .max = Seconds(32)}));
  EXPECT_EQ(policy.statement_timeout, Seconds(30));
  EXPECT_EQ(policy.query_timeout, Seconds(3'600));
  EXPECT_EQ(policy.commit_timeout, Seconds(3'600));
  EXPECT_EQ(policy.begin_after_aborted, BeginAfterAborted::kInlined);
}

TEST_F(RunnerUnavailableTest, ThePauseThatSpannerAsksForIsTaken) {
  // A server that is overloaded says how long it needs; still not beyond the call's timeout.
  client.Runs(InsertTransaction()).HearsAnswer("t1");
  const auto asks_for = [](Duration pause) {
    return Response{.status = {.code = Code::kResourceExhausted, .retry_after = pause}};
  };
  EXPECT_EQ(client.Hears(asks_for(Seconds(7))).did.back(), "wait 7s");
  EXPECT_EQ(client.Waits().Hears(asks_for(Seconds(36'000))).did.back(),
            "wait " + FormatDuration(Seconds(3600 - 7)));
}

}  // namespace
}  // namespace whorl::transaction_runner_retry_test
