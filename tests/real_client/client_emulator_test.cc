// The client against the official emulator: transactions, sessions, admin calls, and its end.
// Skipped if there is no emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "live/emulator_process.h"
#include "protocol/client/transaction.h"
#include "real_client/admin_client.h"
#include "real_client/spanner_client.h"
#include "tests/support/client_waits.h"
#include "tests/support/raw_spanner.h"

namespace whorl::real_client::client_emulator_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kInstance = "projects/test-project/instances/test-instance";
constexpr const char* kDatabase = "projects/test-project/instances/test-instance/databases/locks";
constexpr const char* kTable =
    "CREATE TABLE locktable (\n  name STRING(MAX) NOT NULL,\n  heartbeat TIMESTAMP OPTIONS (\n    "
    "allow_commit_timestamp = true\n  ),\n) PRIMARY KEY(name)";

Statement Sql1(std::string_view text, const std::string& name) {
  return {.sql = Sql::Intern(text, {{.name = "name", .type = Type::kString}}),
          .parameters = {name}};
}
Statement Insert(const std::string& name) {
  return Sql1("INSERT locktable (name, heartbeat) VALUES (@name, PENDING_COMMIT_TIMESTAMP())",
              name);
}
Statement Update(const std::string& name) {
  return Sql1("UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = @name",
              name);
}
Statement Select(const std::string& name) {
  return Sql1("SELECT heartbeat FROM locktable WHERE name = @name", name);
}

Transaction ReadWrite(std::vector<Statement> statements) {
  Transaction transaction = {.mode = Mode::kReadWrite};
  for (Statement& statement : statements) {
    transaction.statements.push_back({.statement = std::move(statement)});
  }
  return transaction;
}
Transaction Query(Statement statement) {
  return {.mode = Mode::kStrongRead, .statements = {{.statement = std::move(statement)}}};
}

SessionPoolPolicy FewRegularSessions() {
  SessionPoolPolicy policy = RegularSessionPolicy();
  policy.min_sessions = 1;
  policy.max_sessions = 8;
  return policy;
}

class ClientEmulatorTest : public testing::TestWithParam<SessionKind> {
 protected:
  void SetUp() override {
    emulator_ = EmulatorProcess::Start();
    if (emulator_ == nullptr) GTEST_SKIP() << kNoEmulator;
    admin_ = std::make_unique<AdminClient>(Connection());
    ASSERT_EQ(Does([&](auto done) { admin_->CreateInstance({.path = kInstance}, done); }), "OK");
    ASSERT_EQ(Does([&](auto done) { admin_->CreateDatabase(kDatabase, {kTable}, done); }), "OK");
    client_ = MakeClient(kDatabase);
  }

  ConnectionOptions Connection() const {
    return {.endpoint = emulator_->address(), .credentials = Plaintext{}};
  }
  std::unique_ptr<SpannerClient> MakeClient(const std::string& database) {
    ClientOptions options = {.database = database, .connection = Connection()};
    if (GetParam() == SessionKind::kRegular) options.sessions = FewRegularSessions();
    std::unique_ptr<SpannerClient> client;
    EXPECT_EQ(SpannerClient::Create(options, client), Status());
    return client;
  }
  // The outcome of an admin call, as text.
  template <typename F>
  static std::string Does(F call) {
    Answered<Status> answered;
    call(answered.Callback());
    return FormatStatus(answered.Wait());
  }
  TransactionResult Run(Transaction transaction) {
    Answered<TransactionResult> answered;
    client_->Run(std::move(transaction), answered.Callback());
    return answered.Wait();
  }
  std::vector<std::string> Ddl() {
    Answered<std::vector<std::string>> answered;
    admin_->GetDdl(kDatabase, [done = answered.Callback()](Status status, auto ddl) {
      EXPECT_EQ(status, Status());
      done(std::move(ddl));
    });
    return answered.Wait();
  }

  std::unique_ptr<EmulatorProcess> emulator_;
  std::unique_ptr<AdminClient> admin_;
  std::unique_ptr<SpannerClient> client_;
};

INSTANTIATE_TEST_SUITE_P(Sessions, ClientEmulatorTest,
                         testing::Values(SessionKind::kMultiplexed, SessionKind::kRegular),
                         [](const auto& kind) {
                           return kind.param == SessionKind::kRegular ? "Regular" : "Multiplexed";
                         });

