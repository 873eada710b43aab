// The client against whorl's own server: TLS and credentials, cancellation and shutdown while calls
// are delayed, keeping sessions alive, and many concurrent transactions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real_client/spanner_client.h"
#include "spanner_model/server/server.h"
#include "tests/support/client_waits.h"
#include "tests/support/service_account.h"
#include "tests/support/test_certificate.h"

namespace whorl::real_client::client_server_test {
namespace {

using server::CallInfo;
using server::CallPhase;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kDatabase = "projects/test-project/instances/test-instance/databases/locks";

server::ServerOptions WithTable() {
  server::ServerOptions options;
  options.backend.databases = {
      {.name = kDatabase,
       .statements = {
           "CREATE TABLE locks (name STRING(MAX) NOT NULL, v INT64) PRIMARY KEY (name)"}}};
  return options;
}

std::unique_ptr<server::Server> StartServer(server::ServerOptions options) {
  auto started = server::Server::Start(std::move(options));
  EXPECT_TRUE(started.ok()) << started.status().message();
  return started.ok() ? *std::move(started) : nullptr;
}

std::unique_ptr<SpannerClient> Connect(const server::Server& server,
                                       ClientOptions options = {
                                           .connection = {.credentials = Plaintext{}}}) {
  options.database = kDatabase;
  options.connection.endpoint = server.address();
  std::unique_ptr<SpannerClient> client;
  EXPECT_EQ(FormatStatus(SpannerClient::Create(std::move(options), client)), "OK");
  return client;
}

TransactionStatement Named(std::string_view sql, const std::string& name) {
  return {.statement = {.sql = Sql::Intern(sql, {{.name = "name", .type = Type::kString}}),
                        .parameters = {name}}};
}
TransactionStatement Insert(const std::string& name) {
  return Named("INSERT locks (name, v) VALUES (@name, 1)", name);
}
TransactionStatement Select(const std::string& name) {
  return Named("SELECT v FROM locks WHERE name = @name", name);
}
TransactionStatement Update(const std::string& name) {
  return Named("UPDATE locks SET v = 2 WHERE name = @name", name);
}
Transaction ReadWrite(std::vector<TransactionStatement> statements) {
  return {.mode = Mode::kReadWrite, .statements = std::move(statements)};
}
TransactionResult RunIn(SpannerClient& client, Transaction transaction) {
  Answered<TransactionResult> answered;
  client.Run(std::move(transaction), answered.Callback());
  return answered.Wait();
}

// --- TLS and credentials -------------------------------------------------------------------------

class ClientTlsTest : public testing::Test {
 protected:
  std::unique_ptr<server::Server> Serve(std::string token) const {
    server::ServerOptions options = WithTable();
    options.tls = {.certificate_chain_pem = own_.certificate_pem,
                   .private_key_pem = own_.private_key_pem};
    options.bearer_token = std::move(token);
    return StartServer(std::move(options));
  }
  static TransactionResult Try(const server::Server& server, Tls tls) {
    ClientOptions options = {.connection = {.credentials = std::move(tls)}};
    options.sessions.ask_timeout = Seconds(1);
    return RunIn(*Connect(server, std::move(options)), ReadWrite({Insert("a")}));
  }

  const TestCertificate own_ = MakeTestCertificate();
};

TEST_F(ClientTlsTest, ATokenGoesAlongWithEveryCall) {
  const auto server = Serve("secret");
  const TransactionResult result =
      Try(*server, {.root_certificates = own_.certificate_pem, .access_token = "secret"});
  EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
}

TEST_F(ClientTlsTest, ATokenIsAskedForAnewWhenItIsNeeded) {
  // Tokens of Google's live for an hour, locks for longer.
  const auto server = Serve("secret");
  std::atomic<int> asked = 0;
  const auto token = [&asked] { return ++asked > 0 ? std::string("secret") : std::string(); };
  const TransactionResult result =
      Try(*server, {.root_certificates = own_.certificate_pem, .renewed_access_token = token});
  EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
  EXPECT_GE(asked, 2);  // once for each call
  const TransactionResult without =
      Try(*server, {.root_certificates = own_.certificate_pem,
                    .renewed_access_token = [] { return std::string(); }});
  EXPECT_THAT(FormatStatus(without.status), HasSubstr("the program has no access token"));
}

TEST_F(ClientTlsTest, AWrongTokenIsToldAtOnceWithARemedy) {
  // Retrying would not help.
  const auto server = Serve("secret");
  const TransactionResult result =
      Try(*server, {.root_certificates = own_.certificate_pem, .access_token = "guess"});
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kUnauthenticated) << FormatStatus(result.status);
  EXPECT_THAT(result.status.message, HasSubstr("gcloud auth application-default login"));
}

TEST_F(ClientTlsTest, AStrangersCertificateIsNotTrusted) {
  // Otherwise any server would get the token.
  const auto server = Serve("secret");
  const TransactionResult result =
      Try(*server,
          {.root_certificates = MakeTestCertificate().certificate_pem, .access_token = "secret"});
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_THAT(FormatStatus(result.status), HasSubstr("UNAVAILABLE"));
}

TEST_F(ClientTlsTest, AKeyFileMakesTokens) {
  // The client signs the token itself; this server accepts any.
  const auto server = Serve("");
  const TransactionResult result = Try(*server, {.root_certificates = own_.certificate_pem,
                                                 .credentials_json = MakeServiceAccountKey()});
  EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
}

// --- calls that are delayed ----------------------------------------------------------------------

// Delays the calls of one method, and reports when the first of them has arrived.
struct Holdup {
  std::shared_ptr<server::Gate> gate = std::make_shared<server::Gate>();
  Answered<bool> arrived;

