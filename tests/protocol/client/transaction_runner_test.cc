// The calls of a transaction: which are sent, in which order, under which ids, and how it ends.
// Retries have a file of their own.
#include "protocol/client/transaction_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "protocol/spindle_v2/words.h"
#include "tests/protocol/client/transaction_runner_testing.h"

namespace whorl::transaction_runner_test {
namespace {

using testing::ElementsAre;

using RunnerReadTest = RunnerFixture;
using RunnerTest = RunnerFixture;
using RunnerBeginTest = RunnerFixture;
using RunnerHeartbeatTest = RunnerFixture;
using RunnerRollbackTest = RunnerFixture;
using RunnerOutcomeTest = RunnerFixture;

// --- reads -------------------------------------------------------------------------------------

TEST_F(RunnerReadTest, IsOneSingleUseCall) {
  // A read holds no lock and needs no commit: spindle asks this way once per round and question.
  client.Runs(ReadTransaction());
  client.Hears({.result = {.rows = {{7}}}});
  EXPECT_THAT(client.did, ElementsAre("SELECT single seq=1", "committed"));
  ASSERT_EQ(client.Result().results.size(), 1U);
  EXPECT_EQ(client.Result().results[0].rows, (std::vector<Row>{{7}}));
}

TEST_F(RunnerReadTest, ThatFailsEndsWithItsErrorAndNoRollback) {
  // There is nothing to roll back, and spindle looks at the error.
  client.Runs(ReadTransaction()).HearsError(Code::kInvalidArgument, "no such table");
  EXPECT_THAT(client.did, ElementsAre("SELECT single seq=1", "aborted INVALID_ARGUMENT"));
  EXPECT_EQ(client.Result().status.message, "no such table");
}

TEST_F(RunnerReadTest, ThatIsAbortedIsNotRetried) {
  // Only a read-write transaction is run again; a read outside of one ends with what it heard.
  EXPECT_THAT(client.Runs(ReadTransaction()).HearsAborted().did,
              ElementsAre("SELECT single seq=1", "aborted ABORTED"));
}

TEST_F(RunnerTest, TheFirstStatementCarriesTheBegin) {
  // One round trip less than an explicit begin: an INSERT costs two calls.
  client.Runs(InsertTransaction()).HearsAnswer("t1").HearsCommit(At(Seconds(1)));
  EXPECT_THAT(client.did, ElementsAre("INSERT begin seq=1", "Commit t1", "committed"));
  EXPECT_EQ(client.Result().commit_timestamp, At(Seconds(1)));
}

TEST_F(RunnerTest, LaterStatementsUseTheIdAndTheNextSequenceNumber) {
  // Spanner answers a repeated sequence number from memory; two statements with one number would
  // run once.
  client.Runs(HeartbeatTransaction());
  EXPECT_THAT(client.HearsAnswer("t1").HearsAnswer().HearsCommit(At(Seconds(1))).did,
              ElementsAre("UPDATE begin seq=1", "DELETE t1 seq=2", "Commit t1", "committed"));
  EXPECT_EQ(client.Result().results.size(), 2U);
}

TEST_F(RunnerTest, CallsAreNamedByAttemptAndCall) {
  // A call's name is a function of the state; the same state must send the same name.
  client.Runs(HeartbeatTransaction());
  EXPECT_EQ(client.Name(), std::pair(1, 0));
  client.HearsAnswer("t1");
  EXPECT_EQ(client.Name(), std::pair(1, 1));
  client.HearsAnswer();
  EXPECT_EQ(client.Name(), std::pair(1, 2));
  client.HearsAborted().Waits();
  EXPECT_EQ(client.Name(), std::pair(2, 0));
}

TEST_F(RunnerTest, NoTwoCallsOfATransactionHaveOneName) {
  // The world finds a call by its name, and Spanner makes a transaction's id of it.
  client.Runs(HeartbeatTransaction());
  std::vector<std::pair<int, int>> names = {client.Name()};
  const auto note = [&] { names.push_back(client.Name()); };
  client.HearsError(Code::kUnavailable).Waits();  // the first may have begun
  note();
  client.HearsError(Code::kInternal);  // BeginTransaction
  note();
  client.HearsAnswer("t3");
  note();
  client.HearsAnswer();
  note();
  client.HearsError(Code::kUnavailable).Waits();  // the DELETE again
  note();
  client.HearsAnswer();
  note();
  client.HearsError(Code::kUnavailable).Waits();  // the Commit again
  note();
  client.HearsAborted().Waits();
  note();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST_F(RunnerTest, AStepBelongsToItsStatementAndTheRestToTheTransaction) {
  // Faults are declared on steps: "between INSERT and UPDATE", "at the commit of heartbeat_update".
  client.Runs(HeartbeatTransaction());
  EXPECT_EQ(client.Sent().step, spindle_v2::steps::kHeartbeatUpdate);
  client.HearsAnswer("t1");
  EXPECT_EQ(client.Sent().step, spindle_v2::steps::kHeartbeatDelete);
  client.HearsAnswer();
  EXPECT_EQ(client.Sent().step, spindle_v2::steps::kHeartbeatUpdate);
}

TEST_F(RunnerTest, TheCallsDeadlineIsItsKindsTimeoutFromItsFirstSend) {
  // A black-holed DML call is given up after 30 s, a query or a Commit only after an hour: how
  // long a partitioned leader hangs depends on it.
  Client read;
  read.Runs(ReadTransaction());
  EXPECT_EQ(read.Sent().deadline, read.now + Seconds(3'600));
  Client insert;
  insert.Runs(InsertTransaction());
  EXPECT_EQ(insert.Sent().deadline, insert.now + Seconds(30));
  insert.Later(Seconds(5)).HearsAnswer("t1");
  EXPECT_EQ(insert.Sent().deadline, insert.now + Seconds(3'600));
  Client loser;
  loser.Runs(InsertTransaction()).HearsError(Code::kAlreadyExists);
  EXPECT_EQ(loser.Sent().deadline, loser.now + Seconds(30));
  loser.Later(Seconds(1)).HearsAnswer("t1");
  EXPECT_EQ(loser.Sent().deadline, loser.now + Seconds(30));
  loser.Later(Seconds(1)).HearsError(Code::kAlreadyExists);
  EXPECT_EQ(loser.Sent().deadline, loser.now + Seconds(30));
}

TEST_F(RunnerBeginTest, TheLosingInsertCostsFourCalls) {
  // What upstream's losers do to Spanner in every INSERT race.
  client.Runs(InsertTransaction());
  client.HearsError(Code::kAlreadyExists, "Row [job] in table locktable already exists");
  client.HearsAnswer("t1");
  client.HearsError(Code::kAlreadyExists, "Row [job] in table locktable already exists");
  EXPECT_THAT(client.HearsAnswer().did,
              ElementsAre("INSERT begin seq=1", "BeginTransaction", "INSERT t1 seq=1",
                          "Rollback t1", "aborted ALREADY_EXISTS"));
  EXPECT_EQ(client.Result().status.message, "Row [job] in table locktable already exists");
}

TEST_F(RunnerBeginTest, AnyErrorOfAStatementThatCarriesTheBeginIsMasked) {
  // The Go client takes each of them, ABORTED too, for "could not begin": once more, at once, with
  // a BeginTransaction of its own.
  for (const Code code :
       {Code::kAborted, Code::kAlreadyExists, Code::kInvalidArgument, Code::kDeadlineExceeded,
        Code::kInternal, Code::kUnknown, Code::kCancelled, Code::kPermissionDenied}) {
    client = Client();
    EXPECT_THAT(client.Runs(InsertTransaction()).HearsError(code).did,
                ElementsAre("INSERT begin seq=1", "BeginTransaction"))
        << WordOf(code);
    EXPECT_THAT(client.entropy.draws, testing::IsEmpty()) << "at once, without a backoff";
  }
}

TEST_F(RunnerBeginTest, AnAnswerWithoutAnIdIsMaskedToo) {
  // Without an id there is nothing to commit, however well the statement went.
  client.Runs(InsertTransaction()).HearsAnswer("").HearsAnswer("t1").HearsAnswer();
  EXPECT_THAT(client.did, ElementsAre("INSERT begin seq=1", "BeginTransaction", "INSERT t1 seq=1",
                                      "Commit t1"));
}

TEST_F(RunnerBeginTest, AnExplicitBeginThatFailsEndsTheTransaction) {
  // Nothing was begun that could be rolled back.
  client.Runs(InsertTransaction()).HearsError(Code::kInternal);
  EXPECT_THAT(client.HearsError(Code::kPermissionDenied, "no").did,
              ElementsAre("INSERT begin seq=1", "BeginTransaction", "aborted PERMISSION_DENIED"));
}

TEST_F(RunnerBeginTest, AnExplicitBeginWithoutAnIdEndsTheTransaction) {
  // A server that is broken in this way must not make a client commit the empty id.
  client.Runs(InsertTransaction()).HearsError(Code::kInternal).HearsAnswer("");
  EXPECT_THAT(client.did, ElementsAre("INSERT begin seq=1", "BeginTransaction", "aborted UNKNOWN"));
}

TEST_F(RunnerHeartbeatTest, TheDeleteIsSentAfterAFailedUpdateAndThenAllIsRolledBack) {
  // The closure of spindle's heartbeat cleans up before it returns the UPDATE's error.
  client.Runs(HeartbeatTransaction()).HearsError(Code::kInternal).HearsAnswer("t1");
  client.HearsError(Code::kFailedPrecondition, "of the UPDATE").HearsAnswer().HearsAnswer();
  EXPECT_THAT(client.did,
              ElementsAre("UPDATE begin seq=1", "BeginTransaction", "UPDATE t1 seq=1",
                          "DELETE t1 seq=2", "Rollback t1", "aborted FAILED_PRECONDITION"));
  EXPECT_EQ(client.Result().status.message, "of the UPDATE");
}

TEST_F(RunnerHeartbeatTest, TheDeletesErrorIsIgnored) {
  // Where a pending commit timestamp blocks the whole table the DELETE always fails, and the
  // heartbeat has to commit all the same.
  client.Runs(HeartbeatTransaction()).HearsAnswer("t1");
  EXPECT_THAT(client.HearsError(Code::kInvalidArgument).HearsCommit(At(Seconds(1))).did,
              ElementsAre("UPDATE begin seq=1", "DELETE t1 seq=2", "Commit t1", "committed"));
}

TEST_F(RunnerHeartbeatTest, AnAbortedDeleteIsIgnoredUntilTheCommitIsAborted) {
  // The closure does not see it, so the client first tries to commit a dead transaction.
  client.Runs(HeartbeatTransaction()).HearsAnswer("t1").HearsAborted().HearsAborted().Waits();
  EXPECT_THAT(client.did, ElementsAre("UPDATE begin seq=1", "DELETE t1 seq=2", "Commit t1",
                                      "wait 20ms", "UPDATE begin after t1 seq=1"));
}

TEST_F(RunnerHeartbeatTest, AnAbortedUpdateStillSendsTheDeleteAndIsThenRetriedWithoutRollback) {
  // Spanner has rolled an ABORTED transaction back by itself.
  client.Runs(HeartbeatTransaction()).HearsError(Code::kInternal).HearsAnswer("t1");
  client.HearsAborted(Milliseconds(5)).HearsAborted(Milliseconds(70)).Waits();
  EXPECT_THAT(client.did,
              ElementsAre("UPDATE begin seq=1", "BeginTransaction", "UPDATE t1 seq=1",
                          "DELETE t1 seq=2", "wait 5ms", "UPDATE begin after t1 seq=1"));
}

TEST_F(RunnerRollbackTest, HoweverItGoesTheTransactionHadNoEffect) {
  // The lock is not held for a lost Rollback, and the error of the body is what matters. Without a
  // Commit nothing can have become visible, so the outcome is never unknown.
  for (const Code code : {Code::kDeadlineExceeded, Code::kCancelled, Code::kInternal}) {
    client = Client();
    client.Runs(InsertTransaction()).HearsError(code).HearsAnswer("t1");
    client.HearsError(Code::kAlreadyExists).HearsError(code);
    EXPECT_EQ(client.Result().outcome, Outcome::kAborted) << WordOf(code);
    EXPECT_EQ(client.Result().status.code, Code::kAlreadyExists) << WordOf(code);
    client.Runs(InsertTransaction()).HearsError(code).HearsAnswer("t1");
    EXPECT_EQ(client.HearsError(code).HearsError(code).Result().outcome, Outcome::kAborted);
  }
}

TEST_F(RunnerOutcomeTest, IsUnknownExactlyWhenACommitsAnswerLeavesItOpen) {
  // A protocol may take back a belief on kAborted, and must read back on kUnknown.
  struct Case {
    Code code;
    Outcome outcome;
  };
  for (const Case& c : {Case{Code::kAlreadyExists, Outcome::kAborted},
                        {Code::kFailedPrecondition, Outcome::kAborted},
                        {Code::kInvalidArgument, Outcome::kAborted},
                        {Code::kNotFound, Outcome::kAborted},
                        {Code::kOutOfRange, Outcome::kAborted},
                        {Code::kDeadlineExceeded, Outcome::kUnknown},
                        {Code::kCancelled, Outcome::kUnknown},
                        {Code::kUnknown, Outcome::kUnknown},
                        {Code::kInternal, Outcome::kUnknown},
                        {Code::kDataLoss, Outcome::kUnknown}}) {
    client = Client();
    client.Runs(InsertTransaction()).HearsAnswer("t1").HearsError(c.code);
    ASSERT_TRUE(client.IsFinished()) << "no Rollback after a Commit: " << WordOf(c.code);
    EXPECT_EQ(client.Result().outcome, c.outcome) << WordOf(c.code);
    EXPECT_EQ(client.Result().status.code, c.code);
  }
}

TEST_F(RunnerOutcomeTest, IsUnknownWhenOnlyAResentCommitWasAnsweredWithAnError) {
  // The first copy may have committed; "transaction not found" then says that it is over, not how.
  for (const Code code : {Code::kNotFound, Code::kFailedPrecondition, Code::kAlreadyExists}) {
    client = Client();
    client.Runs(InsertTransaction()).HearsAnswer("t1");
    client.HearsError(Code::kUnavailable).Waits().HearsError(code);
    EXPECT_EQ(client.Result().outcome, Outcome::kUnknown) << WordOf(code);
  }
}

TEST_F(RunnerOutcomeTest, IsKnownWhenTheResentCommitIsAnswered) {
  // Commit is idempotent under its transaction id: the answer is the first copy's.
  client.Runs(InsertTransaction()).HearsAnswer("t1");
  client.HearsError(Code::kUnavailable).Waits().HearsCommit(At(Seconds(1)));
  EXPECT_EQ(client.Result().outcome, Outcome::kCommitted);
  EXPECT_EQ(client.Result().commit_timestamp, At(Seconds(1)));
}

TEST_F(RunnerTest, StartingAnewForgetsTheLastTransaction) {
  // A runner is reused for every transaction of a request id.
  client.Runs(InsertTransaction()).HearsAnswer("t1").HearsAborted().Waits();
  client.did.clear();
  EXPECT_THAT(client.Runs(InsertTransaction()).did, ElementsAre("INSERT begin seq=1"));
  EXPECT_EQ(client.Name(), std::pair(1, 0));
}

}  // namespace
}  // namespace whorl::transaction_runner_test
