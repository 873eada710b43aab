// Transactions whose body tests what was read or changed: what the runner sends and says, how it
// retries their query, and that nothing is sent once their time is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/client/transaction_runner.h"
#include "protocol/lease_lock/words.h"
#include "tests/protocol/client/transaction_runner_testing.h"

namespace whorl::transaction_runner_body_test {
namespace {

using testing::ElementsAre;

using RunnerBodyTest = RunnerFixture;

// Reads the row and takes the lock, unless another owner's token is younger than 10 s.
Transaction AcquireTransaction() {
  Transaction transaction = {.step = lease_lock::steps::kAcquire,
                             .mode = Mode::kReadWrite,
                             .statements = {Statement1(lease_lock::steps::kAcquire, "SELECT")}};
  transaction.mutations.push_back({.kind = MutationKind::kInsertOrUpdate, .table = "locktable"});
  transaction.body = UnlessHeld{.me = "a", .lease = Seconds(10)};
  return transaction;
}
Transaction BeatTransaction() {
  Transaction transaction = {.step = lease_lock::steps::kHeartbeat,
                             .mode = Mode::kReadWrite,
                             .statements = {Statement1(lease_lock::steps::kHeartbeat, "UPDATE")}};
  transaction.body = IfRowChanged{};
  return transaction;
}
Response Row1(std::string owner, Duration age) {
  Response response;
  response.transaction = "t1";
  response.result.rows = {{std::move(owner), At(Duration{}), At(age)}};
  return response;
}
Response Changed(int64_t rows) {
  Response response;
  response.transaction = "t1";
  response.result.row_count = rows;
  return response;
}

TEST_F(RunnerBodyTest, AFreeLockIsWrittenByTheCommit) {
  client.Runs(AcquireTransaction()).Hears(Row1("b", Seconds(10))).HearsCommit(At(Seconds(1)));
  EXPECT_THAT(client.did, ElementsAre("SELECT begin seq=1", "Commit t1 +locktable", "committed"));
}

TEST_F(RunnerBodyTest, AHeldOneIsRolledBackAndTheRowTold) {
  // The process that asked waits for the rest of that lease.
  client.Runs(AcquireTransaction()).Hears(Row1("b", Seconds(9))).HearsAnswer();
  EXPECT_THAT(client.did,
              ElementsAre("SELECT begin seq=1", "Rollback t1", "aborted FAILED_PRECONDITION"));
  ASSERT_EQ(client.Result().results.size(), 1U);
  EXPECT_EQ(client.Result().results.front().rows.size(), 1U);
}

TEST_F(RunnerBodyTest, ARetryTestsAnew) {
  // The one that aborted us may have taken the lock.
  client.Runs(AcquireTransaction()).Hears(Row1("b", Seconds(10))).HearsAborted().Waits();
  EXPECT_EQ(client.Hears(Row1("c", Milliseconds(20))).HearsAnswer().did.back(),
            "aborted FAILED_PRECONDITION");
}

TEST_F(RunnerBodyTest, ItsQueryIsRetriedAsQueriesAre) {
  // From 20 ms and for an hour, where DML has 250 ms and 30 s.
  client.Runs(AcquireTransaction());
  EXPECT_EQ(client.Sent().deadline, client.now + Seconds(3600));
  EXPECT_EQ(client.HearsError(Code::kUnavailable).did.back(), "wait 20ms");
  Client beat;
  beat.Runs(BeatTransaction());
  EXPECT_EQ(beat.Sent().deadline, beat.now + Seconds(30));
}

TEST_F(RunnerBodyTest, AnUpdateOfNoRowIsRolledBackAndTold) {
  // That is how a leader learns that it was superseded.
  EXPECT_THAT(client.Runs(BeatTransaction()).Hears(Changed(0)).HearsAnswer().did,
              ElementsAre("UPDATE begin seq=1", "Rollback t1", "aborted FAILED_PRECONDITION"));
  EXPECT_EQ(client.Result().results.front().row_count, 0);
  Client changed;
  changed.Runs(BeatTransaction()).Hears(Changed(1)).HearsCommit(At(Seconds(1)));
  EXPECT_EQ(changed.did.back(), "committed");
}

TEST_F(RunnerBodyTest, AMaskedErrorIsNotTriedAgainOnceItsTimeIsOver) {
  // Go's client would begin again with a context that has ended, and send nothing.
  Transaction transaction = BeatTransaction();
  transaction.give_up_at = client.now + Seconds(5);
  client.Runs(transaction).Later(Seconds(5)).HearsError(Code::kDeadlineExceeded);
  EXPECT_THAT(client.did, ElementsAre("UPDATE begin seq=1", "aborted DEADLINE_EXCEEDED"));
}

}  // namespace
}  // namespace whorl::transaction_runner_body_test
