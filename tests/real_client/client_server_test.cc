// The client against whorl's own server: what all clients do (server_client_testing.h), credentials,
// cancellation while calls are delayed, and keeping sessions alive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "real_client/os.h"
#include "real_client/spanner_client.h"
#include "tests/real_client/server_client_testing.h"
#include "tests/support/service_account.h"

namespace whorl::real_client::client_server_test {
namespace {

using testing::HasSubstr;

std::unique_ptr<TransactionClient> Make(ClientOptions options) {
  std::unique_ptr<SpannerClient> client;
  EXPECT_EQ(FormatStatus(SpannerClient::Create(std::move(options), client)), "OK");
  return client;
}
std::unique_ptr<TransactionClient> MakeRegular(ClientOptions options) {
  const Duration ask_timeout = options.sessions.ask_timeout;
  options.sessions = RegularSessionPolicy();
  options.sessions.min_sessions = 2;
  options.sessions.max_sessions = 10;
  options.sessions.ask_timeout = ask_timeout;
  return Make(std::move(options));
}

INSTANTIATE_TEST_SUITE_P(Sessions, ServerClientTest,
                         testing::Values(ServerClientCase{"Multiplexed", Make},
                                         ServerClientCase{"Regular", MakeRegular}),
                         NameOfServerCase);

class ClientServerTest : public ServerClientTest {
 protected:
  static ClientOptions RegularSessions(int count) {
    ClientOptions options = {.connection = {.credentials = Plaintext{}},
                             .sessions = RegularSessionPolicy()};
    options.sessions.min_sessions = count;
    return options;
  }
  // Waits for `count` answers to calls of the method, and expects each to be OK.
  void AwaitAnswers(const std::string& method, int count = 1) {
    transcript_.Await(method, CallPhase::kAnswered, count);
    for (const server::Transcript::Entry& entry : transcript_.entries()) {
      if (entry.method != method || entry.phase != CallPhase::kAnswered) continue;
      EXPECT_EQ(entry.code, Code::kOk) << method;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Sessions, ClientServerTest,
                         testing::Values(ServerClientCase{"Multiplexed", Make}), NameOfServerCase);

// --- TLS and credentials -------------------------------------------------------------------------

TEST_P(ClientServerTest, ATokenIsAskedForAnewWhenItIsNeeded) {
  // Tokens of Google's live for an hour, locks for longer.
  ServeByTls("secret");
  std::atomic<int> asked = 0;
  const auto token = [&asked] { return ++asked > 0 ? std::string("secret") : std::string(); };
  ExpectCommitted(
      InsertBy({.root_certificates = own_.certificate_pem, .renewed_access_token = token}));
  EXPECT_GE(asked, 2);  // once for each call
  const TransactionResult without =
      InsertBy({.root_certificates = own_.certificate_pem,
                .renewed_access_token = [] { return std::string(); }});
  EXPECT_THAT(FormatStatus(without.status), HasSubstr("the program has no access token"));
}

TEST_P(ClientServerTest, AStrangersCertificateIsNotTrusted) {
  // Otherwise any server would get the token.
  ServeByTls("secret");
  const TransactionResult result = InsertBy(
      {.root_certificates = MakeTestCertificate().certificate_pem, .access_token = "secret"});
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_THAT(FormatStatus(result.status), HasSubstr("UNAVAILABLE"));
}

TEST_P(ClientServerTest, AKeyFileMakesTokens) {
  // The client signs the token itself; this server accepts any.
  ServeByTls("");
  ExpectCommitted(InsertBy(
      {.root_certificates = own_.certificate_pem, .credentials_json = MakeServiceAccountKey()}));
}

// --- cancellation --------------------------------------------------------------------------------

TEST_P(ClientServerTest, CancellingAHeldUpStatementRollsNothingBackAndLeavesNoLock) {
  Hold("ExecuteSql");
  Answered<TransactionResult> answered;
  client_->Cancel(client_->Run(OneInsert("a"), answered.Callback()));
  EXPECT_EQ(answered.Wait().outcome, Outcome::kAborted);
  EXPECT_EQ(answered.Wait().status.code, Code::kCancelled);
}

TEST_P(ClientServerTest, CancellingAnOpenTransactionRollsItBack) {
  // Its locks would block others until Spanner aborts it for being idle.
  Hold("ExecuteSql", /*nth=*/2);
  Answered<TransactionResult> answered;
  const auto run = client_->Run(ReadWrite({server::InsertRow("a", 1), server::InsertRow("b", 1)}),
                                answered.Callback());
  transcript_.Await("ExecuteSql", CallPhase::kArrived, 2);
  client_->Cancel(run);
  EXPECT_EQ(answered.Wait().outcome, Outcome::kAborted);
  AwaitAnswers("Rollback");
}

TEST_P(ClientServerTest, CancellingATransactionThatIsBeingBegunRollsItBackOnceItHasBegun) {
  // The transaction's id was in an answer for which the client no longer waits.
  server_->SetFaults([gate = gate_](const CallInfo& call) -> server::FaultAction {
    if (call.method != "ExecuteSql") return server::LetPass{};
    return server::HoldReply{gate};
  });
  Answered<TransactionResult> answered;
  const auto run = client_->Run(OneInsert("a"), answered.Callback());
  transcript_.Await("ExecuteSql", CallPhase::kArrived);
  client_->Cancel(run);
  EXPECT_EQ(answered.Wait().outcome, Outcome::kAborted);
  gate_->Open();
  AwaitAnswers("Rollback");
}

// --- reasons -------------------------------------------------------------------------------------

TEST_P(ClientServerTest, ATransactionWhoseTimeIsOverSaysWhyItWasTriedAgain) {
  // "Deadline Exceeded" alone helps nobody: the last call had no answer, but the one before it had.
  ExpectCommitted(Run(OneInsert("first")));
  const auto calls = std::make_shared<std::atomic<int>>(0);
  server_->SetFaults([gate = gate_, calls](const CallInfo& call) -> server::FaultAction {
    if (call.method != "ExecuteSql") return server::LetPass{};
    if (++*calls > 1) return server::HoldRequest{gate};
    return server::FailBefore{Error(Code::kUnavailable, "said by the test")};
  });
  Transaction insert = OneInsert("a");
  insert.give_up_at = MonotonicNow() + Seconds(2);
  const TransactionResult result = Run(std::move(insert));
  EXPECT_EQ(result.status.code, Code::kDeadlineExceeded);
  EXPECT_THAT(FormatStatus(result.status),
              HasSubstr("the last error was UNAVAILABLE: said by the test"));
  EXPECT_GE(*calls, 2);
}

// --- sessions ------------------------------------------------------------------------------------

TEST_P(ClientServerTest, RegularSessionsAreGivenBack) {
  // Sessions count against a limit, and Spanner keeps them for an hour.
  client_ = Connect(RegularSessions(3));
  ExpectCommitted(Run(OneInsert("a")));
  client_.reset();
  EXPECT_EQ(transcript_.Count("DeleteSession", CallPhase::kAnswered), 3);
  AwaitAnswers("DeleteSession", 3);
}

TEST_P(ClientServerTest, IdleSessionsAreKeptAlive) {
  // Spanner deletes a session that was idle for an hour.
  ClientOptions options = RegularSessions(1);
  options.sessions.keep_alive_after = Milliseconds(5);
  client_ = Connect(options);
  AwaitAnswers("ExecuteStreamingSql", 3);
}

}  // namespace
}  // namespace whorl::real_client::client_server_test
