// The google-cloud-cpp client against whorl's own server: what all clients do
// (server_client_testing.h), times and deadlines, a missing server, and the effect of a hanging
// process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "real_client/google_cloud/google_cloud_client.h"
#include "real_client/os.h"
#include "real_client/spanner_client.h"
#include "tests/real_client/server_client_testing.h"

namespace whorl::real_client::client_test {
namespace {

using test_transactions::RunIn;
using testing::StartsWith;

template <typename Client>
std::unique_ptr<TransactionClient> Make(ClientOptions options) {
  std::unique_ptr<Client> client;
  EXPECT_EQ(FormatStatus(Client::Create(std::move(options), client)), "OK");
  return client;
}
ClientOptions With(RetryPolicy policy) {
  return {.connection = {.credentials = Plaintext{}}, .retry = policy};
}

const auto kClient = testing::Values(
    ServerClientCase{"GoogleCloud", Make<GoogleCloudClient>, /*destructor_waits=*/true});

class GoogleCloudClientTest : public ServerClientTest {};

INSTANTIATE_TEST_SUITE_P(Clients, ServerClientTest, kClient, NameOfServerCase);
INSTANTIATE_TEST_SUITE_P(Clients, GoogleCloudClientTest, kClient, NameOfServerCase);

// --- options -------------------------------------------------------------------------------------

TEST(GoogleCloudOptionsTest, AreRefusedWhereTheyCannotBeMeant) {
  std::unique_ptr<GoogleCloudClient> client;
  EXPECT_EQ(GoogleCloudClient::Create({.database = "locks"}, client).code, Code::kInvalidArgument);
  EXPECT_EQ(
      GoogleCloudClient::Create({.database = server::TestDatabase(), .threads = 0}, client).code,
      Code::kInvalidArgument);
  // It would be ignored, and the transactions would have the rights of the whole database.
  EXPECT_EQ(GoogleCloudClient::Create(
                {.database = server::TestDatabase(), .database_role = "locker"}, client)
                .code,
            Code::kInvalidArgument);
  EXPECT_EQ(client, nullptr);
}

TEST(GoogleCloudOptionsTest, TheVersionSaysWhetherItCanBeOptimistic) {
  EXPECT_THAT(GoogleCloudClient::Version(), StartsWith("v"));
  if (GoogleCloudClient::Version().starts_with("v1.")) {
    EXPECT_FALSE(GoogleCloudClient::CanBeOptimistic());
  }
}

// --- times ---------------------------------------------------------------------------------------

TEST_P(GoogleCloudClientTest, CommitSentIsBetweenTheStatementAndTheAnswer) {
  // A lease counts from this time, which must not be later than Spanner's time of the Commit.
  const LocalInstant before = MonotonicNow();
  const TransactionResult result = Run(OneInsert("a"));
  ASSERT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
  ASSERT_TRUE(result.commit_sent.has_value());
  EXPECT_GT(*result.commit_sent, before);
  EXPECT_LT(*result.commit_sent, MonotonicNow());
}

TEST_P(GoogleCloudClientTest, AReadTellsItsTimestampWhenItIsAskedTo) {
  // From it, fenced_lease learns whether a lease that it sees for the first time has expired.
  const TransactionResult written = Run(OneInsert("a"));
  Transaction read = Query(server::SelectValue("a"));
  read.return_read_timestamp = true;
  const TransactionResult result = Run(read);
  ASSERT_TRUE(result.read_timestamp.has_value()) << FormatStatus(result.status);
  EXPECT_GE(*result.read_timestamp, written.commit_timestamp);
}

TEST_P(GoogleCloudClientTest, WhatIsGivenUpBeforeItsTurnIsNotSent) {
  // The only thread hangs, so another transaction reaches its deadline in the queue.
  ClientOptions options = With(OurRetryPolicy());
  options.threads = 1;
  client_ = Connect(options);
  Hold("Commit");
  Answered<TransactionResult> first;
  client_->Run(OneInsert("a"), first.Callback());
  transcript_.Await("Commit", CallPhase::kArrived);
  Transaction late = Query(server::SelectValue("a"));
  late.give_up_at = MonotonicNow() + Milliseconds(20);
  const TransactionResult result = Run(late);
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kDeadlineExceeded) << FormatStatus(result.status);
  Answered<TransactionResult> next;
  client_->Run(OneInsert("b"), next.Callback());
  gate_->Open();
  EXPECT_EQ(first.Wait().outcome, Outcome::kCommitted);
  EXPECT_EQ(next.Wait().outcome, Outcome::kCommitted) << "the thread came free";
  client_.reset();
  EXPECT_EQ(transcript_.Count("ExecuteStreamingSql", CallPhase::kArrived), 0);
}

TEST_P(GoogleCloudClientTest, ACommitThatHangsIsUnknownWhenItsTimeIsOver) {
  // The library does not know give_up_at.
  Hold("Commit");
  Transaction transaction = OneInsert("a");
  transaction.give_up_at = MonotonicNow() + Milliseconds(500);
  const TransactionResult result = Run(transaction);
  EXPECT_EQ(result.outcome, Outcome::kUnknown);
  EXPECT_EQ(result.status.code, Code::kDeadlineExceeded) << FormatStatus(result.status);
  EXPECT_TRUE(result.commit_sent.has_value());
  gate_->Open();
}

TEST_P(GoogleCloudClientTest, TheLibrarysOwnCallsEndByThePolicysTimeouts) {
  // Otherwise the destructor would wait for ever.
  RetryPolicy policy = OurRetryPolicy();
  policy.commit_timeout = Milliseconds(50);
  client_ = Connect(With(policy));
  Hold("Commit");
  EXPECT_EQ(Run(OneInsert("a")).outcome, Outcome::kUnknown);
  client_.reset();
}

// --- giving up -----------------------------------------------------------------------------------

TEST_P(GoogleCloudClientTest, ACancelledStatementIsAnsweredAtOnceAndRolledBackLater) {
  // Its locks would block others until Spanner aborts it for being idle.
  Hold("ExecuteSql", /*nth=*/2);
  Answered<TransactionResult> answered;
  const auto run = client_->Run(ReadWrite({server::InsertRow("a", 1), server::InsertRow("b", 1)}),
                                answered.Callback());
  transcript_.Await("ExecuteSql", CallPhase::kArrived, 2);
  client_->Cancel(run);
  EXPECT_EQ(answered.Wait().outcome, Outcome::kAborted);
  EXPECT_EQ(answered.Wait().status.code, Code::kCancelled);
  EXPECT_EQ(transcript_.Count("Rollback", CallPhase::kArrived), 0) << "the call is under way";
  gate_->Open();
  transcript_.Await("Rollback", CallPhase::kAnswered);
}

// --- no server -----------------------------------------------------------------------------------

TEST_P(GoogleCloudClientTest, NobodyWaitsForAServerThatIsNotThere) {
  // Not even concurrent callers that need sessions, which the library would create one by one.
  ClientOptions options = With(OurRetryPolicy());
  options.retry.statement_timeout = Milliseconds(100);
  options.database = server::TestDatabase();
  options.connection.endpoint = server_->address();
  client_.reset();
  server_.reset();
  client_ = GetParam().make(std::move(options));
  std::vector<Answered<TransactionResult>> runs(50);
  for (auto& run : runs) client_->Run(OneInsert("a"), run.Callback());
  for (auto& run : runs) EXPECT_EQ(run.Wait().outcome, Outcome::kAborted) << "nothing was sent";
  client_.reset();
}

TEST_P(GoogleCloudClientTest, AServerThatComesBackIsFoundAgain) {
  const int port = server_->port();
  ASSERT_EQ(Run(OneInsert("a")).outcome, Outcome::kCommitted);
  server_.reset();
  Answered<TransactionResult> read;
  client_->Run(Query(server::SelectValue("a")), read.Callback());
  server::ServerOptions options = server::TestOptions();
  options.port = port;
  server_ = server::StartOrThrow(std::move(options));
  ExpectCommitted(read.Wait());
}

// --- a process that hangs ------------------------------------------------------------------------

// A process hangs inside a transaction after it has read a row: its second statement does not reach
// Spanner. Another process writes that row. The server's clock stands still.
class GoogleCloudHangTest : public testing::Test {
 protected:
  GoogleCloudHangTest() {
    server::ServerOptions options = server::TestOptions();
    options.backend.commit_wait = server::CommitWait::kNone;
    options.clock = clock_;
    options.observer = transcript_.Observer();
    server_ = server::StartOrThrow(std::move(options));
    other_ = Connect<SpannerClient>();
    EXPECT_EQ(RunIn(*other_, OneInsert("a")).outcome, Outcome::kCommitted);
    server_->SetFaults([gate = gate_](const CallInfo& call) -> server::FaultAction {
      if (call.method == "ExecuteSql" && call.nth == 2) return server::HoldRequest{gate};
      return server::LetPass{};
    });
  }
  ~GoogleCloudHangTest() override { gate_->Open(); }

