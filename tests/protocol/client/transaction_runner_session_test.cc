// What a session adds to a transaction: which one its calls carry, what follows when Spanner does
// not know it any more, precommit tokens, and mutations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/client/transaction_runner.h"
#include "protocol/spindle_v2/words.h"
#include "tests/protocol/client/transaction_runner_testing.h"

namespace whorl::transaction_runner_session_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using RunnerSessionTest = RunnerFixture;
using RunnerSessionLostTest = RunnerFixture;
using RunnerPrecommitTest = RunnerFixture;
using RunnerMutationTest = RunnerFixture;
using RunnerLockModeTest = RunnerFixture;
using RunnerCancelTest = RunnerFixture;

Mutation Writes(MutationKind kind, std::string table, size_t rows = 1) {
  return {.kind = kind, .table = std::move(table), .rows = std::vector<Row>(rows)};
}

Transaction MutationsAlone() {
  return {.step = spindle_v2::steps::kCheck,
          .mode = Mode::kReadWrite,
          .mutations = {Writes(MutationKind::kInsert, "a"), Writes(MutationKind::kUpdate, "b")}};
}

// --- the session -------------------------------------------------------------------------------

TEST_F(RunnerSessionTest, IsAskedForFirstAndCarriedByEveryCall) {
  // Spanner finds the transaction by its session; a call under another one is refused.
  client.RunsWithoutSession(HeartbeatTransaction()).Gets("s1", /*multiplexed=*/true);
  EXPECT_THAT(client.HearsAnswer("t1").HearsAnswer().HearsCommit(At(Seconds(1))).did,
              ElementsAre("need session", "s1: UPDATE begin seq=1", "s1: DELETE t1 seq=2",
                          "s1: Commit t1", "committed"));
}

TEST_F(RunnerSessionTest, ThatCannotBeHadEndsTheTransactionWithoutEffect) {
  // Nothing was sent, so nothing can have happened.
  client.RunsWithoutSession(InsertTransaction()).GetsNone(Code::kPermissionDenied);
  EXPECT_THAT(client.did, ElementsAre("need session", "aborted PERMISSION_DENIED"));
}

TEST_F(RunnerSessionTest, OnARegularOneTheAgeIsNotHandedOn) {
  // Spanner knows the age of a regular session's transactions, and takes no id of another one.
  Client regular;
  regular.RunsWithoutSession(InsertTransaction()).Gets("s1", /*multiplexed=*/false);
  EXPECT_EQ(regular.HearsAnswer("t1").HearsAborted().Waits().did.back(), "s1: INSERT begin seq=1");
  Client multiplexed;
  multiplexed.RunsWithoutSession(InsertTransaction()).Gets("s1", /*multiplexed=*/true);
  EXPECT_EQ(multiplexed.HearsAnswer("t1").HearsAborted().Waits().did.back(),
            "s1: INSERT begin after t1 seq=1");
}

TEST_F(RunnerSessionLostTest, OfAReadTheReadIsSentAgainAtOnce) {
  // A process that slept for an hour wakes up with a session that Spanner has deleted.
  client.RunsWithoutSession(ReadTransaction()).Gets("s1", true).HearsSessionNotFound();
  EXPECT_TRUE(client.state.session_lost);
  client.Gets("s2", true).HearsAnswer();
  EXPECT_FALSE(client.state.session_lost);
  EXPECT_THAT(client.did, ElementsAre("need session", "s1: SELECT single seq=1", "need session",
                                      "s2: SELECT single seq=1", "committed"));
}

TEST_F(RunnerSessionLostTest, AtTheFirstStatementTheTransactionBeginsExplicitlyOnAnother) {
  // An attempt that got no id is followed by BeginTransaction, as after ABORTED; Go's client also
  // sends one on the session that is gone.
  client.RunsWithoutSession(InsertTransaction()).Gets("s1", true).HearsSessionNotFound();
  client.Gets("s2", true).HearsAnswer("t2").HearsAnswer().HearsCommit(At(Seconds(1)));
  EXPECT_THAT(client.did, ElementsAre("need session", "s1: INSERT begin seq=1", "need session",
                                      "s2: BeginTransaction", "s2: INSERT t2 seq=1",
                                      "s2: Commit t2", "committed"));
}

TEST_F(RunnerSessionLostTest, BetweenStatementsNothingOfTheAttemptIsKept) {
  // Its transaction went with the session, and so did its age.
  client.RunsWithoutSession(HeartbeatTransaction()).Gets("s1", true);
  client.Hears({.transaction = "t1", .result = {.row_count = 1}}).HearsSessionNotFound();
  EXPECT_THAT(client.state.heard, IsEmpty());
  EXPECT_EQ(client.Gets("s2", true).did.back(), "s2: UPDATE begin seq=1");
}