TEST_P(ClientEmulatorTest, AnInsertCommitsAndCanBeReadAtItsCommitTimestamp) {
  // The token of a lock is this timestamp.
  const TransactionResult inserted = Run(ReadWrite({Insert("a")}));
  ASSERT_EQ(inserted.outcome, Outcome::kCommitted) << FormatStatus(inserted.status);
  ASSERT_THAT(inserted.results, SizeIs(1));
  EXPECT_EQ(inserted.results[0].row_count, 1);
  const TransactionResult read = Run(Query(Select("a")));
  ASSERT_EQ(read.outcome, Outcome::kCommitted) << FormatStatus(read.status);
  EXPECT_THAT(read.results[0].rows, ElementsAre(Row{inserted.commit_timestamp}));
}

TEST_P(ClientEmulatorTest, ALosingInsertIsAbortedWithSpannersError) {
  // By this, a process learns that it has lost.
  ASSERT_EQ(Run(ReadWrite({Insert("a")})).outcome, Outcome::kCommitted);
  const TransactionResult lost = Run(ReadWrite({Insert("a")}));
  EXPECT_EQ(lost.outcome, Outcome::kAborted);
  EXPECT_EQ(lost.status.code, Code::kAlreadyExists);
}

TEST_P(ClientEmulatorTest, MutationsCommitAloneAndWithStatements) {
  // Two ways for writes to reach a Commit.
  const auto mutation = [](const std::string& name) {
    return Mutation{.kind = MutationKind::kInsert,
                    .table = "locktable",
                    .columns = {"name", "heartbeat"},
                    .rows = {{name, std::string(kCommitTimestamp)}}};
  };
  Transaction alone = ReadWrite({});
  alone.mutations = {mutation("a")};
  const TransactionResult first = Run(alone);
  ASSERT_EQ(first.outcome, Outcome::kCommitted) << FormatStatus(first.status);
  Transaction both = ReadWrite({Update("a")});
  both.mutations = {mutation("b")};
  const TransactionResult second = Run(both);
  ASSERT_EQ(second.outcome, Outcome::kCommitted) << FormatStatus(second.status);
  for (const char* name : {"a", "b"}) {
    EXPECT_THAT(Run(Query(Select(name))).results[0].rows,
                ElementsAre(Row{second.commit_timestamp}));
  }
}

TEST_P(ClientEmulatorTest, ReadsInsideATransactionAreQueriesToo) {
  // A stream that carries the begin.
  ASSERT_EQ(Run(ReadWrite({Insert("a")})).outcome, Outcome::kCommitted);
  const TransactionResult both = Run(ReadWrite({Select("a"), Update("a")}));
  ASSERT_EQ(both.outcome, Outcome::kCommitted) << FormatStatus(both.status);
  ASSERT_THAT(both.results, SizeIs(2));
  EXPECT_THAT(both.results[0].rows, SizeIs(1));
}

TEST_P(ClientEmulatorTest, ManyTransactionsRunAtOnceAndAreAllAnswered) {
  // The emulator aborts all but one of several concurrent transactions, and they have to retry.
  // Reads never block them.
  constexpr int kWriters = 8;
  constexpr int kReaders = 2'000;
  std::vector<Answered<TransactionResult>> writes(kWriters);
  std::vector<Answered<TransactionResult>> reads(kReaders);
  for (int i = 0; i < kWriters; ++i) {
    client_->Run(ReadWrite({Insert("w" + std::to_string(i))}), writes[i].Callback());
  }
  for (auto& read : reads) client_->Run(Query(Select("w0")), read.Callback());
  for (auto& write : writes) {
    const TransactionResult result = write.Wait();
    EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
  }
  for (auto& read : reads) EXPECT_EQ(read.Wait().outcome, Outcome::kCommitted);
}

TEST_P(ClientEmulatorTest, ADeletedSessionIsReplacedAndTheTransactionRunsAgain) {
  // Spanner deletes sessions that were idle for an hour, and the process may not notice.
  ASSERT_EQ(Run(Query(Select("a"))).outcome, Outcome::kCommitted);
  auto stub = google::spanner::v1::Spanner::NewStub(emulator_->channel());
  google::spanner::v1::ListSessionsRequest list;
  list.set_database(kDatabase);
  google::spanner::v1::ListSessionsResponse sessions;
  grpc::ClientContext listing;
  ASSERT_TRUE(stub->ListSessions(&listing, list, &sessions).ok());
  ASSERT_GT(sessions.sessions_size(), 0);
  RawSpanner raw(emulator_->channel());
  for (const auto& session : sessions.sessions()) {
    ASSERT_TRUE(raw.DeleteSession(session.name()).ok());
  }
  const TransactionResult written = Run(ReadWrite({Insert("a")}));
  EXPECT_EQ(written.outcome, Outcome::kCommitted) << FormatStatus(written.status);
}

