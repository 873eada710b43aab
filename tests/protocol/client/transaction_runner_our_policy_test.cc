// What differs under our own retry policy, when a transaction is given up, and what a result says
// about its Commit: the rules on which a lease's own clock rests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/client/transaction_runner.h"
#include "tests/protocol/client/transaction_runner_testing.h"

namespace whorl::transaction_runner_our_policy_test {
namespace {

using testing::ElementsAre;

class OurPolicy : public testing::Test {
 protected:
  Client client{OurRetryPolicy()};
};
using RunnerOurPolicyTest = OurPolicy;
using RunnerCommitSentTest = OurPolicy;
using RunnerReadTimestampTest = OurPolicy;
using RunnerGiveUpTest = OurPolicy;

Transaction GivenUpAt(LocalInstant at, Transaction transaction = InsertTransaction()) {
  transaction.give_up_at = at;
  return transaction;
}

TEST_F(RunnerOurPolicyTest, AnErrorOfTheFirstStatementIsTheTransactions) {
  // One call for a losing INSERT, where Go's client sends four.
  EXPECT_THAT(client.Runs(InsertTransaction()).HearsError(Code::kAlreadyExists).did,
              ElementsAre("INSERT begin seq=1", "aborted ALREADY_EXISTS"));
}

TEST_F(RunnerOurPolicyTest, AnAbortedFirstStatementRunsAgain) {
  client.Runs(InsertTransaction()).HearsAborted().Waits().HearsAnswer("t1").HearsAnswer();
  client.HearsCommit(At(Seconds(1)));
  EXPECT_EQ(client.Result().outcome, Outcome::kCommitted);
}

TEST_F(RunnerCommitSentTest, IsTheFirstSendingOfTheCommitThatCommitted) {
  // A deadline that counts from a resend, or from the reply, would be too late (finding V2).
  client.Runs(InsertTransaction()).Later(Seconds(1)).HearsAnswer("t1");
  const LocalInstant sent = client.now;
  client.Later(Seconds(2)).HearsError(Code::kUnavailable).Waits().Later(Seconds(1));
  client.HearsCommit(At(Seconds(1)));
  EXPECT_EQ(client.Result().commit_sent, sent);
}

TEST_F(RunnerCommitSentTest, AnAttemptThatWasAbortedDoesNotCount) {
  client.Runs(InsertTransaction()).HearsAnswer("t1").Later(Seconds(1)).HearsAborted().Waits();
  client.Later(Seconds(1)).HearsAnswer("t2");
  const LocalInstant sent = client.now;
  client.HearsCommit(At(Seconds(1)));
  EXPECT_EQ(client.Result().commit_sent, sent);
}

TEST_F(RunnerCommitSentTest, IsToldOfAnUnknownOutcomeAndNotWithoutACommit) {
  Client unknown(OurRetryPolicy());
  unknown.Runs(InsertTransaction()).HearsAnswer("t1");
  const LocalInstant sent = unknown.now;
  unknown.HearsError(Code::kDeadlineExceeded);
  EXPECT_EQ(unknown.Result().outcome, Outcome::kUnknown);
  EXPECT_EQ(unknown.Result().commit_sent, sent);
  Client none(OurRetryPolicy());
  none.Runs(InsertTransaction()).HearsError(Code::kInternal);
  EXPECT_EQ(none.Result().commit_sent, std::nullopt);
}

TEST_F(RunnerReadTimestampTest, IsAskedForAndToldIfTheTransactionWantsIt) {
  Transaction read = ReadTransaction();
  read.return_read_timestamp = true;
  client.Runs(read);
  const auto execute = std::get<ExecuteSql>(RequestOf(client.state));
  EXPECT_TRUE(std::get<SingleUseRead>(execute.transaction).return_read_timestamp);
  Response response;
  response.read_timestamp = At(Seconds(5));
  client.Hears(response);
  EXPECT_EQ(client.Result().read_timestamp, At(Seconds(5)));
}

TEST_F(RunnerGiveUpTest, NoCallWaitsLonger) {
  client.Runs(GivenUpAt(client.now + Seconds(3)));
  EXPECT_EQ(client.Sent().deadline, client.now + Seconds(3));
}

TEST_F(RunnerGiveUpTest, AnAttemptIsNotBegunAnyMore) {
  // A heartbeat of a term that is over must not be sent.
  client.Runs(GivenUpAt(client.now + Seconds(3))).HearsAnswer("t1").Later(Seconds(2));
  EXPECT_EQ(client.HearsAborted(Seconds(10)).did.back(), "wait 1s")
      << "no longer than there is time";
  EXPECT_EQ(client.Waits().did.back(), "aborted DEADLINE_EXCEEDED");
}

TEST_F(RunnerGiveUpTest, ACommitIsNotSentAnyMore) {
  // The process stood still between the statement and its Commit.
  client.Runs(GivenUpAt(client.now + Seconds(3))).Later(Seconds(4)).HearsAnswer("t1");
  EXPECT_EQ(client.did.back(), "Rollback t1");
  EXPECT_EQ(client.HearsAnswer().did.back(), "aborted DEADLINE_EXCEEDED");
}

TEST_F(RunnerGiveUpTest, ACommitThatWasSentIsUnknown) {
  client.Runs(GivenUpAt(client.now + Seconds(3))).HearsAnswer("t1").Later(Seconds(3));
  client.HearsError(Code::kUnavailable).Waits();
  EXPECT_EQ(client.Result().outcome, Outcome::kUnknown);
}

}  // namespace
}  // namespace whorl::transaction_runner_our_policy_test