TEST_F(RunnerSessionLostTest, AtAStatementWhoseErrorsAreIgnoredTheTransactionStillRunsAgain) {
  // To ignore this one would commit a transaction that does not exist.
  client.RunsWithoutSession(HeartbeatTransaction()).Gets("s1", true);
  EXPECT_EQ(client.HearsAnswer("t1").HearsSessionNotFound().did.back(), "need session");
}

TEST_F(RunnerSessionLostTest, AtTheFirstCommitTheTransactionRunsAgain) {
  // Spanner did not know the session, so it did not commit.
  client.RunsWithoutSession(InsertTransaction()).Gets("s1", true);
  client.HearsAnswer("t1").HearsSessionNotFound();
  EXPECT_THAT(client.Gets("s2", true).HearsAnswer("t2").HearsCommit(At(Seconds(1))).did,
              ElementsAre("need session", "s1: INSERT begin seq=1", "s1: Commit t1", "need session",
                          "s2: INSERT begin seq=1", "s2: Commit t2", "committed"));
}

TEST_F(RunnerSessionLostTest, AtAResentCommitTheOutcomeIsUnknown) {
  // The first copy may have committed before the session went. To run the transaction again would
  // do its work twice.
  client.RunsWithoutSession(InsertTransaction()).Gets("s1", true);
  client.HearsAnswer("t1").HearsError(Code::kUnavailable).Waits().HearsSessionNotFound();
  EXPECT_EQ(client.did.back(), "unknown NOT_FOUND");
  EXPECT_TRUE(client.state.session_lost) << "the host may not hand it out again";
}

TEST_F(RunnerSessionLostTest, AtTheRollbackTheTransactionEndsWithItsOwnError) {
  // What was to be undone went with the session.
  client.RunsWithoutSession(InsertTransaction()).Gets("s1", true);
  client.HearsError(Code::kAlreadyExists).HearsAnswer("t1");
  EXPECT_EQ(client.HearsError(Code::kAlreadyExists).HearsSessionNotFound().did.back(),
            "aborted ALREADY_EXISTS");
  EXPECT_TRUE(client.state.session_lost);
}

TEST_F(RunnerSessionLostTest, IsToldFromOtherThingsThatWereNotFound) {
  // A missing table is the caller's mistake, and no session would find it.
  client.RunsWithoutSession(ReadTransaction()).Gets("s1", true);
  EXPECT_EQ(client.HearsError(Code::kNotFound, "Table not found: locktable").did.back(),
            "aborted NOT_FOUND");
  EXPECT_FALSE(client.state.session_lost);
  EXPECT_FALSE(IsSessionNotFound(Error(Code::kInternal, "Session not found: s1")));
}

TEST_F(RunnerPrecommitTest, TheTokenOfTheGreatestSequenceGoesWithCommit) {
  // Replies may overtake each other; an old token would make Spanner refuse the Commit.
  client.RunsWithoutSession(HeartbeatTransaction()).Gets("s1", true);
  EXPECT_EQ(client.HearsToken("new", 7, "t1").HearsToken("old", 6).did.back(),
            "s1: Commit t1 token=new");
}

TEST_F(RunnerPrecommitTest, ANewAttemptForgetsTheToken) {
  // It was made for another transaction.
  client.RunsWithoutSession(InsertTransaction()).Gets("s1", true);
  client.HearsToken("a", 7, "t1").HearsAborted().Waits().HearsToken("b", 1, "t2");
  EXPECT_EQ(client.did.back(), "s1: Commit t2 token=b");
}

TEST_F(RunnerPrecommitTest, ACommitAnsweredByATokenHasNotCommittedAndIsSentOnceMore) {
  // Taken for success, it would lose the write. Spanner has kept the mutations.
  client.RunsWithoutSession(MutationsAlone()).Gets("s1", true).HearsToken("a", 1, "t1");
  EXPECT_THAT(client.HearsToken("b", 2).HearsCommit(At(Seconds(2))).did,
              ElementsAre("need session", "s1: BeginTransaction key=b",
                          "s1: Commit t1 +a +b token=a", "s1: Commit t1 token=b", "committed"));
  EXPECT_EQ(client.Result().commit_timestamp, At(Seconds(2)));
}

TEST_F(RunnerPrecommitTest, TheCommitThatConfirmsIsAFirstCopyAgain) {
  // Its certain errors are certain: the Commit before it said itself that it did not commit.
  client.RunsWithoutSession(InsertTransaction()).Gets("s1", true).HearsAnswer("t1");
  client.HearsError(Code::kUnavailable).Waits().HearsToken("b", 2);
  EXPECT_EQ(client.HearsError(Code::kAlreadyExists).did.back(), "aborted ALREADY_EXISTS");
}