  server::FaultFunction Of(std::string method) {
    return [method, gate = gate, said = false,
            tell = arrived.Callback()](const CallInfo& call) mutable -> server::FaultAction {
      if (call.method != method) return server::LetPass{};
      if (!std::exchange(said, true)) tell(true);
      return server::HoldRequest{gate};
    };
  }
};

// Counts the calls of a method that were answered OK.
struct Counter {
  server::ObserverFunction Of(std::string method, int wanted) {
    return [method, left = wanted, tell = reached.Callback()](const CallInfo& call, CallPhase stage,
                                                              const Status& status) mutable {
      if (call.method != method || stage != CallPhase::kAnswered || !status.ok()) return;
      if (--left == 0) tell(true);
    };
  }
  Answered<bool> reached;
};

TEST(ClientCancelTest, OfAHeldUpStatementRollsNothingBackAndLeavesNoLock) {
  Holdup holdup;
  const auto server = StartServer(WithTable());
  server->SetFaults(holdup.Of("ExecuteSql"));
  const auto client = Connect(*server);
  Answered<TransactionResult> answered;
  client->Cancel(client->Run(ReadWrite({Insert("a")}), answered.Callback()));
  EXPECT_EQ(answered.Wait().outcome, Outcome::kAborted);
  EXPECT_EQ(answered.Wait().status.code, Code::kCancelled);
}

TEST(ClientCancelTest, OfAnOpenTransactionRollsItBack) {
  // Its locks would block others until Spanner aborts it for being idle.
  Holdup holdup;
  Counter rollbacks;
  const auto server = StartServer(WithTable());
  server->SetFaults([&, fault = holdup.Of("ExecuteSql")](const CallInfo& call) {
    return call.nth == 1 ? server::FaultAction(server::LetPass{}) : fault(call);
  });
  server->SetObserver(rollbacks.Of("Rollback", 1));
  const auto client = Connect(*server);
  Answered<TransactionResult> answered;
  const auto run = client->Run(ReadWrite({Insert("a"), Insert("b")}), answered.Callback());
  holdup.arrived.Wait();
  client->Cancel(run);
  EXPECT_EQ(answered.Wait().outcome, Outcome::kAborted);
  EXPECT_TRUE(rollbacks.reached.Wait());
}

TEST(ClientCancelTest, OfATransactionThatIsBeingBegunRollsItBackOnceItHasBegun) {
  // The transaction's id was in an answer for which the client no longer waits.
  const auto gate = std::make_shared<server::Gate>();
  Answered<bool> arrived;
  Counter rollbacks;
  const auto server = StartServer(WithTable());
  server->SetFaults([&, tell = arrived.Callback()](const CallInfo& call) -> server::FaultAction {
    if (call.method != "ExecuteSql") return server::LetPass{};
    tell(true);
    return server::HoldReply{gate};
  });
  server->SetObserver(rollbacks.Of("Rollback", 1));
  const auto client = Connect(*server);
  Answered<TransactionResult> answered;
  const auto run = client->Run(ReadWrite({Insert("a")}), answered.Callback());
  arrived.Wait();
  client->Cancel(run);
  EXPECT_EQ(answered.Wait().outcome, Outcome::kAborted);
  gate->Open();
  EXPECT_TRUE(rollbacks.reached.Wait());
}

TEST(ClientCancelTest, OfACommitIsUnknown) {
  // The Commit may have arrived, as here, where it is served later.
  Holdup holdup;
  const auto server = StartServer(WithTable());
  server->SetFaults(holdup.Of("Commit"));
  const auto client = Connect(*server);
  Answered<TransactionResult> answered;
  const auto run = client->Run(ReadWrite({Insert("a")}), answered.Callback());
  holdup.arrived.Wait();
  client->Cancel(run);
  EXPECT_EQ(answered.Wait().outcome, Outcome::kUnknown);
  EXPECT_EQ(answered.Wait().status.code, Code::kCancelled);
  holdup.gate->Open();
}

TEST(ClientShutdownTest, DoesNotWaitForAServerThatDoesNotAnswer) {
  // A process must be able to end whatever hangs; the outcome of a hanging Commit is unknown.
  Holdup holdup;
  const auto server = StartServer(WithTable());
  server->SetFaults(holdup.Of("Commit"));
  auto client = Connect(*server);
  std::vector<Answered<TransactionResult>> runs(20);
  for (size_t i = 0; i < runs.size(); ++i) {
    client->Run(ReadWrite({Insert("s" + std::to_string(i))}), runs[i].Callback());
  }
  holdup.arrived.Wait();
  client.reset();
  size_t unknown = 0;
  for (auto& run : runs) {
    ASSERT_TRUE(run.IsThere());
    EXPECT_EQ(run.Wait().status.code, Code::kCancelled);
    if (run.Wait().outcome == Outcome::kUnknown) ++unknown;
  }
  EXPECT_GE(unknown, 1U);
  holdup.gate->Open();
}

TEST(ClientShutdownTest, GivesRegularSessionsBack) {
  // Sessions count against a limit, and Spanner keeps them for an hour.
  Counter deleted;
  const auto server = StartServer(WithTable());
  server->SetObserver(deleted.Of("DeleteSession", 3));
  ClientOptions options = {.connection = {.credentials = Plaintext{}},
                           .sessions = RegularSessionPolicy()};
  options.sessions.min_sessions = 3;
  auto client = Connect(*server, options);
  EXPECT_EQ(RunIn(*client, ReadWrite({Insert("a")})).outcome, Outcome::kCommitted);
  client.reset();
  EXPECT_TRUE(deleted.reached.IsThere());
}

// --- sessions and concurrency
// -------------------------------------------------------------------------

TEST(ClientSessionsTest, IdleOnesAreKeptAlive) {
  // Spanner deletes a session that was idle for an hour.
  Counter pings;
  const auto server = StartServer(WithTable());
  server->SetObserver(pings.Of("ExecuteStreamingSql", 3));
  ClientOptions options = {.connection = {.credentials = Plaintext{}},
                           .sessions = RegularSessionPolicy()};
  options.sessions.min_sessions = 1;
  options.sessions.keep_alive_after = Milliseconds(5);
  const auto client = Connect(*server, options);
  EXPECT_TRUE(pings.reached.Wait());
}

TEST(ClientCrowdTest, TransactionsThatMeetAllCommit) {
  // Readers that become writers of one row: all but one of the concurrent ones are ABORTED and
  // retry. None retries for ever, because retries keep their age.
  for (const SessionKind kind : {SessionKind::kMultiplexed, SessionKind::kRegular}) {
    const auto server = StartServer(WithTable());
    ClientOptions options = {.connection = {.credentials = Plaintext{}}};
    if (kind == SessionKind::kRegular) {
      options.sessions = RegularSessionPolicy();
      options.sessions.min_sessions = 2;
      options.sessions.max_sessions = 10;
    }
    const auto client = Connect(*server, options);
    ASSERT_EQ(RunIn(*client, ReadWrite({Insert("a")})).outcome, Outcome::kCommitted);
    std::vector<Answered<TransactionResult>> runs(50);
    for (auto& run : runs) {
      client->Run(ReadWrite({Select("a"), Update("a")}), run.Callback());
    }
    for (auto& run : runs) {
      const TransactionResult result = run.Wait();
      EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
    }
  }
}

TEST(ClientCrowdTest, ThousandsRunAtOnce) {
  // On one thread and one session.
  const auto server = StartServer(WithTable());
  const auto client = Connect(*server);
  std::vector<Answered<TransactionResult>> runs(3'000);
  for (size_t i = 0; i < runs.size(); ++i) {
    client->Run(ReadWrite({Insert("n" + std::to_string(i))}), runs[i].Callback());
  }
  for (auto& run : runs) {
    const TransactionResult result = run.Wait();
    EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
  }
}

}  // namespace
}  // namespace whorl::real_client::client_server_test
