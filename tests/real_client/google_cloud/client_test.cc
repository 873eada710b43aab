// The google-cloud-cpp client against whorl's own server, which can delay calls: cancellation,
// deadlines, shutdown, a missing server, concurrency, and the effect of a hanging process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real_client/google_cloud/google_cloud_client.h"
#include "real_client/os.h"
#include "real_client/spanner_client.h"
#include "tests/spanner_model/server/testing.h"
#include "tests/support/client_waits.h"
#include "tests/support/test_certificate.h"

namespace whorl::real_client::client_test {
namespace {

using server::CallInfo;
using server::CallPhase;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

template <typename Client = GoogleCloudClient>
std::unique_ptr<Client> Connect(const std::string& address,
                                ClientOptions options = {
                                    .connection = {.credentials = Plaintext{}}}) {
  options.database = server::TestDatabase();
  options.connection.endpoint = address;
  std::unique_ptr<Client> client;
  EXPECT_EQ(FormatStatus(Client::Create(std::move(options), client)), "OK");
  return client;
}
ClientOptions With(RetryPolicy policy) {
  return {.connection = {.credentials = Plaintext{}}, .retry = policy};
}

Transaction ReadWrite(std::vector<Statement> statements) {
  Transaction transaction = {.mode = Mode::kReadWrite};
  for (Statement& statement : statements) {
    transaction.statements.push_back({.statement = std::move(statement)});
  }
  return transaction;
}
Transaction Insert(const std::string& key) { return ReadWrite({server::InsertRow(key, 1)}); }
Transaction Query(Statement statement) {
  return {.mode = Mode::kStrongRead, .statements = {{.statement = std::move(statement)}}};
}
TransactionResult RunIn(TransactionClient& client, Transaction transaction) {
  Answered<TransactionResult> answered;
  client.Run(std::move(transaction), answered.Callback());
  return answered.Wait();
}

class GoogleCloudClientTest : public testing::Test {
 protected:
  GoogleCloudClientTest() {
    server::ServerOptions options = server::TestOptions();
    options.observer = transcript_.Observer();
    server_ = server::StartOrThrow(std::move(options));
    client_ = Connect(server_->address());
  }
  ~GoogleCloudClientTest() override { gate_->Open(); }

  // Holds the calls of the method from the `nth` on.
  void Hold(std::string method, uint64_t nth = 1) {
    server_->SetFaults([method = std::move(method), nth,
                        gate = gate_](const CallInfo& call) -> server::FaultAction {
      if (call.method != method || call.nth < nth) return server::LetPass{};
      return server::HoldRequest{gate};
    });
  }
  TransactionResult Run(Transaction transaction) { return RunIn(*client_, std::move(transaction)); }