  template <typename Client>
  std::unique_ptr<TransactionClient> Connect() const {
    return Make<Client>(
        {.database = server::TestDatabase(),
         .connection = {.endpoint = server_->address(), .credentials = Plaintext{}}});
  }
  void HangIn(TransactionClient& client, LockMode mode) {
    Transaction hangs = ReadWrite({server::SelectValue("a"), server::UpdateRow("a", 1)});
    hangs.lock_mode = mode;
    client.Run(std::move(hangs), hung_.Callback());
    transcript_.Await("ExecuteSql", CallPhase::kArrived, 2);
    clock_->Advance(Milliseconds(1));  // so that the other is younger
  }
  static Transaction Write() { return ReadWrite({server::UpdateRow("a", 2)}); }

  std::shared_ptr<server::VirtualClock> clock_ =
      std::make_shared<server::VirtualClock>(Timestamp::FromUnixNanos(1'800'000'000'000'000'000));
  std::shared_ptr<server::Gate> gate_ = std::make_shared<server::Gate>();
  server::Transcript transcript_;
  std::unique_ptr<server::Server> server_;
  Answered<TransactionResult> hung_;
  std::unique_ptr<TransactionClient> other_;
};

TEST_F(GoogleCloudHangTest, InAPessimisticTransactionOthersWaitUntilSpannerEndsIt) {
  if (GoogleCloudClient::CanBeOptimistic()) GTEST_SKIP() << "it asks for optimistic ones";
  const auto hangs = Connect<GoogleCloudClient>();
  HangIn(*hangs, LockMode::kOptimistic);
  Answered<TransactionResult> written;
  other_->Run(Write(), written.Callback());
  transcript_.Await("Commit", CallPhase::kParked);
  clock_->Advance(Milliseconds(9'998));
  EXPECT_FALSE(written.IsThere());
  clock_->Advance(Milliseconds(2));  // ten seconds after the last call of the one that hangs
  EXPECT_EQ(written.Wait().outcome, Outcome::kCommitted);
  gate_->Open();
  EXPECT_EQ(hung_.Wait().outcome, Outcome::kCommitted) << "it was ABORTED, and ran again";
}

TEST_F(GoogleCloudHangTest, InAnOptimisticTransactionNobodyWaits) {
  const auto hangs = Connect<SpannerClient>();
  HangIn(*hangs, LockMode::kOptimistic);
  EXPECT_EQ(RunIn(*other_, Write()).outcome, Outcome::kCommitted);
  EXPECT_EQ(transcript_.Count("Commit", CallPhase::kParked), 0);
  gate_->Open();
  EXPECT_EQ(hung_.Wait().outcome, Outcome::kCommitted) << "it was ABORTED, and ran again";
}

}  // namespace
}  // namespace whorl::real_client::client_test
