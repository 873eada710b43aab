// Locks of the database: conflicts, waiting, and wounding.
#include <gtest/gtest.h>

#include "tests/spanner_model/database_testing.h"

namespace whorl::model::database_lock_test {
namespace {

using DatabaseLock = DatabaseTest;

// --- what conflicts ------------------------------------------------------------------------------

TEST_F(DatabaseLock, TwoReadersOfOneCellDoNotWait) {
  // Shared locks.
  TwoReaders two(spanner);
  two.younger.Commit();
  two.older.Commit();
  EXPECT_TRUE(spanner.Said<Parked>().empty());
  EXPECT_TRUE(spanner.Said<Aborted>().empty());
}

TEST_F(DatabaseLock, AWriterOfAnotherColumnIsNotInAReadersWay) {
  // Spanner locks cells: spindle's heartbeat does not block a reader of the token.
  LoadLock(spanner, "job");
  Attempt reader = spanner.Runs(ReadWriter("job"));
  a.Commits(Heartbeat("job"));
  EXPECT_EQ(reader.Run(ReadWriter("job")).status, Status{});
  reader.Commit();
  EXPECT_TRUE(spanner.Said<Aborted>().empty());
}

TEST_F(DatabaseLock, AWriterOfAnotherRowIsNotInAReadersWay) {
  // Locks of different names share a table, and must not slow each other down.
  LoadLock(spanner, "job");
  LoadLock(spanner, "other");
  Attempt reader = spanner.Runs(ReadWriter("job"));
  a.Commits(SetWriter("other", "b"));
  reader.Commit();
  EXPECT_TRUE(spanner.Said<Aborted>().empty());
}

TEST_F(DatabaseLock, ASingleUseReadNeitherWaitsNorIsInTheWay) {
  // HasLock must be answered while others hold locks.
  TwoReaders two(spanner);
  two.older.Run(SetWriter("job", "a"));
  const CallName commit = two.older.SendCommit();
  EXPECT_EQ(a.Read(ReadWriter("job")).rows, Rows({{"nobody"}}));
  spanner.CompleteCommit(two.older.id);
  EXPECT_EQ(spanner.AnswerTo(commit).status, Status{});
}

TEST_F(DatabaseLock, AReaderWaitsForACommitThatIsNotYetVisible) {
  // Reading the old value would order the reader before a commit that has its timestamp already.
  LoadLock(spanner, "job");
  Attempt writer = spanner.SendsCommitOf(SetWriter("job", "a"));
  Attempt reader = spanner.NewClient().Begin();
  const CallName read = reader.WaitsToRun(ReadWriter("job"));
  spanner.CompleteCommit(writer.id);
  EXPECT_EQ(spanner.AnswerTo(read).result.rows, Rows({{"a"}}));
}

TEST_F(DatabaseLock, AnInsertIsInTheWayOfAReadOfItsRange) {
  // The phantom: a row that appears in a range that was found empty.
  Attempt reader = spanner.Runs(DeleteTakeoverRows("job"));
  Attempt writer = spanner.RunsLater(InsertTakeover("job_1"));
  writer.WaitsToCommit();
  a.Commits(InsertTakeover("jobs"));
  reader.Rollback();
  EXPECT_TRUE(spanner.IsCommitting(writer.id));
}

TEST_F(DatabaseLock, TwoCommitsOfOneRowFollowEachOther) {
  // Their versions have to be in the order of their timestamps.
  LoadLock(spanner, "job");
  Attempt first = spanner.NewClient().Begin();
  Attempt second = spanner.NewClient().Begin();
  first.Run(SetWriter("job", "a"));
  second.Run(SetWriter("job", "b"));
  first.SendCommit();
  const CallName waiting = second.WaitsToCommit();
  spanner.CompleteCommit(first.id);
  EXPECT_TRUE(spanner.IsCommitting(second.id));
  spanner.CompleteCommit(second.id);
  EXPECT_GT(spanner.AnswerTo(waiting).commit_timestamp, spanner.Said<Committed>()[0].commit);
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"})->at(3), Value("b"));
}

// --- wound-wait ----------------------------------------------------------------------------------

TEST_F(DatabaseLock, AnOlderCommitWoundsAYoungerReader) {
  // Whatever the wounded transaction does next must return ABORTED, except that Rollback is always
  // OK.
  TwoReaders two(spanner);
  two.older.Run(SetWriter("job", "a"));
  two.older.Commit();
  EXPECT_EQ(spanner.Said<Aborted>().size(), 1U);
  EXPECT_EQ(two.younger.Run(ReadWriter("job")).status.code, Code::kAborted);
  EXPECT_EQ(two.younger.TryCommit().status.code, Code::kAborted);
  EXPECT_EQ(two.younger.Rollback().status, Status{});
  EXPECT_EQ(two.younger.TryCommit().status.code, Code::kAborted);
}

TEST_F(DatabaseLock, AYoungerCommitWaitsForAnOlderReader) {
  // The other half of wound-wait: no transaction is aborted, and the wait ends with the reader.
  TwoReaders two(spanner);
  two.younger.Run(SetWriter("job", "b"));
  const CallName waiting = two.younger.WaitsToCommit();
  EXPECT_EQ(two.older.Run(ReadWriter("job")).result.rows, Rows({{"nobody"}}));
  two.older.Commit();
  EXPECT_TRUE(spanner.IsCommitting(two.younger.id));
  spanner.CompleteCommit(two.younger.id);
  EXPECT_EQ(spanner.AnswerTo(waiting).status, Status{});
}

TEST_F(DatabaseLock, AHolderThatIsWoundedWhileItWaitsIsAnsweredAtOnce) {
  // Nothing else would wake it.
  TwoReaders two(spanner);
  two.younger.Run(SetWriter("job", "b"));
  const CallName waiting = two.younger.SendCommit();
  two.older.Run(SetWriter("job", "a"));
  const CallName commit = two.older.SendCommit();
  EXPECT_EQ(spanner.AnswerTo(waiting).status.code, Code::kAborted);
  spanner.CompleteCommit(two.older.id);
  EXPECT_EQ(spanner.AnswerTo(commit).status, Status{});
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"})->at(3), Value("a"));
  spanner.ExpectEveryCallAnsweredOnce();
}

TEST_F(DatabaseLock, ACommittingTransactionIsNeverWounded) {
  // It has its timestamp, which cannot be taken back.
  LoadLock(spanner, "job");
  Attempt older = spanner.Runs(Heartbeat("other"));
  Attempt younger = spanner.RunsLater(ReadWriter("job"));
  younger.Run(SetWriter("job", "b"));
  const CallName commit = younger.SendCommit();
  older.Run(SetWriter("job", "a"));
  older.WaitsToCommit();
  spanner.Advance(Seconds(60));
  spanner.LookAgain();
  EXPECT_TRUE(spanner.Said<Aborted>().empty());
  spanner.CommitVisible(younger.id);
  EXPECT_EQ(spanner.AnswerTo(commit).status, Status{});
  EXPECT_TRUE(spanner.IsCommitting(older.id));
}

TEST_F(DatabaseLock, OfTwoInsertsOfOneKeyExactlyOneCommits) {
  // The race of spindle's first insert: the loser is ABORTED, and finds the row when it retries.
  for (const bool older_commits_first : {true, false}) {
    spanner = Spanner();
    auto [older, first] = a.BeginWith(InsertLock("job", "a"));
    spanner.Advance(Milliseconds(1));
    auto [younger, second] = b.BeginWith(InsertLock("job", "b"));
    EXPECT_EQ(first.status, Status{});
    EXPECT_EQ(second.status, Status{});
    CallName lost;
    if (!older_commits_first) {
      lost = younger.SendCommit();
      EXPECT_TRUE(spanner.Waits(lost));
    }
    older.Commit();
    if (older_commits_first) lost = younger.SendCommit();
    EXPECT_EQ(spanner.AnswerTo(lost).status.code, Code::kAborted);
    auto [again, retried] = b.BeginWith(InsertLock("job", "b"), younger.id);
    EXPECT_EQ(retried.status.code, Code::kAlreadyExists);
    EXPECT_EQ(spanner.NewestRow(kLocks, {"job"})->at(3), Value("a"));
    spanner.ExpectEveryCallAnsweredOnce();
  }
}

// --- age -----------------------------------------------------------------------------------------

TEST_F(DatabaseLock, AgeCountsFromTheFirstStatementNotFromTheBegin) {
  // By Spanner's documentation, BeginTransaction alone gives a transaction no age.
  LoadLock(spanner, "job");
  Attempt begun_first = spanner.NewClient().Begin();
  spanner.Advance(Seconds(1));
  Attempt read_first = spanner.Runs(ReadWriter("job"));
  spanner.Advance(Seconds(1));
  begun_first.Run(ReadWriter("job"));
  begun_first.Run(SetWriter("job", "a"));
  begun_first.WaitsToCommit();
}

TEST_F(DatabaseLock, ARetryInheritsTheAgeOfTheAbortedAttempt) {
  // Otherwise newcomers could wound a transaction for ever.
  for (const bool inherits : {true, false}) {
    spanner = Spanner();
    Client loser = spanner.NewClient();
    LoadLock(spanner, "job");
    Attempt older = spanner.Runs(ReadWriter("job"));
    spanner.Advance(Milliseconds(1));
    Attempt wounded = loser.Runs(ReadWriter("job"));
    older.Run(SetWriter("job", "a"));
    older.Commit();
    Attempt newcomer = spanner.RunsLater(ReadWriter("job"));
    spanner.Advance(Milliseconds(1));
    Attempt retry = loser.Begin(inherits ? wounded.id : "");
    retry.Run(ReadWriter("job"));
    retry.Run(SetWriter("job", "b"));
    const CallName commit = retry.SendCommit();
    EXPECT_EQ(spanner.IsCommitting(retry.id), inherits);
    EXPECT_EQ(spanner.Waits(commit), !inherits);
  }
}

TEST_F(DatabaseLock, AgeIsInheritedThroughSeveralAttempts) {
  // Also if one of them never ran a statement, or if the reply to a begin was lost.
  LoadLock(spanner, "job");
  auto [first, read] = a.BeginWith(ReadWriter("job"));
  const Age age = *spanner.Find(first.id)->age;
  first.Rollback();
  spanner.Advance(Seconds(1));
  Attempt second = a.Begin(first.id);
  EXPECT_EQ(spanner.Find(second.id)->age->since, age.since);
  second.Rollback();
  Attempt third = a.Begin(second.id);
  EXPECT_EQ(spanner.Find(third.id)->age->since, age.since);
  Attempt fourth = a.Begin(second.id);
  EXPECT_EQ(spanner.Find(fourth.id)->age->since, age.since);
}

TEST_F(DatabaseLock, AFailedInlinedBeginDoesNotLoseTheAge) {
  // Clients begin again explicitly after it, with the same previous attempt.
  LoadLock(spanner, "job");
  auto [first, read] = a.BeginWith(ReadWriter("job"));
  const Age age = *spanner.Find(first.id)->age;
  first.Rollback();
  spanner.Advance(Seconds(1));
  auto [nothing, failed] = a.BeginWith(InsertLock("job", "a"), first.id);
  EXPECT_EQ(failed.status.code, Code::kAlreadyExists);
  Attempt retry = a.Begin(first.id);
  ASSERT_TRUE(spanner.Find(retry.id)->age);
  EXPECT_EQ(spanner.Find(retry.id)->age->since, age.since);
}

TEST_F(DatabaseLock, TwoHeirsOfOneAttemptDoNotWaitForEachOther) {
  // The reply to a begin was lost and the begin was sent again. If both were equally old, each
  // would wait for the other for ever.
  LoadLock(spanner, "job");
  auto [parent, read] = a.BeginWith(ReadWriter("job"));
  parent.Rollback();
  Attempt one = a.Begin(parent.id);
  Attempt two = a.Begin(parent.id);
  for (Attempt* heir : {&one, &two}) {
    heir->Run(ReadWriter("job"));
    heir->Run(SetWriter("job", "a"));
  }
  two.SendCommit();
  one.SendCommit();
  EXPECT_TRUE(spanner.IsCommitting(one.id) || spanner.IsCommitting(two.id));
}

}  // namespace
}  // namespace whorl::model::database_lock_test