  std::shared_ptr<server::Gate> gate_ = std::make_shared<server::Gate>();
  server::Transcript transcript_;  // outlives the server, which writes to it
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<GoogleCloudClient> client_;
};

// --- options -------------------------------------------------------------------------------------

TEST(GoogleCloudOptionsTest, AreRefusedWhereTheyCannotBeMeant) {
  std::unique_ptr<GoogleCloudClient> client;
  EXPECT_EQ(GoogleCloudClient::Create({.database = "locks"}, client).code, Code::kInvalidArgument);
  EXPECT_EQ(
      GoogleCloudClient::Create({.database = server::TestDatabase(), .threads = 0}, client).code,
      Code::kInvalidArgument);
  EXPECT_EQ(client, nullptr);
}

TEST(GoogleCloudOptionsTest, TheVersionSaysWhetherItCanBeOptimistic) {
  EXPECT_THAT(GoogleCloudClient::Version(), StartsWith("v"));
  if (GoogleCloudClient::Version().starts_with("v1.")) {
    EXPECT_FALSE(GoogleCloudClient::CanBeOptimistic());
  }
}

TEST(GoogleCloudTlsTest, AnOwnCertificateAndATokenAreUsed) {
  const TestCertificate own = MakeTestCertificate();
  server::ServerOptions options = server::TestOptions();
  options.tls = {.certificate_chain_pem = own.certificate_pem,
                 .private_key_pem = own.private_key_pem};
  options.bearer_token = "secret";
  const auto server = server::StartOrThrow(std::move(options));
  const auto with = [&](std::string token) {
    return RunIn(
        *Connect(server->address(),
                 {.connection = {.credentials = Tls{.root_certificates = own.certificate_pem,
                                                    .access_token = std::move(token)}}}),
        Insert("a"));
  };
  const TransactionResult refused = with("guess");
  EXPECT_EQ(refused.outcome, Outcome::kAborted);
  EXPECT_EQ(refused.status.code, Code::kUnauthenticated) << FormatStatus(refused.status);
  EXPECT_THAT(refused.status.message, HasSubstr("gcloud auth application-default login"));
  const TransactionResult taken = with("secret");
  EXPECT_EQ(taken.outcome, Outcome::kCommitted) << FormatStatus(taken.status);
}

// --- times ---------------------------------------------------------------------------------------

TEST_F(GoogleCloudClientTest, CommitSentIsBetweenTheStatementAndTheAnswer) {
  // A lease counts from this time, which must not be later than Spanner's time of the Commit.
  const LocalInstant before = MonotonicNow();
  const TransactionResult result = Run(Insert("a"));
  ASSERT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
  ASSERT_TRUE(result.commit_sent.has_value());
  EXPECT_GT(*result.commit_sent, before);
  EXPECT_LT(*result.commit_sent, MonotonicNow());
}

TEST_F(GoogleCloudClientTest, AReadTellsItsTimestampWhenItIsAskedTo) {
  // From it, fenced_lease learns whether a lease that it sees for the first time has expired.
  const TransactionResult written = Run(Insert("a"));
  Transaction read = Query(server::SelectValue("a"));
  read.return_read_timestamp = true;
  const TransactionResult result = Run(read);
  ASSERT_TRUE(result.read_timestamp.has_value()) << FormatStatus(result.status);
  EXPECT_GE(*result.read_timestamp, written.commit_timestamp);
}

TEST_F(GoogleCloudClientTest, WhatIsGivenUpBeforeItsTurnIsNotSent) {
  // The only thread hangs, so another transaction reaches its deadline in the queue.
  ClientOptions options = With(OurRetryPolicy());
  options.threads = 1;
  client_ = Connect(server_->address(), options);
  Hold("Commit");
  Answered<TransactionResult> first;
  client_->Run(Insert("a"), first.Callback());
  transcript_.Await("Commit", CallPhase::kArrived);
  Transaction late = Query(server::SelectValue("a"));
  late.give_up_at = MonotonicNow() + Milliseconds(20);
  const TransactionResult result = Run(late);
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kDeadlineExceeded) << FormatStatus(result.status);
  Answered<TransactionResult> next;
  client_->Run(Insert("b"), next.Callback());
  gate_->Open();
  EXPECT_EQ(first.Wait().outcome, Outcome::kCommitted);
  EXPECT_EQ(next.Wait().outcome, Outcome::kCommitted) << "the thread came free";
  client_.reset();
  EXPECT_EQ(transcript_.Count("ExecuteStreamingSql", CallPhase::kArrived), 0);
}

TEST_F(GoogleCloudClientTest, ACommitThatHangsIsUnknownWhenItsTimeIsOver) {
  // The library does not know give_up_at.
  Hold("Commit");
  Transaction transaction = Insert("a");
  transaction.give_up_at = MonotonicNow() + Milliseconds(500);
  const TransactionResult result = Run(transaction);
  EXPECT_EQ(result.outcome, Outcome::kUnknown);
  EXPECT_EQ(result.status.code, Code::kDeadlineExceeded) << FormatStatus(result.status);
  EXPECT_TRUE(result.commit_sent.has_value());
  gate_->Open();
}

TEST_F(GoogleCloudClientTest, TheLibrarysOwnCallsEndByThePolicysTimeouts) {
  // Otherwise the destructor would wait for ever.
  RetryPolicy policy = OurRetryPolicy();
  policy.commit_timeout = Milliseconds(50);
  client_ = Connect(server_->address(), With(policy));
  Hold("Commit");
  EXPECT_EQ(Run(Insert("a")).outcome, Outcome::kUnknown);
  client_.reset();
}

// --- giving up -----------------------------------------------------------------------------------

TEST_F(GoogleCloudClientTest, ACancelledStatementIsAnsweredAtOnceAndRolledBackLater) {
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

TEST_F(GoogleCloudClientTest, ACancelledCommitIsUnknown) {
  // The Commit may have arrived, as here, where it is served later.
  Hold("Commit");
  Answered<TransactionResult> answered;
  const auto run = client_->Run(Insert("a"), answered.Callback());
  transcript_.Await("Commit", CallPhase::kArrived);
  client_->Cancel(run);
  EXPECT_EQ(answered.Wait().outcome, Outcome::kUnknown);
  EXPECT_EQ(answered.Wait().status.code, Code::kCancelled);
  gate_->Open();
  transcript_.Await("Commit", CallPhase::kAnswered);
  EXPECT_EQ(transcript_.Count("Rollback", CallPhase::kArrived), 0);
}

TEST_F(GoogleCloudClientTest, ShutdownAnswersEverythingAtOnce) {
  // A process must be able to end whatever hangs; the outcome of a hanging Commit is unknown.
  Hold("Commit");
  std::vector<Answered<TransactionResult>> runs(40);
  for (size_t i = 0; i < runs.size(); ++i) {
    client_->Run(Insert("s" + std::to_string(i)), runs[i].Callback());
  }
  transcript_.Await("Commit", CallPhase::kArrived);
  Answered<bool> closed;
  client_->Shutdown([done = closed.Callback()] { done(true); });
  EXPECT_TRUE(closed.Wait());
  size_t unknown = 0;
  for (auto& run : runs) {
    ASSERT_TRUE(run.IsThere()) << "answered before Shutdown's own callback";
    EXPECT_EQ(run.Wait().status.code, Code::kCancelled);
    if (run.Wait().outcome == Outcome::kUnknown) ++unknown;
  }
  EXPECT_GE(unknown, 1U);
  EXPECT_EQ(Run(Insert("z")).status.code, Code::kCancelled) << "what comes after";
  gate_->Open();
}

TEST_F(GoogleCloudClientTest, AnswersInCallbacksMayAskForMore) {
  // A protocol's machine does this: the answer to one transaction starts the next.
  Answered<TransactionResult> second;
  client_->Run(Insert("a"), [&](const TransactionResult&) {
    client_->Run(Query(server::SelectValue("a")), second.Callback());
  });
  EXPECT_THAT(second.Wait().results.front().rows, ElementsAre(Row{int64_t{1}}));
}

// --- no server -----------------------------------------------------------------------------------

TEST_F(GoogleCloudClientTest, NobodyWaitsForAServerThatIsNotThere) {
  // Not even concurrent callers that need sessions, which the library would create one by one.
  const std::string address = server_->address();
  client_.reset();
  server_.reset();
  RetryPolicy policy = OurRetryPolicy();
  policy.statement_timeout = Milliseconds(100);
  client_ = Connect(address, With(policy));
  std::vector<Answered<TransactionResult>> runs(50);
  for (auto& run : runs) client_->Run(Insert("a"), run.Callback());
  for (auto& run : runs) {
    EXPECT_EQ(run.Wait().outcome, Outcome::kAborted) << "nothing was sent";
  }
  client_.reset();
}

TEST_F(GoogleCloudClientTest, AServerThatComesBackIsFoundAgain) {
  const std::string address = server_->address();
  const int port = server_->port();
  ASSERT_EQ(Run(Insert("a")).outcome, Outcome::kCommitted);
  server_.reset();
  Answered<TransactionResult> read;
  client_->Run(Query(server::SelectValue("a")), read.Callback());
  server::ServerOptions options = server::TestOptions();
  options.port = port;
  server_ = server::StartOrThrow(std::move(options));
  EXPECT_EQ(read.Wait().outcome, Outcome::kCommitted) << FormatStatus(read.Wait().status);
}

// --- concurrency ---------------------------------------------------------------------------------

TEST_F(GoogleCloudClientTest, TransactionsThatMeetAllCommit) {
  // Readers that become writers of one row: all but one of the concurrent ones are ABORTED and
  // retry. None retries for ever, because retries keep their age.
  ASSERT_EQ(Run(Insert("a")).outcome, Outcome::kCommitted);
  std::vector<Answered<TransactionResult>> runs(50);
  for (size_t i = 0; i < runs.size(); ++i) {
    client_->Run(
        ReadWrite({server::SelectValue("a"), server::UpdateRow("a", static_cast<int64_t>(i))}),
        runs[i].Callback());
  }
  for (auto& run : runs) {
    const TransactionResult result = run.Wait();
    EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
  }
}

TEST_F(GoogleCloudClientTest, ThousandsRunAtOnce) {
  // On 64 threads.
  std::vector<Answered<TransactionResult>> runs(2'000);
  for (size_t i = 0; i < runs.size(); ++i) {
    client_->Run(Insert("n" + std::to_string(i)), runs[i].Callback());
  }
  for (auto& run : runs) {
    const TransactionResult result = run.Wait();
    EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
  }
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
    other_ = Connect<SpannerClient>(server_->address());
    EXPECT_EQ(RunIn(*other_, Insert("a")).outcome, Outcome::kCommitted);
    server_->SetFaults([gate = gate_](const CallInfo& call) -> server::FaultAction {
      if (call.method == "ExecuteSql" && call.nth == 2) return server::HoldRequest{gate};
      return server::LetPass{};
    });
  }
  ~GoogleCloudHangTest() override { gate_->Open(); }

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
  std::unique_ptr<SpannerClient> other_;
};

TEST_F(GoogleCloudHangTest, InAPessimisticTransactionOthersWaitUntilSpannerEndsIt) {
  if (GoogleCloudClient::CanBeOptimistic()) GTEST_SKIP() << "it asks for optimistic ones";
  const auto hangs = Connect(server_->address());
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
  const auto hangs = Connect<SpannerClient>(server_->address());
  HangIn(*hangs, LockMode::kOptimistic);
  EXPECT_EQ(RunIn(*other_, Write()).outcome, Outcome::kCommitted);
  EXPECT_EQ(transcript_.Count("Commit", CallPhase::kParked), 0);
  gate_->Open();
  EXPECT_EQ(hung_.Wait().outcome, Outcome::kCommitted) << "it was ABORTED, and ran again";
}

}  // namespace
}  // namespace whorl::real_client::client_test