TEST_F(RunnerPrecommitTest, ASecondTokenEndsUnknownRatherThanInALoop) {
  // One more Commit is what Spanner asks for; a server that asks for ever must not be obeyed.
  client.RunsWithoutSession(InsertTransaction()).Gets("s1", true).HearsAnswer("t1");
  EXPECT_EQ(client.HearsToken("b", 2).HearsToken("c", 3).did.back(), "unknown INTERNAL");
}

TEST_F(RunnerMutationTest, AloneTheyAreBegunExplicitly) {
  // There is no statement to carry the begin. A regular session needs no mutation key.
  client.RunsWithoutSession(MutationsAlone()).Gets("s1", false);
  EXPECT_THAT(
      client.HearsAnswer("t1").HearsCommit(At(Seconds(1))).did,
      ElementsAre("need session", "s1: BeginTransaction", "s1: Commit t1 +a +b", "committed"));
}

TEST_F(RunnerMutationTest, AloneTheyAreBegunExplicitlyAfterAbortedToo) {
  // Nothing could carry the begin the second time either.
  EXPECT_THAT(
      client.Runs(MutationsAlone()).HearsAnswer("t1").HearsAborted().Waits().did,
      ElementsAre("BeginTransaction", "Commit t1 +a +b", "wait 20ms", "BeginTransaction after t1"));
}

TEST_F(RunnerMutationTest, TheKeyIsTheLargestInsertWhereAllAreInserts) {
  // It finds the participant that coordinates; an insert names no row that is there already.
  Transaction inserts = MutationsAlone();
  inserts.mutations = {Writes(MutationKind::kInsert, "a"), Writes(MutationKind::kInsert, "b", 2)};
  EXPECT_EQ(client.RunsWithoutSession(inserts).Gets("s1", true).did.back(),
            "s1: BeginTransaction key=b");
}

TEST_F(RunnerMutationTest, WithStatementsTheyGoWithTheCommit) {
  // Statements do not see them; a retried Commit carries them again.
  Transaction both = InsertTransaction();
  both.mutations = {Writes(MutationKind::kDelete, "a")};
  client.Runs(both).HearsAnswer("t1").HearsError(Code::kUnavailable).Waits();
  EXPECT_THAT(client.did,
              ElementsAre("INSERT begin seq=1", "Commit t1 +a", "wait 250ms", "Commit t1 +a"));
}

TEST_F(RunnerLockModeTest, IsSaidByEveryBegin) {
  // A retry that locked where the first attempt did not would behave in another way.
  Transaction optimistic = InsertTransaction();
  optimistic.lock_mode = LockMode::kOptimistic;
  client.Runs(optimistic).HearsError(Code::kInternal).HearsAnswer("t1").HearsAborted().Waits();
  EXPECT_THAT(client.did, ElementsAre("INSERT begin optimistic seq=1",
                                      "BeginTransaction optimistic", "INSERT t1 seq=1", "wait 20ms",
                                      "INSERT begin optimistic after t1 seq=1"));
}

TEST_F(RunnerCancelTest, BeforeTheBeginIsHeardEndsWithoutEffect) {
  // There is no id to roll back; nothing was committed.
  EXPECT_EQ(client.Runs(InsertTransaction()).IsCancelled().did.back(), "aborted CANCELLED");
}

TEST_F(RunnerCancelTest, OfAnOpenTransactionRollsItBack) {
  // Its locks would stand in the way of others until Spanner finds it idle.
  EXPECT_EQ(client.Runs(HeartbeatTransaction()).HearsAnswer("t1").IsCancelled().did.back(),
            "Rollback t1");
  EXPECT_EQ(client.HearsAnswer().did.back(), "aborted CANCELLED");
}

TEST_F(RunnerCancelTest, OfACommitIsUnknown) {
  // Spanner may have it already; also between two copies of it.
  Client sent;
  EXPECT_EQ(sent.Runs(InsertTransaction()).HearsAnswer("t1").IsCancelled().did.back(),
            "unknown CANCELLED");
  Client waiting;
  waiting.Runs(InsertTransaction()).HearsAnswer("t1").HearsError(Code::kUnavailable).IsCancelled();
  EXPECT_EQ(waiting.did.back(), "unknown CANCELLED");
}

TEST_F(RunnerCancelTest, InTheWayOfARollbackChangesNothing) {
  // It is what a cancellation would do.
  client.Runs(HeartbeatTransaction()).HearsAnswer("t1").IsCancelled();
  EXPECT_EQ(OnCancelled(GoRetryPolicy(), client.state, client.now, Error(Code::kCancelled, "")),
            std::nullopt);
}

TEST_F(RunnerCancelTest, InAPauseAfterAbortedEndsWithoutEffect) {
  // The old attempt is over, and the next one has not begun.
  client.Runs(InsertTransaction()).HearsAnswer("t1").HearsAborted().IsCancelled();
  EXPECT_EQ(client.did.back(), "aborted CANCELLED");
}

}  // namespace
}  // namespace whorl::transaction_runner_session_test
