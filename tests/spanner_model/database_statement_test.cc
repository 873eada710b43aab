// Statements in transactions: their answers, the errors that doom a transaction, and repeated
// statements.
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/spanner_model/database_testing.h"

namespace whorl::model::database_statement_test {
namespace {

using DatabaseStatement = DatabaseTest;

Statement Text(std::string_view text) { return {.sql = Sql::Intern(text), .parameters = {}}; }

// --- pending commit timestamps -------------------------------------------------------------------

TEST_F(DatabaseStatement, UnderTheTableRuleSpindlesCleanUpFailsAndItsHeartbeatCommits) {
  // Spindle ignores the error, so its takeover rows accumulate on a Spanner with this rule.
  spanner.Use({.pending_rule = PendingRule::kTable});
  a.Commits(InsertLock("job", "a"));
  a.Commits(InsertTakeover("job_1"));
  auto [attempt, heartbeat] = a.BeginWith(Heartbeat("job"));
  EXPECT_EQ(heartbeat.result.row_count, 1);
  const Response clean_up = attempt.Run(DeleteTakeoverRows("job"));
  EXPECT_EQ(clean_up.status.code, Code::kInvalidArgument);
  EXPECT_EQ(clean_up.result.row_count, 0);
  const Timestamp commit = attempt.Commit();
  EXPECT_EQ(a.Read(ReadHeartbeat("job")).rows, Rows({{commit}}));
  EXPECT_TRUE(spanner.NewestRow(kLocks, {"job_1"}));
}

TEST_F(DatabaseStatement, UnderTheTableRuleOtherTablesCanStillBeRead) {
  // The rule is about the table that was written, not about the transaction.
  spanner.Use({.pending_rule = PendingRule::kTable});
  a.Commits(InsertLock("job", "a"));
  Attempt attempt = a.Runs(Heartbeat("job"));
  EXPECT_EQ(attempt.Run(ReadWriter("other")).status.code, Code::kInvalidArgument);
  EXPECT_EQ(attempt.Run(AskWhoLeads(5)).status, Status{});
}

TEST_F(DatabaseStatement, UnderTheTableRuleAnInsertIsNoRead) {
  // VALUES read nothing of the table but whether the key is there.
  spanner.Use({.pending_rule = PendingRule::kTable});
  Attempt attempt = a.Runs(InsertLock("job", "a"));
  EXPECT_EQ(attempt.Run(InsertTakeover("job_1")).status, Status{});
  attempt.Commit();
  EXPECT_TRUE(spanner.NewestRow(kLocks, {"job_1"}));
}

TEST_F(DatabaseStatement, ATimestampWrittenByValueIsNotPending) {
  // Spindle's UPDATE of the token alone leaves its table readable.
  spanner.Use({.pending_rule = PendingRule::kTable});
  const Timestamp token = a.Commits(InsertLock("job", "a"));
  Attempt attempt = a.Runs(SetToken("job", token - Seconds(1)));
  EXPECT_EQ(attempt.Run(ReadToken("job")).result.rows, Rows({{token - Seconds(1), "a"}}));
}

TEST_F(DatabaseStatement, UnderTheColumnRuleSpindlesCleanUpWorks) {
  // The findings in which a heartbeat deletes a takeover row need this Spanner.
  spanner.Use({.pending_rule = PendingRule::kColumn});
  a.Commits(InsertLock("job", "a"));
  a.Commits(InsertTakeover("job_1"));
  a.Commits(InsertTakeover("job_2"));
  a.Commits(InsertTakeover("jobs"));
  auto [attempt, heartbeat] = a.BeginWith(Heartbeat("job"));
  EXPECT_EQ(attempt.Run(DeleteTakeoverRows("job")).result.row_count, 2);
  attempt.Commit();
  EXPECT_FALSE(spanner.NewestRow(kLocks, {"job_1"}));
  EXPECT_FALSE(spanner.NewestRow(kLocks, {"job_2"}));
  EXPECT_TRUE(spanner.NewestRow(kLocks, {"jobs"}));
}

TEST_F(DatabaseStatement, UnderTheColumnRuleThePendingColumnCannotBeReadOfAnyRow) {
  // Its value is not known yet; the other columns are.
  spanner.Use({.pending_rule = PendingRule::kColumn});
  a.Commits(InsertLock("job", "a"));
  Attempt attempt = a.Runs(Heartbeat("job"));
  EXPECT_EQ(attempt.Run(ReadHeartbeat("job")).status.code, Code::kInvalidArgument);
  EXPECT_EQ(attempt.Run(ReadHeartbeat("other")).status.code, Code::kInvalidArgument);
  EXPECT_EQ(attempt.Run(ReadWriter("job")).result.rows, Rows({{"a"}}));
  EXPECT_EQ(attempt.Run(Heartbeat("job")).result.row_count, 1);
  attempt.Commit();
}

TEST_F(DatabaseStatement, AnUpdateThatMatchedNoRowMakesNothingPending) {
  // Spindle's heartbeat of a deleted row still cleans up.
  spanner.Use({.pending_rule = PendingRule::kTable});
  Attempt attempt = a.Runs(Heartbeat("job"));
  EXPECT_EQ(attempt.Run(DeleteTakeoverRows("job")).status, Status{});
}

// --- errors that doom, and errors that do not ----------------------------------------------------

TEST_F(DatabaseStatement, AnInsertOfAnExistingKeyDoomsItsTransaction) {
  // A client that ignores the error must not be able to commit earlier writes.
  a.Commits(InsertLock("job", "a"));
  Attempt attempt = a.Runs(InsertTakeover("job_1"));
  const Response failed = attempt.Run(InsertLock("job", "b"));
  EXPECT_EQ(failed.status, Error(Code::kAlreadyExists,
                                 "Row [job] in table locktable already "
                                 "exists"));
  EXPECT_EQ(attempt.Run(ReadWriter("job")).status, failed.status);
  EXPECT_EQ(attempt.Run(InsertTakeover("job_2")).status, failed.status);
  EXPECT_EQ(attempt.TryCommit().status, failed.status);
  EXPECT_EQ(attempt.TryCommit().status, failed.status);
  EXPECT_EQ(attempt.Rollback().status, Status{});
  EXPECT_FALSE(spanner.NewestRow(kLocks, {"job_1"}));
}

TEST_F(DatabaseStatement, ADoomedTransactionThatWasRolledBackIsRolledBack) {
  // A Rollback ends the doom; a later call is the client's mistake and gets that error.
  a.Commits(InsertLock("job", "a"));
  Attempt attempt = a.Runs(InsertLock("job", "b"));
  attempt.Rollback();
  EXPECT_EQ(attempt.TryCommit().status.code, Code::kFailedPrecondition);
  EXPECT_EQ(attempt.Run(ReadWriter("job")).status.code, Code::kFailedPrecondition);
}

TEST_F(DatabaseStatement, ADoomedTransactionThatWasWoundedStillSaysWhy) {
  // The client has the error already; ABORTED would only make it retry.
  a.Commits(InsertLock("job", "a"));
  Attempt older = a.Runs(Heartbeat("other"));
  spanner.Advance(Seconds(1));
  Attempt doomed = b.Begin();
  const Response failed = doomed.Run(InsertLock("job", "b"));
  older.Run(DeleteLock("job"));
  older.Commit();
  EXPECT_EQ(spanner.Said<Aborted>().size(), 1U);
  EXPECT_EQ(doomed.TryCommit().status, failed.status);
  // When its client has ended it, later calls hear of that, as of every transaction that was doomed.
  EXPECT_EQ(doomed.Rollback().status, Status{});
  EXPECT_EQ(doomed.TryCommit().status.code, Code::kFailedPrecondition);
}

TEST_F(DatabaseStatement, AKeyDeletedEarlierInTheTransactionIsFree) {
  // Delete and insert is one change of the row.
  a.Commits(InsertLock("job", "a"));
  Attempt attempt = a.Runs(DeleteLock("job"));
  EXPECT_EQ(attempt.Run(ReadWriter("job")).result.rows, Rows({}));
  EXPECT_EQ(attempt.Run(InsertTakeover("job")).status, Status{});
  attempt.Commit();
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"}), (Row{"job", Null{}, Null{}, Null{}}));
}

TEST_F(DatabaseStatement, ANullKeyIsRefusedAndDooms) {
  // NULL is a key that no WHERE finds again; leaving the column out is the same mistake.
  EXPECT_FALSE(a.Begin().Run(Text("INSERT INTO locktable (writer) VALUES ('a')")).status.ok());
  Attempt attempt = a.Begin();
  EXPECT_EQ(attempt.Run(Text("INSERT INTO locktable (name) VALUES (NULL)")).status.code,
            Code::kFailedPrecondition);
  EXPECT_EQ(attempt.TryCommit().status.code, Code::kFailedPrecondition);
}

TEST_F(DatabaseStatement, ATimestampInTheFutureIsRefusedAndDooms) {
  // A token from the future would exceed every later one. The column's option enables the check.
  a.Commits(InsertLock("job", "a"));
  const Timestamp latest = spanner.Now().truetime.latest;
  Attempt attempt = a.Begin();
  EXPECT_EQ(attempt.Run(SetToken("job", latest)).result.row_count, 1);
  const Response failed = attempt.Run(SetToken("job", latest + Nanoseconds(1)));
  EXPECT_EQ(failed.status.code, Code::kFailedPrecondition);
  EXPECT_EQ(attempt.TryCommit().status, failed.status);
  EXPECT_EQ(attempt.Rollback().status, Status{});
}

TEST_F(DatabaseStatement, AColumnWithoutCommitTimestampsMayHoldTheFuture) {
  // LeaderElection's last_seen_active is an ordinary column, written from another clock.
  a.Commits(
      Text("INSERT INTO LeaderElection (anchor, last_seen_active) VALUES (1, "
           "TIMESTAMP '2099-01-01 00:00:00+00')"));
  EXPECT_TRUE(spanner.NewestRow(kElections, {int64_t{1}}));
}

TEST_F(DatabaseStatement, ARefusedStatementChangesNothingAndTheTransactionGoesOn) {
  // A text with an error, a wrong parameter and an unreadable table are no constraints.
  Attempt attempt = a.Runs(InsertTakeover("job"));
  EXPECT_EQ(attempt.Run(Text("SELECT nosuch FROM locktable")).status.code, Code::kInvalidArgument);
  EXPECT_EQ(attempt.Run(Text("")).status.code, Code::kInvalidArgument);
  Statement wrong = InsertTakeover("other");
  wrong.parameters = {int64_t{1}};
  EXPECT_EQ(attempt.Run(wrong).status.code, Code::kInvalidArgument);
  attempt.Commit();
  EXPECT_TRUE(spanner.NewestRow(kLocks, {"job"}));
}

TEST_F(DatabaseStatement, AnErrorOfEvaluationDoomsNeitherAnInsertNorAnUpdate) {
  // A value that cannot be computed is the statement's error; no constraint was tried.
  spanner.Load(kElections, {int64_t{1}, "a", Null{}});
  Attempt attempt = a.Begin();
  EXPECT_EQ(attempt
                .Run(Text("UPDATE LeaderElection SET last_seen_active = TIMESTAMP_SUB("
                          "TIMESTAMP '0001-01-01 00:00:00+00', INTERVAL 1 DAY) "
                          "WHERE anchor = 1"))
                .status.code,
            Code::kOutOfRange);
  EXPECT_EQ(attempt
                .Run(Text("INSERT INTO LeaderElection (anchor, last_seen_active) VALUES (2, "
                          "TIMESTAMP_SUB(TIMESTAMP '0001-01-01 00:00:00+00', INTERVAL 1 DAY))"))
                .status.code,
            Code::kOutOfRange);
  attempt.Commit();
}

TEST_F(DatabaseStatement, DmlNeedsAReadWriteTransaction) {
  // A single-use read commits nothing, so the write would be lost.
  for (const Statement& dml :
       {InsertTakeover("job"), Heartbeat("job"), DeleteTakeoverRows("job")}) {
    EXPECT_EQ(a.Read(dml).status,
              Error(Code::kInvalidArgument,
                    "DML statements can only be performed in a read-write or partitioned-dml "
                    "transaction."));
  }
  EXPECT_EQ(spanner.database, MakeDatabase(spanner.catalogue));
}

// --- a first statement that carries the begin ----------------------------------------------------

TEST_F(DatabaseStatement, AFailedFirstStatementBeginsNothingAndLeavesNoLocks) {
  // The client gets no id, so it could never end the transaction.
  a.Commits(InsertLock("job", "a"));
  Database before = spanner.database;
  auto [attempt, failed] = b.BeginWith(InsertLock("job", "b"));
  EXPECT_EQ(failed.status.code, Code::kAlreadyExists);
  EXPECT_EQ(attempt.id, "");
  before.ages = spanner.database.ages;  // it had one for a moment
  EXPECT_EQ(spanner.database, before);
  auto [other, mistyped] = b.BeginWith(Text("SELECT"));
  EXPECT_EQ(mistyped.status.code, Code::kInvalidArgument);
  EXPECT_EQ(other.id, "");
  EXPECT_EQ(spanner.database, before);
}

TEST_F(DatabaseStatement, AFirstStatementBeginsATransactionOfItsOwn) {
  // Two begins in one place must not share an id: the end of one would end the other.
  auto [first, one] = a.BeginWith(InsertTakeover("a"));
  auto [second, two] = a.BeginWith(InsertTakeover("b"));
  EXPECT_EQ(one.status, Status{});
  EXPECT_NE(first.id, "");
  EXPECT_NE(first.id, second.id);
  first.Rollback();
  second.Commit();
  EXPECT_FALSE(spanner.NewestRow(kLocks, {"a"}));
  EXPECT_TRUE(spanner.NewestRow(kLocks, {"b"}));
}

// --- sequence numbers ----------------------------------------------------------------------------

TEST_F(DatabaseStatement, ARepeatedSequenceNumberIsAnsweredAndNotRun) {
  // A resent INSERT must not conflict with its own row.
  Attempt attempt = a.Begin();
  const Response first = attempt.Run(InsertTakeover("job"), 1);
  EXPECT_EQ(first.status, Status{});
  EXPECT_EQ(attempt.Run(InsertTakeover("job"), 1), first);
  EXPECT_EQ(attempt.Run(InsertTakeover("job"), 2).status.code, Code::kAlreadyExists);
}

TEST_F(DatabaseStatement, ARepeatedFailureIsTheSameFailure) {
  // Errors are remembered, too.
  spanner.Use({.pending_rule = PendingRule::kTable});
  a.Commits(InsertLock("job", "a"));
  Attempt attempt = a.Begin();
  attempt.Run(Heartbeat("job"), 1);
  const Response failed = attempt.Run(DeleteTakeoverRows("job"), 2);
  EXPECT_EQ(failed.status.code, Code::kInvalidArgument);
  EXPECT_EQ(attempt.Run(DeleteTakeoverRows("job"), 2), failed);
}

TEST_F(DatabaseStatement, TheFirstStatementsNumberIsRememberedWithItsBegin) {
  // As measured on the official emulator: under the id that it returned it is another request.
  auto [attempt, first] = a.BeginWith(InsertTakeover("job"));
  EXPECT_EQ(
      attempt.Run(InsertTakeover("job"), 1).status,
      Error(Code::kInvalidArgument, "Previously received a different request with this seqno."));
  EXPECT_EQ(attempt.Run(InsertTakeover("other"), 2).status, Status{});
}

TEST_F(DatabaseStatement, ARepeatedSequenceNumberOfAnotherStatementIsRefused) {
  // It is a client's mistake, and running the statement would hide it.
  Attempt attempt = a.Begin();
  attempt.Run(InsertTakeover("job"), 1);
  EXPECT_EQ(
      attempt.Run(Heartbeat("job"), 1).status,
      Error(Code::kInvalidArgument, "Previously received a different request with this seqno."));
  EXPECT_EQ(attempt.Run(InsertTakeover("other"), 1).status.code, Code::kInvalidArgument);
  EXPECT_EQ(attempt.Run(Heartbeat("job"), 2).status, Status{});
}

TEST_F(DatabaseStatement, ALowerSequenceNumberIsRefused) {
  // A delayed statement must not run after its successor.
  Attempt attempt = a.Begin();
  attempt.Run(InsertTakeover("job"), 5);
  EXPECT_EQ(attempt.Run(InsertTakeover("other"), 4).status,
            Error(Code::kInvalidArgument, "Request has an out-of-order seqno."));
  attempt.Commit();
  EXPECT_FALSE(spanner.NewestRow(kLocks, {"other"}));
}

TEST_F(DatabaseStatement, QueriesHaveNoSequenceNumbers) {
  // Clients number their DML only: every query comes with the same number, and has to be run.
  Attempt attempt = a.Begin();
  EXPECT_EQ(attempt.Run(ReadWriter("job"), 0).result.rows, Rows({}));
  attempt.Run(InsertTakeover("job"), 1);
  EXPECT_EQ(attempt.Run(ReadWriter("job"), 0).result.rows, Rows({{Null{}}}));
  attempt.Run(SetWriter("job", "a"), 2);
  EXPECT_EQ(attempt.Run(ReadWriter("job"), 0).result.rows, Rows({{"a"}}));
  EXPECT_EQ(attempt.Run(ReadWriter("other"), 0).result.rows, Rows({}));
}

// --- clocks, and the semaphore -------------------------------------------------------------------

TEST_F(DatabaseStatement, CurrentTimestampIsAClockOfItsOwn) {
  // Its error has no bound against commit timestamps: an age may come out negative.
  a.Commits(InsertLock("job", "a"));
  const Statement age = Text(
      "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND) FROM locktable "
      "WHERE name = 'job'");
  const auto first = std::get<int64_t>(a.Read(age).rows.at(0).at(0));
  spanner.Advance(Milliseconds(500));
  EXPECT_EQ(a.Read(age).rows, Rows({{first + 500}}));
  spanner.current_timestamp_error = -Seconds(2);
  EXPECT_LT(std::get<int64_t>(a.Read(age).rows.at(0).at(0)), -1'400);
}

TEST_F(DatabaseStatement, CurrentTimestampIsOneTimeWithinAStatement) {
  // The semaphore compares and stores it in one statement: two readings could disagree.
  Attempt attempt = a.Begin();
  attempt.Run(
      Text("INSERT INTO LeaderElection (anchor, last_seen_active) VALUES "
           "(1, CURRENT_TIMESTAMP()), (2, CURRENT_TIMESTAMP())"));
  spanner.Advance(Seconds(1));
  const Timestamp at = (spanner.now - Seconds(1)).TruncatedToMicros();
  const StatementResult result =
      attempt.Run(Text("SELECT last_seen_active, CURRENT_TIMESTAMP() FROM LeaderElection")).result;
  EXPECT_EQ(result.rows, Rows({{at, at + Seconds(1)}, {at, at + Seconds(1)}}));
}

TEST_F(DatabaseStatement, TheSemaphoresHolderRenewsAndOthersTakeOverAfterTheTimeout) {
  // The two statements of the semaphore, as every service runs them each period.
  spanner.Load(kElections, {int64_t{1}, "nobody", spanner.now - Seconds(3600)});
  EXPECT_EQ(a.Read(AskWhoLeads(5)).rows, Rows({}));
  const auto campaign = [&](Client& client, const std::string& me) {
    auto [attempt, update] = client.BeginWith(Campaign(me, 5));
    attempt.Commit();
    return update.result.row_count;
  };
  EXPECT_EQ(campaign(a, "a"), 1);
  EXPECT_EQ(campaign(b, "b"), 0);
  EXPECT_EQ(campaign(a, "a"), 1);
  const std::vector<Row> leader = b.Read(AskWhoLeads(5)).rows;
  ASSERT_EQ(leader.size(), 1U);
  EXPECT_EQ(leader[0][0], Value("a"));
  spanner.Advance(Milliseconds(4'900));
  EXPECT_EQ(campaign(b, "b"), 0);
  spanner.Advance(Milliseconds(200));
  EXPECT_EQ(b.Read(AskWhoLeads(5)).rows, Rows({}));
  EXPECT_EQ(campaign(b, "b"), 1);
  EXPECT_EQ(campaign(a, "a"), 0);
  EXPECT_EQ(a.Read(AskWhoLeads(5)).rows.at(0).at(0), Value("b"));
}

TEST_F(DatabaseStatement, ANullHolderOfTheSemaphoreIsNeverTaken) {
  // NULL != @me is not TRUE, which is why init writes an expired holder.
  spanner.Load(kElections, {int64_t{1}, Null{}, spanner.now - Seconds(3600)});
  auto [attempt, update] = a.BeginWith(Campaign("a", 5));
  EXPECT_EQ(update.result.row_count, 0);
}

TEST_F(DatabaseStatement, AStatementNamedAheadAnswersAsOneThatIsNot) {
  // The catalogue's plans are a cache, and no more.
  const std::vector<Sql> ahead = {ReadWriter("").sql, InsertTakeover("").sql,
                                  Text("SELECT nosuch FROM locktable").sql};
  const Catalogue known(TestSchema(), ahead, {});
  EXPECT_NE(known.FindPlan(ReadWriter("").sql), nullptr);
  EXPECT_EQ(known.FindPlan(Heartbeat("").sql), nullptr);
  Spanner with_plans;
  with_plans.catalogue = known;
  Spanner without;
  for (Spanner* one : {&with_plans, &without}) {
    Client client = one->NewClient();
    client.Commits(InsertTakeover("job"));
    client.Read(ReadWriter("job"));
    client.Read(Text("SELECT nosuch FROM locktable"));
  }
  EXPECT_EQ(with_plans.said, without.said);
  EXPECT_EQ(with_plans.database, without.database);
}

}  // namespace
}  // namespace whorl::model::database_statement_test
