// Tests every client against whorl's own server, which can delay calls: credentials, cancellation,
// shutdown, and many transactions at once. One file of each executable includes this, and says how
// clients are made.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real_client/options.h"
#include "real_client/transaction_client.h"
#include "tests/spanner_model/server/testing.h"
#include "tests/support/client_waits.h"
#include "tests/support/test_certificate.h"
#include "tests/support/transactions.h"

namespace whorl::real_client {

using server::CallInfo;
using server::CallPhase;
using test_transactions::ExpectCommitted;
using test_transactions::Query;
using test_transactions::ReadWrite;

inline Transaction OneInsert(const std::string& key) {
  return ReadWrite({server::InsertRow(key, 1)});
}

struct ServerClientCase {
  std::string name;
  std::function<std::unique_ptr<TransactionClient>(ClientOptions)> make;
  bool destructor_waits = false;  // for calls that hang
};

class ServerClientTest : public testing::TestWithParam<ServerClientCase> {
 protected:
  ServerClientTest() {
    server::ServerOptions options = server::TestOptions();
    options.observer = transcript_.Observer();
    server_ = server::StartOrThrow(std::move(options));
    client_ = Connect();
  }
  ~ServerClientTest() override { gate_->Open(); }

  std::unique_ptr<TransactionClient> Connect(ClientOptions options = {
                                                 .connection = {.credentials = Plaintext{}}}) {
    options.database = server::TestDatabase();
    options.connection.endpoint = server_->address();
    return GetParam().make(std::move(options));
  }
  // Holds the calls of the method from the `nth` on.
  void Hold(std::string method, uint64_t nth = 1) {
    server_->SetFaults([method = std::move(method), nth,
                        gate = gate_](const CallInfo& call) -> server::FaultAction {
      if (call.method != method || call.nth < nth) return server::LetPass{};
      return server::HoldRequest{gate};
    });
  }
  TransactionResult Run(Transaction transaction) {
    return test_transactions::RunIn(*client_, std::move(transaction));
  }
  // From now on, the server wants TLS and this token (none if empty).
  void ServeByTls(std::string token) {
    client_.reset();
    server::ServerOptions options = server::TestOptions();
    options.tls = {.certificate_chain_pem = own_.certificate_pem,
                   .private_key_pem = own_.private_key_pem};
    options.bearer_token = std::move(token);
    server_ = server::StartOrThrow(std::move(options));
  }
  TransactionResult InsertBy(Tls tls) {
    ClientOptions options = {.connection = {.credentials = std::move(tls)}};
    options.sessions.ask_timeout = Seconds(5);
    client_ = Connect(std::move(options));
    return Run(OneInsert("a"));
  }

  const TestCertificate own_ = MakeTestCertificate();
  std::shared_ptr<server::Gate> gate_ = std::make_shared<server::Gate>();
  server::Transcript transcript_;  // outlives the server, which writes to it
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<TransactionClient> client_;
};

TEST_P(ServerClientTest, ATokenGoesAlongWithEveryCallAndAWrongOneIsToldAtOnceWithARemedy) {
  // Retrying would not help.
  ServeByTls("secret");
  const TransactionResult refused =
      InsertBy({.root_certificates = own_.certificate_pem, .access_token = "guess"});
  EXPECT_EQ(refused.outcome, Outcome::kAborted);
  EXPECT_EQ(refused.status.code, Code::kUnauthenticated) << FormatStatus(refused.status);
  EXPECT_THAT(refused.status.message, testing::HasSubstr("gcloud auth application-default login"));
  ExpectCommitted(InsertBy({.root_certificates = own_.certificate_pem, .access_token = "secret"}));
}

TEST_P(ServerClientTest, AnErrorOfCommitIsTold) {
  // A client that hid it would have a process believe that it has taken a lock.
  server_->SetFaults([](const CallInfo& call) -> server::FaultAction {
    if (call.method != "Commit") return server::LetPass{};
    return server::FailBefore{Error(Code::kFailedPrecondition, "refused by a test")};
  });
  const TransactionResult refused = Run(OneInsert("a"));
  EXPECT_EQ(refused.outcome, Outcome::kAborted);
  EXPECT_EQ(refused.status.code, Code::kFailedPrecondition) << FormatStatus(refused.status);
  server_->SetFaults({});
  EXPECT_TRUE(Run(Query(server::SelectValue("a"))).results.front().rows.empty());
}

TEST_P(ServerClientTest, ACancelledCommitIsUnknown) {
  // The Commit may have arrived, as here, where it is served later.
  Hold("Commit");
  Answered<TransactionResult> answered;
  const auto run = client_->Run(OneInsert("a"), answered.Callback());
  transcript_.Await("Commit", CallPhase::kArrived);
  client_->Cancel(run);
  EXPECT_EQ(answered.Wait().outcome, Outcome::kUnknown);
  EXPECT_EQ(answered.Wait().status.code, Code::kCancelled);
  gate_->Open();
  transcript_.Await("Commit", CallPhase::kAnswered);
  EXPECT_EQ(transcript_.Count("Rollback", CallPhase::kArrived), 0);
}

TEST_P(ServerClientTest, ShutdownDoesNotWaitForAServerThatDoesNotAnswer) {
  // A process must be able to end whatever hangs; the outcome of a hanging Commit is unknown.
  Hold("Commit");
  std::vector<Answered<TransactionResult>> runs(40);
  for (size_t i = 0; i < runs.size(); ++i) {
    client_->Run(OneInsert("s" + std::to_string(i)), runs[i].Callback());
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
  EXPECT_EQ(Run(OneInsert("z")).status.code, Code::kCancelled) << "what comes after";
  if (GetParam().destructor_waits) gate_->Open();
  client_.reset();
}

TEST_P(ServerClientTest, AnswersInCallbacksMayAskForMore) {
  // A protocol's machine does this: the answer to one transaction starts the next.
  Answered<TransactionResult> second;
  client_->Run(OneInsert("a"), [&](const TransactionResult&) {
    client_->Run(Query(server::SelectValue("a")), second.Callback());
  });
  EXPECT_THAT(second.Wait().results.front().rows, testing::ElementsAre(Row{int64_t{1}}));
}

TEST_P(ServerClientTest, TransactionsThatMeetAllCommit) {
  // Readers that become writers of one row: all but one of the concurrent ones are ABORTED and
  // retry. None retries for ever, because retries keep their age.
  ExpectCommitted(Run(OneInsert("a")));
  std::vector<Answered<TransactionResult>> runs(50);
  for (size_t i = 0; i < runs.size(); ++i) {
    client_->Run(
        ReadWrite({server::SelectValue("a"), server::UpdateRow("a", static_cast<int64_t>(i))}),
        runs[i].Callback());
  }
  for (auto& run : runs) ExpectCommitted(run.Wait());
}

TEST_P(ServerClientTest, ThousandsRunAtOnce) {
  std::vector<Answered<TransactionResult>> runs(2'000);
  for (size_t i = 0; i < runs.size(); ++i) {
    client_->Run(OneInsert("n" + std::to_string(i)), runs[i].Callback());
  }
  for (auto& run : runs) ExpectCommitted(run.Wait());
}

inline std::string NameOfServerCase(const testing::TestParamInfo<ServerClientCase>& test) {
  return test.param.name;
}

}  // namespace whorl::real_client
