// AbortCall: a call whose transaction Spanner aborts for reasons of its own.
#include <gtest/gtest.h>

#include <vector>

#include "tests/spanner_model/database_testing.h"

namespace whorl::model::database_abort_test {
namespace {

using DatabaseAbort = DatabaseTest;

// Whether AbortCall aborted; its effects are kept apart from earlier ones.
bool Aborts(Spanner& spanner, const CallName& call, const Request& request,
            std::vector<DatabaseEffect>& said) {
  const ClockReading now = spanner.Now();
  said.clear();
  return AbortCall(spanner.catalogue, spanner.database, call, request, {&now, 1}, said);
}

CallName NameOf(uint16_t call) { return {.process = {.node = 9, .incarnation = 1}, .call = call}; }

TEST_F(DatabaseAbort, EndsTheTransactionAndReleasesItsLocks) {
  LoadLock(spanner, "job");
  Attempt older = spanner.Runs(ReadWriter("job"));
  Attempt younger = spanner.RunsLater(SetWriter("job", "b"));
  younger.WaitsToCommit();
  std::vector<DatabaseEffect> said;
  ASSERT_TRUE(Aborts(spanner, NameOf(1),
                     ExecuteSql{.transaction = older.id, .statement = ReadWriter("job")}, said));
  EXPECT_EQ(std::get<Aborted>(said[0]).begun_by, spanner.Find(older.id)->begun_by);
  EXPECT_EQ(std::get<Replied>(said[1]).response.status.code, Code::kAborted);
  EXPECT_EQ(spanner.Find(older.id)->phase, TransactionPhase::kAborted);
  EXPECT_TRUE(spanner.IsCommitting(younger.id));  // it was woken
  EXPECT_EQ(older.TryCommit().status.code, Code::kAborted);
}

TEST_F(DatabaseAbort, OfTheCallThatBeginsLeavesNothing) {
  std::vector<DatabaseEffect> said;
  ASSERT_TRUE(Aborts(spanner, NameOf(0),
                     ExecuteSql{.transaction = BeginReadWrite{}, .statement = ReadWriter("job")},
                     said));
  EXPECT_EQ(std::get<Aborted>(said[0]).begun_by, NameOf(0));
  EXPECT_TRUE(std::get<Replied>(said[1]).response.transaction.empty());
  EXPECT_TRUE(spanner.database.transactions.empty());
}

// A transaction that is committing may become visible soon, so answering ABORTED would be wrong.
TEST_F(DatabaseAbort, DoesNothingToWhatCannotBeAborted) {
  LoadLock(spanner, "job");
  Attempt committing = a.Runs(SetWriter("job", "a"));
  committing.SendCommit();
  const Database before = spanner.database;
  std::vector<DatabaseEffect> said;
  for (const Request& request : std::vector<Request>{
           Commit{.transaction = committing.id}, Rollback{.transaction = committing.id},
           BeginTransaction{.options = BeginReadWrite{}}, Commit{.transaction = TransactionId("?")},
           ExecuteSql{.transaction = SingleUseRead{}, .statement = ReadWriter("job")}}) {
    EXPECT_FALSE(Aborts(spanner, NameOf(1), request, said));
    EXPECT_TRUE(said.empty());
  }
  EXPECT_EQ(spanner.database, before);
  spanner.CompleteCommit(committing.id);
  EXPECT_FALSE(Aborts(spanner, NameOf(1), Commit{.transaction = committing.id}, said));
}

}  // namespace
}  // namespace whorl::model::database_abort_test
