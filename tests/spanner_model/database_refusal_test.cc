// Effects of refused calls, and the order in which errors are reported: cases in which random
// sequences found differences from the official emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/spanner_model/database_calls_testing.h"

namespace whorl::model::database_refusal_test {
namespace {

using ::testing::HasSubstr;

using DatabaseRefusal = DatabaseCallsTest;

Statement SqlText(std::string_view text) {
  return {.sql = Sql::Intern(text, std::vector<Parameter>{}), .parameters = {}};
}

Options TheColumnRule() {
  Options options;
  options.pending_rule = PendingRule::kColumn;
  return options;
}

Options TheEmulatorsRule() {
  Options options = TheColumnRule();
  options.concurrency = Concurrency::kEmulator;
  return options;
}

// Clients send no Rollback after a failed Commit, so its locks would stay until it is idle.
TEST_F(DatabaseRefusal, ACommitThatFailsLetsGoOfItsLocks) {
  LoadLock(spanner, "job");
  const TransactionId id = calls.Begin("");
  calls.Run("", id, SetWriter("job", "a"));
  const Response refused = calls.Ask(
      Commit{.transaction = id, .mutations = {WriteLock(MutationKind::kInsert, "job", "b")}});
  EXPECT_EQ(refused.status.code, Code::kAlreadyExists);

  Client other = spanner.NewClient();
  other.Commits(SetWriter("job", "c"));
  EXPECT_EQ(std::get<std::string>(spanner.NewestRow(kLocks, {"job"})->at(3)), "c");
}

TEST_F(DatabaseRefusal, ASingleUseCommitThatFailsIsForgotten) {
  LoadLock(spanner, "job");
  const Response refused =
      calls.Ask(Commit{.transaction = SingleUseWrite{},
                       .mutations = {WriteLock(MutationKind::kInsert, "job", "b")}});
  EXPECT_EQ(refused.status.code, Code::kAlreadyExists);
  EXPECT_TRUE(spanner.database.transactions.empty());
  EXPECT_TRUE(spanner.database.finished.empty());
}

// A client may send a wrong query and then its DML under the same number.
TEST_F(DatabaseRefusal, AWrongQueryTakesNoSequenceNumberAndWrongDmlDoes) {
  LoadLock(spanner, "job");
  const TransactionId id = calls.Begin("");
  EXPECT_EQ(calls.Run("", id, SqlText("SELECT nosuch FROM locktable"), 1).status.code,
            Code::kInvalidArgument);
  EXPECT_EQ(calls.Run("", id, SetWriter("job", "a"), 1).result.row_count, 1);
  EXPECT_EQ(calls.Run("", id, SqlText("UPDATE locktable SET nosuch = 1 WHERE TRUE"), 2).status.code,
            Code::kInvalidArgument);
  EXPECT_THAT(calls.Run("", id, SetWriter("job", "b"), 2).status.message, HasSubstr("seqno"));
}

// A client that repeats a statement repeats it by the same call.
TEST_F(DatabaseRefusal, AStatementDoesNotRepeatABatchOfIt) {
  LoadLock(spanner, "job");
  const TransactionId id = calls.Begin("");
  const ExecuteBatchDml batch = {
      .transaction = id, .statements = {SetWriter("job", "a")}, .sequence_number = 1};
  const Response first = calls.Ask(batch);
  EXPECT_EQ(first.batch.at(0).row_count, 1);
  EXPECT_EQ(calls.Ask(batch), first);
  EXPECT_THAT(calls.Run("", id, SetWriter("job", "a"), 1).status.message,
              HasSubstr("a different request with this seqno"));
}

// The column no longer becomes the commit timestamp, but the model still treats it as pending.
TEST_F(DatabaseRefusal, AColumnThatWasPendingStaysUnreadable) {
  spanner.Use(TheColumnRule());
  LoadLock(spanner, "job");
  Attempt attempt = spanner.Runs(Heartbeat("job"));
  attempt.Run(
      SqlText("UPDATE locktable SET heartbeat = TIMESTAMP '2020-01-01T00:00:00Z' "
              "WHERE name = 'job'"));
  EXPECT_EQ(attempt.Run(ReadHeartbeat("job")).status.code, Code::kInvalidArgument);
  EXPECT_EQ(attempt.Run(ReadWriter("job")).status, Status{});
  attempt.Commit();
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"})->at(1), Value(At("2020-01-01T00:00:00Z")));
}

TEST_F(DatabaseRefusal, TheRowsOfAnInsertMakeTheSameColumnsPending) {
  Attempt attempt = spanner.NewClient().Begin();
  const Response mixed = attempt.Run(
      SqlText("INSERT locktable (name, heartbeat) VALUES ('a', PENDING_COMMIT_TIMESTAMP()), "
              "('b', TIMESTAMP '2020-01-01T00:00:00Z')"));
  EXPECT_EQ(mixed.status.code, Code::kInvalidArgument);
  EXPECT_THAT(mixed.status.message, HasSubstr("PENDING_COMMIT_TIMESTAMP"));
}

// No key was looked up, so no other transaction has to wait for it.
TEST_F(DatabaseRefusal, AnInsertThatCannotBeEvaluatedTakesNoLocks) {
  Attempt attempt = spanner.NewClient().Begin();
  EXPECT_EQ(attempt
                .Run(SqlText("INSERT locktable (name, writer) VALUES ('a', 'x'), "
                             "('b', CAST(1 / 0 AS STRING))"))
                .status.code,
            Code::kOutOfRange);
  EXPECT_TRUE(spanner.Find(attempt.id)->reads.empty());
}

// --- mutations -----------------------------------------------------------------------------------

TEST_F(DatabaseRefusal, MutationsFailInTheirTurn) {
  // The first is wrong by its row, the second by its value: the first error is reported.
  LoadLock(spanner, "job");
  Mutation future = WriteLock(MutationKind::kInsert, "other", "a");
  future.rows[0][1] = spanner.now + Seconds(3600);
  const Mutation taken = WriteLock(MutationKind::kInsert, "job", "a");
  EXPECT_EQ(calls.WhyRefused({taken, future}).code, Code::kAlreadyExists);
  EXPECT_EQ(calls.WhyRefused({future, taken}).code, Code::kFailedPrecondition);
}

TEST_F(DatabaseRefusal, WhatIsWrongWithoutAnyRowIsSaidFirst) {
  LoadLock(spanner, "job");
  Mutation unknown = WriteLock(MutationKind::kInsert, "other", "a");
  unknown.columns[3] = "nosuch";
  const Status status = calls.WhyRefused({WriteLock(MutationKind::kInsert, "job", "a"), unknown});
  EXPECT_EQ(status.code, Code::kNotFound);
  EXPECT_THAT(status.message, HasSubstr("nosuch"));
}

// --- the emulator's rule -------------------------------------------------------------------------

// Transactions of two sessions, since a session has only one; the holder has the lock.
struct TwoSessions {
  TwoSessions() { LoadLock(spanner, "job"); }
  // Begins a transaction that takes the lock by a write.
  TransactionId Holder() {
    const TransactionId id = calls.Begin(holders);
    EXPECT_EQ(calls.Run(holders, id, SetWriter("job", "a")).status, Status{});
    return id;
  }
  Spanner spanner{TheEmulatorsRule()};
  Calls calls{spanner};
  SessionName holders = calls.NewSession(false);
  SessionName others = calls.NewSession(false);
};

TEST(DatabaseEmulator, ATransactionThatIsDoomedHoldsTheLockNoMore) {
  TwoSessions two;
  const TransactionId id = two.calls.Begin(two.others);
  EXPECT_EQ(two.calls.Run(two.others, id, InsertLock("job", "a")).status.code,
            Code::kAlreadyExists);
  EXPECT_EQ(two.calls.Run("", BeginReadWrite{}, SetWriter("job", "b")).status, Status{});
}

TEST(DatabaseEmulator, ANextAttemptIsBornWithoutTheLock) {
  TwoSessions two;
  const TransactionId holder = two.Holder();
  const TransactionId newcomer = two.calls.Begin(two.others);
  EXPECT_EQ(two.calls.Run(two.others, newcomer, SetWriter("job", "b")).status.code, Code::kAborted);
  two.calls.Begin(two.others);
  EXPECT_EQ(two.calls.Commits(two.holders, holder).status, Status{});
}

// A Commit without mutations takes it too, although it writes nothing.
TEST(DatabaseEmulator, AnyCommitTakesTheLock) {
  TwoSessions two;
  two.Holder();
  const TransactionId other = two.calls.Begin(two.others);
  EXPECT_EQ(two.calls.WhyRefused(two.others, other), Code::kAborted);
}

}  // namespace
}  // namespace whorl::model::database_refusal_test