TEST_P(ClientEmulatorTest, ShutdownAnswersWhatIsUnderWayAndWhatComesAfter) {
  // No caller may wait for ever for a client that is gone.
  std::vector<Answered<TransactionResult>> runs(200);
  for (size_t i = 0; i < runs.size(); ++i) {
    client_->Run(ReadWrite({Insert("s" + std::to_string(i))}), runs[i].Callback());
  }
  Answered<bool> closed;
  client_->Shutdown([done = closed.Callback()] { done(true); });
  EXPECT_TRUE(closed.Wait());
  for (auto& run : runs) EXPECT_TRUE(run.IsThere()) << "answered before Shutdown's own callback";
  EXPECT_EQ(Run(Query(Select("a"))).status.code, Code::kCancelled);
}

TEST_P(ClientEmulatorTest, DestructionAnswersWhatIsUnderWay) {
  // Also without Shutdown, and with transactions in every state.
  std::vector<Answered<TransactionResult>> runs(200);
  for (auto& run : runs) client_->Run(ReadWrite({Update("a")}), run.Callback());
  runs[0].Wait();
  client_.reset();
  for (auto& run : runs) EXPECT_TRUE(run.IsThere());
}

TEST_P(ClientEmulatorTest, ACancelledTransactionSaysSo) {
  // The emulator cannot delay a call, so the cancellation may come too late.
  Answered<TransactionResult> answered;
  const SpannerClient::RunId run =
      client_->Run(ReadWrite({Insert("c"), Select("c")}), answered.Callback());
  client_->Cancel(run);
  const TransactionResult result = answered.Wait();
  if (result.outcome != Outcome::kCommitted) {
    EXPECT_EQ(result.status.code, Code::kCancelled);
  }
  EXPECT_EQ(Run(ReadWrite({Insert("d")})).outcome, Outcome::kCommitted) << "no lock is left";
}

TEST_P(ClientEmulatorTest, AnswersInCallbacksMayAskForMore) {
  // A protocol's machine does this: the answer to one transaction starts the next.
  Answered<TransactionResult> second;
  client_->Run(Query(Select("a")), [&](const TransactionResult&) {
    client_->Run(Query(Select("b")), second.Callback());
  });
  EXPECT_EQ(second.Wait().outcome, Outcome::kCommitted);
}

TEST_P(ClientEmulatorTest, AdminCallsMakeChangeAndDropTables) {
  EXPECT_THAT(Ddl(), ElementsAre(kTable));
  EXPECT_EQ(Does([&](auto done) { admin_->UpdateDdl(kDatabase, {"DROP TABLE locktable"}, done); }),
            "OK");
  EXPECT_THAT(Ddl(), SizeIs(0));
  EXPECT_THAT(Does([&](auto done) { admin_->UpdateDdl(kDatabase, {"CREATE NONSENSE"}, done); }),
              HasSubstr("INVALID_ARGUMENT"));
  EXPECT_EQ(Does([&](auto done) { admin_->DropDatabase(kDatabase, done); }), "OK");
  EXPECT_THAT(Does([&](auto done) {
                admin_->GetDdl(kDatabase, [done](Status status, auto) { done(std::move(status)); });
              }),
              HasSubstr("NOT_FOUND"));
}

TEST_P(ClientEmulatorTest, TellsAPersonThatTheDatabaseIsNotThere) {
  // The message has to say what to do.
  client_ = MakeClient("projects/test-project/instances/test-instance/databases/other");
  const TransactionResult result = Run(Query(Select("a")));
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kNotFound);
  EXPECT_THAT(result.status.message, HasSubstr("whorl lock init --create-database"));
}

TEST_P(ClientEmulatorTest, AStoppedServerEndsAReadByItsTimeout) {
  // UNAVAILABLE is retried up to the policy's timeout, not for ever.
  ClientOptions options = {.database = kDatabase, .connection = Connection()};
  options.retry.query_timeout = Milliseconds(300);
  options.sessions.ask_timeout = Milliseconds(300);
  ASSERT_EQ(SpannerClient::Create(options, client_), Status());
  ASSERT_EQ(Run(Query(Select("a"))).outcome, Outcome::kCommitted);
  emulator_->process().Kill();
  const TransactionResult result = Run(Query(Select("a")));
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kDeadlineExceeded) << FormatStatus(result.status);
}

}  // namespace
}  // namespace whorl::real_client::client_emulator_test
