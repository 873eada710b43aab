// Sessions: regular and multiplexed, deleted and expired; and precommit tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/spanner_model/database_calls_testing.h"

namespace whorl::model::database_session_test {
namespace {

using ::testing::HasSubstr;

using DatabaseSession = DatabaseCallsTest;
using DatabasePrecommitToken = DatabaseCallsTest;

TEST_F(DatabaseSession, ACallOnAnUnknownSessionIsNotFoundByItsName) {
  for (const Request& request : std::vector<Request>{
           ExecuteSql{
               .session = "gone", .transaction = SingleUseRead{}, .statement = ReadToken("a")},
           ExecuteSql{
               .session = "gone", .transaction = BeginReadWrite{}, .statement = ReadToken("a")},
           BeginTransaction{.session = "gone"}, Commit{.session = "gone"},
           Rollback{.session = "gone"}, Read{.session = "gone"}, ExecuteBatchDml{.session = "gone"},
           GetSession{.session = "gone"}}) {
    const Response response = calls.Ask(request);
    EXPECT_EQ(response.status.code, Code::kNotFound) << RequestName(request);
    EXPECT_THAT(response.status.message, HasSubstr("Session not found: gone"));
  }
}

TEST_F(DatabaseSession, HasANameOfItsOwnAndIsFoundByIt) {
  const SessionName first = calls.NewSession(false);
  const SessionName second = calls.NewSession(true);
  EXPECT_NE(first, second);
  EXPECT_FALSE(calls.Ask(GetSession{.session = first}).sessions.at(0).multiplexed);
  EXPECT_TRUE(calls.Ask(GetSession{.session = second}).sessions.at(0).multiplexed);
}

TEST_F(DatabaseSession, DeletingOneReleasesItsLocksAndMayBeRepeated) {
  LoadLock(spanner, "job");
  const SessionName session = calls.NewSession(false);
  const TransactionId id = calls.Begin(session);
  calls.Run(session, id, ReadWriter("job"));
  Attempt writer = spanner.RunsLater(SetWriter("job", "b"));
  writer.WaitsToCommit();  // the session's transaction is older
  EXPECT_EQ(calls.Ask(DeleteSession{.session = session}).status, Status{});
  EXPECT_EQ(calls.Ask(DeleteSession{.session = session}).status, Status{});
  EXPECT_TRUE(spanner.IsCommitting(writer.id));
  EXPECT_EQ(calls.Run(session, id, ReadWriter("job")).status.code, Code::kNotFound);
}

TEST_F(DatabaseSession, ACallThatWaitsIsToldThatItsSessionIsGone) {
  LoadLock(spanner, "job");
  Attempt reader = spanner.Runs(ReadWriter("job"));
  spanner.Advance(Milliseconds(1));
  const SessionName session = calls.NewSession(false);
  const TransactionId id = calls.Begin(session);
  calls.Run(session, id, SetWriter("job", "b"));
  const CallName commit = calls.Send(Commit{.session = session, .transaction = id});
  ASSERT_TRUE(spanner.Waits(commit));
  calls.Ask(DeleteSession{.session = session});
  EXPECT_EQ(spanner.AnswerTo(commit).status.code, Code::kNotFound);
}

TEST_F(DatabaseSession, AnIdleOneExpiresAndUseKeepsItAlive) {
  const SessionName idle = calls.NewSession(false);
  const SessionName used = calls.NewSession(false);
  const SessionName multiplexed = calls.NewSession(true);
  spanner.Advance(Seconds(3000));
  EXPECT_EQ(calls.Run(used, SingleUseRead{}, ReadToken("job")).status, Status{});
  spanner.Advance(Seconds(3000));
  EXPECT_EQ(calls.Ask(GetSession{.session = idle}).status.code, Code::kNotFound);
  EXPECT_EQ(calls.Ask(GetSession{.session = used}).status, Status{});
  spanner.Advance(Seconds(27 * 24 * 3600));
  EXPECT_EQ(calls.Ask(GetSession{.session = multiplexed}).status, Status{});
  EXPECT_EQ(calls.Ask(GetSession{.session = used}).status.code, Code::kNotFound);
}

TEST_F(DatabaseSession, ARegularOneHasOneReadWriteTransaction) {
  const SessionName session = calls.NewSession(false);
  const TransactionId first = calls.Begin(session);
  calls.Run(session, first, InsertLock("job", "a"));
  const TransactionId second = calls.Begin(session);
  EXPECT_EQ(calls.WhyRefused(session, first), Code::kAborted);
  calls.Run(session, second, InsertLock("job", "b"));
  EXPECT_EQ(calls.Commits(session, second).status, Status{});
}

TEST_F(DatabaseSession, AMultiplexedOneHasMany) {
  const SessionName session = calls.NewSession(true);
  const TransactionId first = calls.Begin(session);
  const TransactionId second = calls.Begin(session);
  const Response one = calls.Run(session, first, InsertLock("a", "x"));
  const Response other = calls.Run(session, second, InsertLock("b", "x"));
  for (const auto& [id, response] : {std::pair(first, one), std::pair(second, other)}) {
    EXPECT_EQ(
        calls
            .Commits(Commit{
                .session = session, .transaction = id, .precommit_token = response.precommit_token})
            .status,
        Status{});
  }
}

TEST_F(DatabaseSession, ATransactionOfAnotherSessionIsNotFound) {
  const SessionName mine = calls.NewSession(false);
  const SessionName other = calls.NewSession(false);
  const TransactionId id = calls.Begin(mine);
  EXPECT_EQ(calls.Run(other, id, ReadToken("job")).status.code, Code::kNotFound);
  EXPECT_EQ(calls.WhyRefused(other, id), Code::kNotFound);
  EXPECT_EQ(calls.Ask(Rollback{.session = other, .transaction = id}).status, Status{});
  EXPECT_EQ(calls.Run(mine, id, ReadToken("job")).status, Status{});
}

// On a regular session the next transaction after an ABORTED one is its next attempt.
TEST_F(DatabaseSession, ARegularOneKeepsTheAgeOfAnAbortedAttempt) {
  LoadLock(spanner, "job");
  Attempt oldest = spanner.Runs(SetWriter("job", "first"));
  spanner.Advance(Milliseconds(1));
  const SessionName session = calls.NewSession(false);
  const TransactionId aborted = calls.Begin(session);
  calls.Run(session, aborted, ReadWriter("job"));
  const std::optional<Age> age = spanner.Find(aborted)->age;
  oldest.Commit();  // wounds the younger reader
  ASSERT_EQ(calls.WhyRefused(session, aborted), Code::kAborted);
  spanner.Advance(Seconds(1));
  const TransactionId next = calls.Begin(session);
  ASSERT_TRUE(spanner.Find(next)->age);
  EXPECT_EQ(spanner.Find(next)->age->since, age->since);
}

TEST_F(DatabasePrecommitToken, ComesWithEveryStatementOfAMultiplexedSessionOnly) {
  const SessionName multiplexed = calls.NewSession(true);
  const Response first = calls.Run(multiplexed, BeginReadWrite{}, InsertTakeover("job"));
  const Response second = calls.Run(multiplexed, first.transaction, DeleteTakeoverRows("other"), 2);
  EXPECT_FALSE(first.precommit_token.empty());
  EXPECT_LT(first.precommit_sequence, second.precommit_sequence);
  EXPECT_NE(first.precommit_token, second.precommit_token);
  EXPECT_TRUE(calls.Run(multiplexed, SingleUseRead{}, ReadToken("job")).precommit_token.empty());
  const SessionName regular = calls.NewSession(false);
  EXPECT_TRUE(calls.Run(regular, BeginReadWrite{}, InsertLock("b", "a")).precommit_token.empty());
}

TEST_F(DatabasePrecommitToken, WithoutOneACommitFails) {
  const SessionName session = calls.NewSession(true);
  const TransactionId id = calls.Run(session, BeginReadWrite{}, InsertLock("job", "a")).transaction;
  EXPECT_EQ(calls.WhyRefused(session, id), Code::kFailedPrecondition);
}

// The answer carries a token to show that nothing was committed.
TEST_F(DatabasePrecommitToken, AnOldOneIsAnsweredByTheNewOneAndMutationsAreKept) {
  const SessionName session = calls.NewSession(true);
  const Response first = calls.Run(session, BeginReadWrite{}, InsertLock("job", "a"));
  calls.Run(session, first.transaction, InsertLock("job_2", "a"), 2);
  const Response again =
      calls.Ask(Commit{.session = session,
                       .transaction = first.transaction,
                       .mutations = {WriteLock(MutationKind::kInsert, "job_3", "a")},
                       .precommit_token = first.precommit_token});
  EXPECT_EQ(again.status, Status{});
  ASSERT_FALSE(again.precommit_token.empty());
  EXPECT_FALSE(spanner.IsCommitting(first.transaction));
  const Response committed = calls.Commits(Commit{.session = session,
                                                  .transaction = first.transaction,
                                                  .precommit_token = again.precommit_token});
  EXPECT_EQ(committed.status, Status{});
  EXPECT_TRUE(committed.precommit_token.empty());
  for (const char* name : {"job", "job_2", "job_3"}) {
    EXPECT_TRUE(spanner.NewestRow(kLocks, {name})) << name;
  }
}

TEST_F(DatabasePrecommitToken, ATransactionOfMutationsGetsOneForItsKey) {
  const SessionName session = calls.NewSession(true);
  const Mutation insert = WriteLock(MutationKind::kInsert, "job", "a");
  const Response begun = calls.Ask(
      BeginTransaction{.session = session, .options = BeginReadWrite{}, .mutation_key = {insert}});
  ASSERT_FALSE(begun.precommit_token.empty());
  EXPECT_EQ(calls
                .Commits(Commit{.session = session,
                                .transaction = begun.transaction,
                                .mutations = {insert},
                                .precommit_token = begun.precommit_token})
                .status,
            Status{});
}

}  // namespace
}  // namespace whorl::model::database_session_test
