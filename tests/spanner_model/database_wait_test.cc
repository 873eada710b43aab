// Waiting calls in the database: the order in which they are woken, waiting calls that are sent
// again, and lock holders whose client is gone.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "tests/spanner_model/database_testing.h"

namespace whorl::model::database_wait_test {
namespace {

using DatabaseWait = DatabaseTest;

// --- waiting and waking --------------------------------------------------------------------------

TEST_F(DatabaseWait, WaitersAreWokenInTheOrderOfTheirAgeNotOfTheirArrival) {
  // A transaction that has waited through retries comes first. Begun as 0, 1, 2, by age 2, 0, 1.
  LoadLock(spanner, "job");
  std::vector<Attempt> waiters;
  for (int i = 0; i < 3; ++i) waiters.push_back(spanner.NewClient().Begin());
  for (const size_t i : {2U, 0U, 1U}) {
    waiters[i].Run(SetWriter("job", "w"));
    spanner.Advance(Milliseconds(1));
  }
  Attempt holder = spanner.SendsCommitOf(SetWriter("job", "h"));
  for (const size_t i : {1U, 0U, 2U}) waiters[i].WaitsToCommit();
  spanner.CompleteCommit(holder.id);
  for (const size_t i : {2U, 0U, 1U}) {
    EXPECT_TRUE(spanner.IsCommitting(waiters[i].id)) << i;
    spanner.CompleteCommit(waiters[i].id);
  }
  spanner.ExpectEveryCallAnsweredOnce();
}

TEST_F(DatabaseWait, AWaitingOlderCommitIsNotStarvedByNewReaders) {
  // Readers that come one after the other would keep the row locked for ever.
  ThreeInARow three(spanner);
  three.reader.Commit();
  EXPECT_TRUE(spanner.IsCommitting(three.writer.id));
  EXPECT_TRUE(spanner.Waits(three.read));
  spanner.CompleteCommit(three.writer.id);
  EXPECT_EQ(spanner.AnswerTo(three.read).result.rows, Rows({{"a"}}));
}

TEST_F(DatabaseWait, AnOlderReaderPassesAWaitingYoungerCommit) {
  // The elder would wait for a transaction that waits for it, which wound-wait forbids.
  LoadLock(spanner, "job");
  LoadLock(spanner, "other");
  Attempt oldest = spanner.Runs(ReadWriter("other"));
  Attempt reader = spanner.RunsLater(ReadWriter("job"));
  Attempt writer = spanner.RunsLater(SetWriter("job", "a"));
  writer.WaitsToCommit();
  EXPECT_EQ(oldest.Run(ReadWriter("job")).result.rows, Rows({{"nobody"}}));
}

TEST_F(DatabaseWait, AFirstStatementMayWaitAndBeginsWhenItIsWoken) {
  // It holds no lock while it waits, and its id comes with the answer.
  LoadLock(spanner, "job");
  Attempt writer = spanner.SendsCommitOf(SetWriter("job", "a"));
  const CallName first = spanner.NewClient().SendFirst(ReadWriter("job"));
  EXPECT_TRUE(spanner.Waits(first));
  spanner.CompleteCommit(writer.id);
  const Response response = spanner.AnswerTo(first);
  EXPECT_EQ(response.result.rows, Rows({{"a"}}));
  EXPECT_NE(spanner.Find(response.transaction), nullptr);
}

TEST_F(DatabaseWait, AFirstStatementThatFailsAfterWaitingLeavesNothing) {
  // The losing INSERT of a race, with its begin inlined.
  Attempt writer = spanner.SendsCommitOf(InsertLock("job", "a"));
  const CallName first = spanner.NewClient().SendFirst(InsertLock("job", "b"));
  const CallName second = spanner.NewClient().SendFirst(InsertLock("job", "c"));
  EXPECT_TRUE(spanner.Waits(first));
  EXPECT_TRUE(spanner.Waits(second));
  spanner.CompleteCommit(writer.id);
  for (const CallName& call : {first, second}) {
    EXPECT_EQ(spanner.AnswerTo(call).status.code, Code::kAlreadyExists);
    EXPECT_EQ(spanner.AnswerTo(call).transaction, "");
  }
  EXPECT_TRUE(spanner.database.transactions.empty());
  EXPECT_EQ(spanner.database.finished.size(), 1U);  // the writer
}

TEST_F(DatabaseWait, ACommitResentWhileItWaitsAnswersEachCopyOnce) {
  // The client gave up on the first copy; the wait goes on for the second.
  TwoReaders two(spanner);
  two.younger.Run(SetWriter("job", "b"));
  const CallName first = two.younger.SendCommit();
  const CallName second = two.younger.SendCommit();
  EXPECT_EQ(spanner.AnswerTo(first).status.code, Code::kUnavailable);
  EXPECT_TRUE(spanner.Waits(second));
  two.older.Commit();
  spanner.CompleteCommit(two.younger.id);
  EXPECT_EQ(spanner.AnswerTo(second).status, Status{});
  spanner.ExpectEveryCallAnsweredOnce();
}

TEST_F(DatabaseWait, AStatementResentWhileItWaitsIsRunOnce) {
  // Both copies wait for one lock; if both ran, the INSERT would conflict with its own row.
  LoadLock(spanner, "job");
  Attempt writer = spanner.SendsCommitOf(DeleteLock("job"));
  Attempt inserter = spanner.NewClient().Begin();
  const CallName first = inserter.Send(InsertLock("job", "b"), 1);
  const CallName second = inserter.Send(InsertLock("job", "b"), 1);
  EXPECT_EQ(spanner.AnswerTo(first).status.code, Code::kUnavailable);
  EXPECT_TRUE(spanner.Waits(second));
  spanner.CompleteCommit(writer.id);
  EXPECT_EQ(spanner.AnswerTo(second).result.row_count, 1);
  inserter.Commit();
  spanner.ExpectEveryCallAnsweredOnce();
}

TEST_F(DatabaseWait, ARollbackOfAWaitingTransactionAnswersTheWaitAndWakesOthers) {
  ThreeInARow three(spanner);
  EXPECT_EQ(three.writer.Rollback().status, Status{});
  EXPECT_EQ(spanner.AnswerTo(three.commit).status.code, Code::kUnavailable);
  EXPECT_EQ(spanner.AnswerTo(three.read).result.rows, Rows({{"nobody"}}));
}

TEST_F(DatabaseWait, ACommitThatIsGivenUpForAStatementWakesWhoWaitedForIt) {
  // An unusual client, but transactions that wait for its Commit would wait for ever.
  ThreeInARow three(spanner);
  three.writer.Run(ReadWriter("other"));
  EXPECT_EQ(spanner.AnswerTo(three.read).result.rows, Rows({{"nobody"}}));
}

// --- idle transactions ---------------------------------------------------------------------------

TEST_F(DatabaseWait, AnIdleHolderIsAbortedWhenItIsInTheWay) {
  // A client that died between its statement and its Commit must not keep the lock.
  TwoReaders two(spanner);
  two.younger.Run(SetWriter("job", "b"));
  const CallName waiting = two.younger.SendCommit();
  const Timestamp last_used = spanner.Find(two.older.id)->last_used;
  ASSERT_EQ(spanner.Said<RetryAt>().size(), 1U);
  EXPECT_EQ(spanner.Said<RetryAt>()[0].server_time, last_used + Seconds(10));
  spanner.now = last_used + Seconds(10) - kEpsilon;
  spanner.LookAgain();
  EXPECT_TRUE(spanner.IsCommitting(two.younger.id));
  EXPECT_EQ(two.older.TryCommit().status.code, Code::kAborted);
  spanner.CompleteCommit(two.younger.id);
  EXPECT_EQ(spanner.AnswerTo(waiting).status, Status{});
}

TEST_F(DatabaseWait, AHolderIsNotIdleBeforeTheLimitNorAfterEachStatement) {
  // A slow client that is alive must keep its locks.
  TwoReaders two(spanner);
  two.younger.Run(SetWriter("job", "b"));
  const CallName waiting = two.younger.SendCommit();
  spanner.Advance(Seconds(6));
  two.older.Run(ReadWriter("job"));
  spanner.Advance(Seconds(6));
  spanner.LookAgain();
  EXPECT_TRUE(spanner.Waits(waiting));
  ASSERT_FALSE(spanner.Said<RetryAt>().empty());
  EXPECT_EQ(spanner.Said<RetryAt>().back().server_time,
            spanner.Find(two.older.id)->last_used + Seconds(10));
  spanner.Advance(Milliseconds(3'990));
  spanner.LookAgain();
  EXPECT_TRUE(spanner.Waits(waiting));
  spanner.Advance(Milliseconds(10));
  spanner.LookAgain();
  EXPECT_TRUE(spanner.IsCommitting(two.younger.id));
}

TEST_F(DatabaseWait, AnIdleHolderThatIsInNobodysWayLives) {
  // Spanner may abort it; the model does so only if it blocks another.
  Attempt idle = spanner.Runs(InsertLock("job", "a"));
  spanner.Advance(Seconds(60));
  spanner.LookAgain();
  spanner.NewClient().Commits(InsertLock("other", "b"));
  idle.Commit();
}

TEST_F(DatabaseWait, AHolderThatWaitsItselfIsNotIdle) {
  // It has an outstanding call.
  LoadLock(spanner, "job");
  LoadLock(spanner, "other");
  Attempt oldest = spanner.Runs(ReadWriter("other"));
  Attempt middle = spanner.RunsLater(ReadWriter("job"));
  middle.Run(SetWriter("other", "m"));
  const CallName middles = middle.SendCommit();
  Attempt youngest = spanner.RunsLater(SetWriter("job", "y"));
  const CallName youngests = youngest.SendCommit();
  for (int i = 0; i < 4; ++i) {
    spanner.Advance(Seconds(5));
    oldest.Run(ReadWriter("other"));
    spanner.LookAgain();
  }
  EXPECT_TRUE(spanner.Waits(middles));
  EXPECT_TRUE(spanner.Waits(youngests));
}

TEST_F(DatabaseWait, OneLookIsAskedForHoweverManyWait) {
  // Every LookAgain requests the next one. If each waiter requested its own, they would double each
  // time that a holder turned out to be alive.
  LoadLock(spanner, "job");
  Attempt holder = spanner.Runs(ReadWriter("job"));
  for (int i = 0; i < 5; ++i) {
    spanner.Advance(Milliseconds(1));
    Attempt waiter = spanner.Runs(SetWriter("job", "w"));
    waiter.WaitsToCommit();
  }
  EXPECT_EQ(spanner.Said<RetryAt>().size(), 1U);
  spanner.NewClient().Commits(InsertLock("other", "o"));
  EXPECT_EQ(spanner.Said<RetryAt>().size(), 1U);
  for (size_t look = 2; look < 6; ++look) {
    spanner.Advance(Seconds(9));
    holder.Run(ReadWriter("job"));
    spanner.Advance(Seconds(1));
    spanner.LookAgain();
    EXPECT_EQ(spanner.Said<RetryAt>().size(), look);
  }
}

TEST_F(DatabaseWait, TheLookIsCalledOffOnceNothingWaits) {
  // An event that is due for nothing would keep states apart.
  TwoReaders two(spanner);
  two.younger.Run(SetWriter("job", "b"));
  two.younger.SendCommit();
  EXPECT_EQ(spanner.Said<RetryAt>().size(), 1U);
  EXPECT_TRUE(spanner.Said<RetryCancelled>().empty());
  two.older.Commit();
  EXPECT_TRUE(spanner.IsCommitting(two.younger.id));
  EXPECT_EQ(spanner.Said<RetryCancelled>().size(), 1U);
  spanner.CompleteCommit(two.younger.id);
  spanner.NewClient().Commits(InsertLock("other", "o"));
  EXPECT_EQ(spanner.Said<RetryCancelled>().size(), 1U);
}

TEST_F(DatabaseWait, ALookIsAskedForWhenAWokenHolderMayFallIdle) {
  // While the holder itself waited, no LookAgain was needed; once it is woken, its client may be
  // dead.
  LoadLock(spanner, "job");
  LoadLock(spanner, "other");
  Attempt committing = spanner.SendsCommitOf(SetWriter("other", "c"));
  Attempt holder = spanner.Runs(ReadWriter("job"));
  const CallName read = holder.WaitsToRun(ReadWriter("other"));
  Attempt writer = spanner.RunsLater(SetWriter("job", "w"));
  const CallName commit = writer.SendCommit();
  EXPECT_TRUE(spanner.Said<RetryAt>().empty());
  spanner.CompleteCommit(committing.id);
  EXPECT_EQ(spanner.AnswerTo(read).status, Status{});
  EXPECT_TRUE(spanner.Waits(commit));
  EXPECT_EQ(spanner.Said<RetryAt>().size(), 1U);
  spanner.Advance(Seconds(10));
  spanner.LookAgain();
  EXPECT_TRUE(spanner.IsCommitting(writer.id));
}

TEST_F(DatabaseWait, AbortedRepliesCarryADelayWhenTheyAreToldTo) {
  // Clients use it instead of their own backoff.
  for (const std::optional<Duration> delay :
       {std::optional<Duration>(), std::optional<Duration>(Milliseconds(7))}) {
    spanner = Spanner({.retry_delay = delay});
    TwoReaders two(spanner);
    two.older.Run(SetWriter("job", "a"));
    two.older.Commit();
    EXPECT_EQ(two.younger.TryCommit().status.retry_after, delay);
  }
}

}  // namespace
}  // namespace whorl::model::database_wait_test
