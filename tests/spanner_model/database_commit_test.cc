// Commits of the database: when they become visible, their timestamps, and the answers to repeated
// Commits and Rollbacks.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/spanner_model/database_testing.h"

namespace whorl::model::database_commit_test {
namespace {

using DatabaseCommit = DatabaseTest;

TEST_F(DatabaseCommit, AStrongReadSeesNothingBeforeTheCommitIsVisible) {
  // If a reader saw a commit before its timestamp is certainly past, a transaction that follows the
  // read could commit at an earlier timestamp.
  Attempt attempt = a.Runs(InsertLock("job", "a"));
  EXPECT_EQ(b.Read(ReadWriter("job")).rows, Rows({}));
  const CallName commit = attempt.SendCommit();
  EXPECT_TRUE(spanner.IsCommitting(attempt.id));
  EXPECT_EQ(b.Read(ReadWriter("job")).rows, Rows({}));
  EXPECT_TRUE(spanner.Said<Committed>().empty());
  spanner.CompleteCommit(attempt.id);
  EXPECT_EQ(spanner.AnswerTo(commit).status, Status{});
  EXPECT_EQ(b.Read(ReadWriter("job")).rows, Rows({{"a"}}));
}

TEST_F(DatabaseCommit, AStrongReadSeesTheNewestVisibleVersionOnly) {
  // HasLock is one strong read, so it has to see every change of the owner, deletions included.
  a.Commits(InsertLock("job", "a"));
  a.Commits(SetWriter("job", "b"));
  EXPECT_EQ(a.Read(ReadWriter("job")).rows, Rows({{"b"}}));
  a.Commits(DeleteLock("job"));
  EXPECT_EQ(a.Read(ReadWriter("job")).rows, Rows({}));
  a.Commits(InsertLock("job", "c"));
  EXPECT_EQ(a.Read(ReadWriter("job")).rows, Rows({{"c"}}));
}

TEST_F(DatabaseCommit, WritesOfATransactionThatNeverCommitsAreSeenByNobody) {
  // Writes are buffered: a rolled back one leaves no trace, not even an empty row.
  const Database before = spanner.database;
  Attempt attempt = a.Runs(InsertLock("job", "a"));
  EXPECT_EQ(attempt.Rollback().status, Status{});
  EXPECT_EQ(spanner.database.tables, before.tables);
  EXPECT_TRUE(spanner.Said<RowChanged>().empty());
}

TEST_F(DatabaseCommit, ACommitSaysWhichRowsChangedFromWhatToWhat) {
  // Checkers judge a run by these changes alone.
  const Timestamp inserted = a.Commits(InsertLock("job", "a"));
  const Timestamp updated = a.Commits(Heartbeat("job"));
  a.Commits(DeleteLock("job"));
  const Row first = {"job", inserted, inserted, "a"};
  const Row second = {"job", updated, inserted, "a"};
  const std::vector<RowChanged> expected = {
      {.table = kLocks, .before = std::nullopt, .after = first},
      {.table = kLocks, .before = first, .after = second},
      {.table = kLocks, .before = second, .after = std::nullopt}};
  EXPECT_EQ(spanner.Said<RowChanged>(), expected);
}

TEST_F(DatabaseCommit, ARowInsertedAndDeletedInOneTransactionNeverWas) {
  // Nothing changed, so nothing may be reported as changed.
  spanner.Use({.pending_rule = PendingRule::kColumn});
  Attempt attempt = a.Runs(InsertLock("job_1", "a"));
  EXPECT_EQ(attempt.Run(DeleteTakeoverRows("job")).result.row_count, 1);
  attempt.Commit();
  EXPECT_TRUE(spanner.Said<RowChanged>().empty());
  EXPECT_EQ(spanner.database.tables, MakeDatabase(spanner.catalogue).tables);
}

TEST_F(DatabaseCommit, TimestampsGrowStrictlyInWholeMicrosecondsNotBelowTheLatestNow) {
  // The start rule of TrueTime. A token is a commit timestamp, so equal timestamps would give two
  // holders the same token.
  Timestamp last = Timestamp::Min();
  for (int i = 0; i < 50; ++i) {
    Attempt attempt = a.Begin();
    attempt.SendCommit();
    const Timestamp commit = spanner.Said<CommitStarted>().back().commit;
    EXPECT_GT(commit, last);
    EXPECT_GE(commit, spanner.Now().truetime.latest);
    EXPECT_EQ(commit, commit.TruncatedToMicros());
    last = commit;
    if (i % 3 == 0) spanner.Advance(Nanoseconds(1'300));  // often no time passes at all
  }
}

TEST_F(DatabaseCommit, TimestampsGrowEvenWhenTrueTimeStepsBack) {
  // A wrong clock may break external consistency, but never the order of versions.
  const Timestamp before = a.Commits(InsertLock("job", "a"));
  spanner.Advance(-Seconds(5));
  EXPECT_EQ(a.Commits(Heartbeat("job")), before + Microseconds(1));
}

TEST_F(DatabaseCommit, ACommitTakesNoTimestampBelowARowThatWasLoaded) {
  // Rows loaded at the start have commit timestamps, too.
  const Timestamp later = spanner.now + Seconds(60);
  LoadRow(spanner.catalogue, spanner.database, kLocks, {"job", later, later, "z"}, later);
  EXPECT_EQ(a.Commits(Heartbeat("job")), later + Microseconds(1));
}

TEST_F(DatabaseCommit, EveryPendingColumnBecomesTheCommitTimestamp) {
  // A client takes its token from the Commit's reply and compares it with the column later.
  const Timestamp commit = a.Commits(InsertLock("job", "a"));
  EXPECT_EQ(a.Read(ReadToken("job")).rows, Rows({{commit, "a"}}));
  EXPECT_EQ(a.Read(ReadHeartbeat("job")).rows, Rows({{commit}}));
  const Timestamp later = a.Commits(Heartbeat("job"));
  EXPECT_EQ(a.Read(ReadToken("job")).rows, Rows({{commit, "a"}}));
  EXPECT_EQ(a.Read(ReadHeartbeat("job")).rows, Rows({{later}}));
}

TEST_F(DatabaseCommit, AnUpdateOfARowInsertedInTheSameTransactionKeepsWhatItDoesNotWrite) {
  // Writes of one transaction to one row are merged, pending timestamps included.
  Attempt attempt = a.Runs(InsertTakeover("job"));
  EXPECT_EQ(attempt.Run(SetWriter("job", "a")).result.row_count, 1);
  EXPECT_EQ(attempt.Run(Heartbeat("job")).result.row_count, 1);
  const Timestamp commit = attempt.Commit();
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"}), (Row{"job", commit, Null{}, "a"}));
}

TEST_F(DatabaseCommit, AValueWrittenOverAPendingOneStays) {
  // The last write of a column wins; an earlier pending mark must not overwrite it.
  spanner.Use({.pending_rule = PendingRule::kColumn});
  const Timestamp token = At("2025-01-01T00:00:00.123456789Z");
  Attempt attempt = a.Runs(InsertLock("job", "a"));
  attempt.Run(SetToken("job", token));
  const Timestamp commit = attempt.Commit();
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"}), (Row{"job", commit, token, "a"}));
}

TEST_F(DatabaseCommit, TwoWritersOfOneRowKeepEachOthersColumns) {
  // An old leader's heartbeat begins before a takeover and commits after it. It writes one column,
  // so it must not restore the old token and writer.
  const Timestamp old_token = a.Commits(InsertLock("job", "a"));
  Attempt heartbeat = a.Runs(Heartbeat("job"));
  const Timestamp token = old_token + Microseconds(1);
  Attempt takeover = b.Runs(UpdateToken("job", token, "b"));
  takeover.Commit();
  const Timestamp beat = heartbeat.Commit();
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"}), (Row{"job", beat, token, "b"}));
  EXPECT_EQ(spanner.Said<RowChanged>().back().after, (Row{"job", beat, token, "b"}));
}

TEST_F(DatabaseCommit, ATransactionReadsTheNewestOfWhatItDidNotWriteItself) {
  // It locks a column when it reads it, so it has to see what was committed before that.
  const Timestamp first = a.Commits(InsertLock("job", "a"));
  Attempt attempt = a.Runs(SetWriter("job", "c"));
  b.Commits(SetToken("job", first + Microseconds(1)));
  EXPECT_EQ(attempt.Run(ReadToken("job")).result.rows, Rows({{first + Microseconds(1), "c"}}));
  attempt.Commit();
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"}), (Row{"job", first, first + Microseconds(1), "c"}));
}

TEST_F(DatabaseCommit, ATransactionWithoutWritesCommits) {
  // Spindle's zero-row UPDATE of a missing row is reported as success with a fresh timestamp.
  Attempt attempt = a.Begin();
  const Response update = attempt.Run(Heartbeat("missing"));
  EXPECT_EQ(update.status, Status{});
  EXPECT_EQ(update.result.row_count, 0);
  const Timestamp commit = attempt.Commit();
  Attempt empty = a.Begin();
  EXPECT_GT(empty.Commit(), commit);
  EXPECT_TRUE(spanner.Said<RowChanged>().empty());
}

// --- repeated Commit and Rollback ----------------------------------------------------------------

TEST_F(DatabaseCommit, ARepeatedCommitGivesTheSameTimestamp) {
  // The only way to learn the outcome of a Commit whose reply was lost.
  Attempt attempt = a.Runs(InsertLock("job", "a"));
  const Timestamp commit = attempt.Commit();
  const Database after = spanner.database;
  spanner.Advance(Seconds(30));
  const Response again = attempt.TryCommit();
  EXPECT_EQ(again.status, Status{});
  EXPECT_EQ(again.commit_timestamp, commit);
  EXPECT_EQ(spanner.database, after);
}

TEST_F(DatabaseCommit, ACommitResentWhileCommittingAnswersEachCopyOnce) {
  // The client gave up on the first copy: an answer to it must not count as one to the second.
  Attempt attempt = a.Runs(InsertLock("job", "a"));
  const CallName first = attempt.SendCommit();
  const CallName second = attempt.SendCommit();
  EXPECT_EQ(spanner.AnswerTo(first).status.code, Code::kUnavailable);
  EXPECT_EQ(spanner.Said<CommitStarted>().size(), 1U);
  spanner.CompleteCommit(attempt.id);
  EXPECT_EQ(spanner.AnswerTo(second).status, Status{});
  EXPECT_EQ(spanner.Said<Committed>().front().commit_call, second);
  spanner.ExpectEveryCallAnsweredOnce();
}

TEST_F(DatabaseCommit, ACommitAfterARollbackFails) {
  // It has to be an error; OK would report a write that was discarded.
  Attempt attempt = a.Runs(InsertLock("job", "a"));
  attempt.Rollback();
  EXPECT_EQ(attempt.TryCommit().status,
            Error(Code::kFailedPrecondition,
                  "Cannot commit a transaction after it has been rolled back."));
  EXPECT_EQ(attempt.Rollback().status, Status{});
}

TEST_F(DatabaseCommit, ARollbackAfterACommitFails) {
  // Neither a finished commit nor one that waits for its timestamp to pass can be taken back.
  Attempt attempt = a.Runs(InsertLock("job", "a"));
  const CallName commit = attempt.SendCommit();
  const Status refused = Error(Code::kFailedPrecondition,
                               "Cannot rollback a transaction after it has been committed.");
  EXPECT_EQ(attempt.Rollback().status, refused);
  spanner.CompleteCommit(attempt.id);
  EXPECT_EQ(spanner.AnswerTo(commit).status, Status{});
  EXPECT_EQ(attempt.Rollback().status, refused);
  EXPECT_TRUE(spanner.NewestRow(kLocks, {"job"}));
}

TEST_F(DatabaseCommit, AStatementAfterACommitFails) {
  // A client that continues a finished transaction has a bug and has to get an error.
  Attempt attempt = a.Runs(InsertLock("job", "a"));
  attempt.Commit();
  EXPECT_EQ(attempt.Run(Heartbeat("job")).status.code, Code::kFailedPrecondition);
  EXPECT_EQ(attempt.Run(ReadToken("job")).status.code, Code::kFailedPrecondition);
}

TEST_F(DatabaseCommit, AnUnknownTransactionIsNotFoundExceptForARollback) {
  // Rollback promises OK for an unknown transaction; clients send it without knowing.
  Attempt attempt = a.Begin();
  attempt.id = "never begun";
  EXPECT_EQ(attempt.TryCommit().status.code, Code::kNotFound);
  EXPECT_EQ(attempt.Run(Heartbeat("job")).status.code, Code::kNotFound);
  EXPECT_EQ(attempt.Rollback().status, Status{});
}

TEST_F(DatabaseCommit, AnOutcomeIsRememberedUntilTheSamePlaceBeginsAgain) {
  // A place runs one transaction at a time, so its next begin shows that the client has received
  // the last outcome. The outcomes of other places stay.
  Attempt first = a.Begin();
  const Timestamp commit = first.Commit();
  a.UseRequest(1);
  a.Begin().Commit();
  EXPECT_EQ(first.TryCommit().commit_timestamp, commit);
  a.UseRequest(0);
  a.Begin();
  EXPECT_EQ(first.TryCommit().status.code, Code::kNotFound);
}

TEST_F(DatabaseCommit, NothingOfATransactionIsKeptForEver) {
  // Memory must not grow with simulated time, neither by outcomes nor by transactions whose client
  // is gone.
  for (int i = 0; i < 20; ++i) {
    Client passing = spanner.NewClient();
    passing.Begin().Commit();
    passing.UseRequest(1);
    passing.Begin().Run(ReadToken("job"));
  }
  const Database& database = spanner.database;
  EXPECT_EQ(database.transactions.size() + database.finished.size(), 40U);
  spanner.Advance(Seconds(3601));
  spanner.NewClient().Begin();
  EXPECT_EQ(database.transactions.size() + database.finished.size(), 1U);
}

TEST_F(DatabaseCommit, AFinishedTransactionKeepsItsAnswersAndNoLocks) {
  // Later calls need only its id, age, outcome and answers.
  Attempt attempt = a.Begin();
  const Response inserted = attempt.Run(InsertLock("job", "a"), 1);
  attempt.Commit();
  const TransactionState* transaction = spanner.Find(attempt.id);
  ASSERT_NE(transaction, nullptr);
  EXPECT_TRUE(IsOver(*transaction));
  EXPECT_TRUE(transaction->reads.empty());
  EXPECT_TRUE(transaction->writes.empty());
  EXPECT_TRUE(transaction->age);
  EXPECT_EQ(attempt.Run(InsertLock("job", "a"), 1), inserted);
  EXPECT_EQ(attempt.Run(InsertLock("job", "a"), 2).status.code, Code::kFailedPrecondition);
}

TEST_F(DatabaseCommit, AnAbortedTransactionForgetsItsAnswers) {
  TwoReaders readers(spanner);
  readers.younger.Run(SetWriter("job", "y"), 7);
  readers.older.Run(SetWriter("job", "o"));
  readers.older.Commit();
  EXPECT_EQ(readers.younger.Run(SetWriter("job", "y"), 7).status.code, Code::kAborted);
}

}  // namespace
}  // namespace whorl::model::database_commit_test
