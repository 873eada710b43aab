// The client against a server whose answers the test writes: broken streams, precommit tokens in
// answers to Commit, pauses that Spanner requests, headers, and long-running operations.
#include <gmock/gmock.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "google/longrunning/operations.grpc.pb.h"
#include "google/spanner/admin/database/v1/spanner_database_admin.grpc.pb.h"
#include "google/spanner/v1/spanner.grpc.pb.h"
#include "real_client/admin_client.h"
#include "real_client/spanner_client.h"
#include "tests/support/client_waits.h"
#include "tests/support/transactions.h"
#include "wire/results.h"
#include "wire/status.h"

namespace whorl::real_client::client_fake_test {
namespace {

namespace v1 = google::spanner::v1;
namespace database_v1 = google::spanner::admin::database::v1;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::MatchesRegex;
using testing::Not;
using testing::Pair;

constexpr const char* kDatabase = "projects/p/instances/i/databases/d";

grpc::Status Failed(Code code, std::string message = {}) {
  return wire::EncodeStatus(Error(code, std::move(message)));
}

// Has one multiplexed session. The test answers queries and Commits; calls come one at a time.
class FakeSpanner final : public v1::Spanner::Service {
 public:
  using Headers = std::multimap<std::string, std::string>;

  std::function<grpc::Status(const v1::ExecuteSqlRequest&,
                             grpc::ServerWriter<v1::PartialResultSet>&)>
      query;
  std::function<grpc::Status(const v1::CommitRequest&, v1::CommitResponse&)> commit;
  std::function<grpc::Status()> create = [] { return grpc::Status::OK; };
  std::map<std::string, Headers> headers;  // by method, of its last call
  std::string role;                        // of the last session

  grpc::Status CreateSession(grpc::ServerContext* context, const v1::CreateSessionRequest* request,
                             v1::Session* reply) override {
    const std::lock_guard lock(mutex_);
    role = request->session().creator_role();
    Note("CreateSession", *context);
    reply->set_name(std::string(kDatabase) + "/sessions/s");
    reply->set_multiplexed(true);
    return create();
  }
  grpc::Status ExecuteStreamingSql(grpc::ServerContext* context,
                                   const v1::ExecuteSqlRequest* request,
                                   grpc::ServerWriter<v1::PartialResultSet>* writer) override {
    const std::lock_guard lock(mutex_);
    Note("ExecuteStreamingSql", *context);
    return query(*request, *writer);
  }
  grpc::Status ExecuteSql(grpc::ServerContext* context, const v1::ExecuteSqlRequest* request,
                          v1::ResultSet* reply) override {
    const std::lock_guard lock(mutex_);
    Note("ExecuteSql", *context);
    reply->mutable_metadata()->mutable_row_type();
    reply->mutable_stats()->set_row_count_exact(1);
    if (request->transaction().has_begin()) {
      reply->mutable_metadata()->mutable_transaction()->set_id("t" + std::to_string(++begun_));
    }
    return grpc::Status::OK;
  }
  grpc::Status Commit(grpc::ServerContext* context, const v1::CommitRequest* request,
                      v1::CommitResponse* reply) override {
    const std::lock_guard lock(mutex_);
    Note("Commit", *context);
    return commit(*request, *reply);
  }

 private:
  void Note(const std::string& method, const grpc::ServerContext& context) {
    Headers& noted = headers[method];
    noted.clear();
    for (const auto& [name, value] : context.client_metadata()) {
      noted.emplace(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
    }
  }

  std::mutex mutex_;
  int begun_ = 0;
};

std::unique_ptr<grpc::Server> Serve(std::vector<grpc::Service*> services, ConnectionOptions& at) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  for (grpc::Service* service : services) builder.RegisterService(service);
  auto server = builder.BuildAndStart();
  at = {.endpoint = "127.0.0.1:" + std::to_string(port), .credentials = Plaintext{}};
  return server;
}

// A part with these values of the one column; `metadata` comes with the first part only.
v1::PartialResultSet Part(bool metadata, std::vector<std::string> values, std::string token) {
  v1::PartialResultSet part;
  if (metadata) {
    auto& field = *part.mutable_metadata()->mutable_row_type()->add_fields();
    field.set_name("name");
    field.mutable_type()->set_code(v1::STRING);
  }
  for (std::string& value : values) part.add_values()->set_string_value(std::move(value));
  part.set_resume_token(std::move(token));
  return part;
}

class ClientFakeTest : public testing::Test {
 protected:
  ClientFakeTest() {
    server_ = Serve({&spanner_}, connection_);
    ClientOptions options = {.database = kDatabase, .connection = connection_};
    const Backoff soon = {.initial = Milliseconds(1), .max = Milliseconds(1)};
    options.retry.query = soon;
    options.retry.unary = soon;
    options.retry.aborted = soon;
    EXPECT_EQ(FormatStatus(SpannerClient::Create(std::move(options), client_)), "OK");
  }
  ~ClientFakeTest() override {
    client_.reset();
    server_->Shutdown();
  }

  TransactionResult Does(Transaction transaction) {
    return test_transactions::RunIn(*client_, std::move(transaction));
  }
  static Transaction Query() { return test_transactions::Query("SELECT name FROM t"); }
  static Transaction Delete() {
    return test_transactions::ReadWrite({{.sql = Sql::Intern("DELETE FROM t WHERE true")}});
  }
  // What Spanner answers to every query, and to every Commit.
  void QueriesHaveNoRows() {
    spanner_.query = [](const auto&, auto& writer) {
      writer.Write(Part(true, {}, ""));
      return grpc::Status::OK;
    };
  }
  void CommitsSucceed() {
    spanner_.commit = [](const auto&, v1::CommitResponse& reply) {
      reply.mutable_commit_timestamp()->set_seconds(1);
      return grpc::Status::OK;
    };
  }

  FakeSpanner spanner_;
  ConnectionOptions connection_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<SpannerClient> client_;
};

// --- streams -------------------------------------------------------------------------------------

std::vector<Row> Rows(std::vector<std::string> names) {
  std::vector<Row> rows;
  for (std::string& name : names) rows.push_back({std::move(name)});
  return rows;
}

TEST_F(ClientFakeTest, RequestsHaveTheTagOfTheirStep) {
  std::vector<std::string> tags;
  spanner_.query = [&](const auto& request, auto& writer) {
    tags.push_back(request.request_options().request_tag());
    EXPECT_EQ(request.request_options().priority(), v1::RequestOptions::PRIORITY_HIGH);
    EXPECT_EQ(request.request_options().transaction_tag(), "");
    writer.Write(Part(true, {}, ""));
    return grpc::Status::OK;
  };
  spanner_.commit = [&](const auto& request, auto&) {
    tags.push_back(request.request_options().transaction_tag());
    EXPECT_EQ(request.request_options().priority(), v1::RequestOptions::PRIORITY_HIGH);
    return grpc::Status::OK;
  };
  Transaction query = Query();
  query.step = steps::kHasLock;
  EXPECT_EQ(Does(std::move(query)).outcome, Outcome::kCommitted);
  Transaction write = Delete();
  write.step = steps::kWrite;
  Does(std::move(write));
  EXPECT_THAT(tags, ElementsAre("whorl_has_lock", "whorl_write"));
}

TEST_F(ClientFakeTest, SessionsHaveTheRoleOfTheDatabase) {
  ClientOptions options = {
      .database = kDatabase, .database_role = "locker", .connection = connection_};
  QueriesHaveNoRows();
  EXPECT_EQ(Does(Query()).outcome, Outcome::kCommitted);
  EXPECT_EQ(spanner_.role, "");
  ASSERT_EQ(FormatStatus(SpannerClient::Create(std::move(options), client_)), "OK");
  EXPECT_EQ(Does(Query()).outcome, Outcome::kCommitted);
  EXPECT_EQ(spanner_.role, "locker");
}

TEST_F(ClientFakeTest, AStreamThatBreaksGoesOnFromItsLastToken) {
  // Rows after the token are discarded and sent again: none is repeated or lost.
  std::vector<std::string> asked_from;
  spanner_.query = [&](const auto& request, auto& writer) {
    asked_from.push_back(request.resume_token());
    if (request.resume_token().empty()) {
      writer.Write(Part(true, {"a"}, "after a"));
      writer.Write(Part(false, {"b"}, ""));
      return Failed(Code::kUnavailable);
    }
    writer.Write(Part(true, {"b", "c"}, ""));
    return grpc::Status::OK;
  };
  EXPECT_EQ(Does(Query()).results.at(0).rows, Rows({"a", "b", "c"}));
  EXPECT_THAT(asked_from, ElementsAre("", "after a"));
}

TEST_F(ClientFakeTest, AStreamThatBreaksWithoutATokenStartsAgain) {
  // Without a token, the client cannot tell the server what it has received.
  int calls = 0;
  spanner_.query = [&](const auto& request, auto& writer) {
    EXPECT_EQ(request.resume_token(), "");
    writer.Write(Part(true, {"a"}, ""));
    return ++calls == 1 ? Failed(Code::kUnavailable) : grpc::Status::OK;
  };
  EXPECT_EQ(Does(Query()).results[0].rows, Rows({"a"}));
  EXPECT_EQ(calls, 2);
}

TEST_F(ClientFakeTest, TheNextQueryDoesNotUseTheLastOnesToken) {
  // A token is valid for its own query only.
  spanner_.query = [&](const auto& request, auto& writer) {
    EXPECT_EQ(request.resume_token(), "");
    writer.Write(Part(true, {"a"}, "token"));
    return grpc::Status::OK;
  };
  Transaction two = Query();
  two.statements.push_back(two.statements[0]);
  const TransactionResult result = Does(two);
  ASSERT_THAT(result.results, testing::SizeIs(2));
  EXPECT_EQ(result.results[1].rows, Rows({"a"}));
}

TEST_F(ClientFakeTest, AStreamThatMakesNoSenseIsAnErrorAndNotRows) {
  // Values without a type cannot be decoded.
  spanner_.query = [](const auto&, auto& writer) {
    writer.Write(Part(false, {"a"}, ""));
    return grpc::Status::OK;
  };
  EXPECT_EQ(Does(Query()).status.code, Code::kInternal);
}

// --- Commit --------------------------------------------------------------------------------------

TEST_F(ClientFakeTest, ACommitAnsweredByATokenIsSentOnceMoreWithIt) {
  // It has not committed. The mutations are not sent twice.
  std::vector<std::string> heard;
  spanner_.commit = [&](const v1::CommitRequest& request, v1::CommitResponse& reply) {
    heard.push_back(request.precommit_token().precommit_token() + "/" +
                    std::to_string(request.mutations_size()));
    if (heard.size() == 1) {
      *reply.mutable_precommit_token() = wire::EncodePrecommitToken("again", 7);
    } else {
      reply.mutable_commit_timestamp()->set_seconds(1'767'225'600);
    }
    return grpc::Status::OK;
  };
  Transaction transaction = Delete();
  transaction.mutations = {{.table = "t", .columns = {"name"}, .rows = {{std::string("a")}}}};
  const TransactionResult result = Does(transaction);
  EXPECT_EQ(result.outcome, Outcome::kCommitted);
  EXPECT_EQ(FormatRfc3339(result.commit_timestamp), "2026-01-01T00:00:00Z");
  EXPECT_THAT(heard, ElementsAre("/1", "again/0"));
}

TEST_F(ClientFakeTest, AnEmptyTokenIsNotTakenForACommit) {
  // A server might send one, but its meaning is unknown.
  spanner_.commit = [](const auto&, v1::CommitResponse& reply) {
    reply.mutable_precommit_token();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Does(Delete()).outcome, Outcome::kUnknown);
}

TEST_F(ClientFakeTest, ThePauseThatSpannerAsksForIsKept) {
  // Spanner knows better than a backoff how long the conflicting transactions take.
  int calls = 0;
  spanner_.commit = [&](const auto&, v1::CommitResponse& reply) {
    if (++calls == 1) {
      return wire::EncodeStatus(
          {.code = Code::kAborted, .retry_after = Milliseconds(200), .message = "later"});
    }
    reply.mutable_commit_timestamp()->set_seconds(1);
    return grpc::Status::OK;
  };
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Does(Delete()).outcome, Outcome::kCommitted);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
}

// --- headers -------------------------------------------------------------------------------------

TEST_F(ClientFakeTest, CallsCarryTheHeadersOfGooglesClients) {
  QueriesHaveNoRows();
  CommitsSucceed();
  ASSERT_EQ(Does(Query()).outcome, Outcome::kCommitted);
  ASSERT_EQ(Does(Delete()).outcome, Outcome::kCommitted);
  const auto session = "session=projects%2Fp%2Finstances%2Fi%2Fdatabases%2Fd%2Fsessions%2Fs";
  for (const char* method : {"ExecuteStreamingSql", "ExecuteSql", "Commit"}) {
    EXPECT_THAT(
        spanner_.headers[method],
        AllOf(Contains(Pair("google-cloud-resource-prefix", kDatabase)),
              Contains(Pair("x-goog-request-params", session)),
              Contains(Pair("x-goog-api-client", HasSubstr("whorl/"))),
              Contains(Pair("x-goog-spanner-request-id",
                            MatchesRegex("1\\.[0-9a-f]{16}\\.[0-9]+\\.[1-4]\\.[0-9]+\\.1")))))
        << method;
  }
  const auto to_leader = Contains(Pair("x-goog-spanner-route-to-leader", "true"));
  EXPECT_THAT(spanner_.headers["Commit"], to_leader);
  EXPECT_THAT(spanner_.headers["ExecuteSql"], to_leader);
  EXPECT_THAT(spanner_.headers["ExecuteStreamingSql"],
              Not(Contains(Key("x-goog-spanner-route-to-leader"))));
}

TEST_F(ClientFakeTest, AResentCallKeepsItsNumberAndRaisesItsAttempt) {
  // By this, Spanner's logs distinguish a retry from another call.
  std::vector<std::string> ids;
  spanner_.commit = [&](const auto&, v1::CommitResponse& reply) {
    ids.push_back(spanner_.headers["Commit"].find("x-goog-spanner-request-id")->second);
    reply.mutable_commit_timestamp()->set_seconds(1);
    return ids.size() == 1 ? Failed(Code::kUnavailable) : grpc::Status::OK;
  };
  ASSERT_EQ(Does(Delete()).outcome, Outcome::kCommitted);
  ASSERT_THAT(ids, testing::SizeIs(2));
  EXPECT_EQ(ids[1], ids[0].substr(0, ids[0].size() - 1) + "2");
}

TEST_F(ClientFakeTest, ARefusedPermissionIsToldWithARemedy) {
  // A new account gets this error first. The pool tries again for the next transaction.
  client_.reset();
  int refused = 0;
  spanner_.create = [&] {
    ++refused;
    return Failed(Code::kPermissionDenied, "no");
  };
  server_->Shutdown();
  server_ = Serve({&spanner_}, connection_);
  ASSERT_EQ(FormatStatus(
                SpannerClient::Create({.database = kDatabase, .connection = connection_}, client_)),
            "OK");
  for (int i = 0; i < 3; ++i) {
    const TransactionResult result = Does(Query());
    EXPECT_EQ(result.status.code, Code::kPermissionDenied);
    EXPECT_THAT(result.status.message, HasSubstr("roles/spanner.databaseUser"));
  }
  EXPECT_GE(refused, 3);
  EXPECT_LE(refused, 4) << "not of its own accord";
}

// --- operations that take long -------------------------------------------------------------------

class FakeAdmin final : public database_v1::DatabaseAdmin::Service {
 public:
  grpc::Status UpdateDatabaseDdl(grpc::ServerContext*, const database_v1::UpdateDatabaseDdlRequest*,
                                 google::longrunning::Operation* reply) override {
    reply->set_name("projects/p/instances/i/databases/d/operations/o");
    return grpc::Status::OK;
  }
};

class FakeOperations final : public google::longrunning::Operations::Service {
 public:
  // The answer to the third poll.
  Status end;
  std::atomic<int> questions = 0;

  grpc::Status GetOperation(grpc::ServerContext*,
                            const google::longrunning::GetOperationRequest* request,
                            google::longrunning::Operation* reply) override {
    *reply->mutable_name() = request->name();
    const int question = ++questions;
    if (question == 1) return grpc::Status::OK;  // not done
    if (question == 2) return Failed(Code::kUnavailable);
    reply->set_done(true);
    if (!end.ok()) *reply->mutable_error() = wire::EncodeRpcStatus(end);
    return grpc::Status::OK;
  }
};

TEST(AdminOperationsTest, AreAskedAfterUntilTheyAreOver) {
  // A change of a large table takes hours in production.
  for (const Status& end : {Status(), Error(Code::kFailedPrecondition, "no such column")}) {
    FakeAdmin admin_service;
    FakeOperations operations;
    operations.end = end;
    ConnectionOptions at;
    const auto server = Serve({&admin_service, &operations}, at);
    AdminClient admin(at);
    Answered<Status> answered;
    admin.UpdateDdl(kDatabase, {"ALTER TABLE t"}, answered.Callback());
    EXPECT_EQ(answered.Wait(), end);
    EXPECT_EQ(operations.questions, 3);
  }
}

TEST(AdminOperationsTest, AnAdminClientThatIsDestroyedStopsAsking) {
  // The waiting caller has to be answered.
  FakeAdmin admin_service;
  ConnectionOptions at;
  const auto server = Serve({&admin_service}, at);
  Answered<Status> answered;
  {
    AdminClient admin(at);
    admin.UpdateDdl(kDatabase, {"ALTER TABLE t"}, answered.Callback());
  }
  ASSERT_TRUE(answered.IsThere());
  EXPECT_NE(answered.Wait(), Status());
}

}  // namespace
}  // namespace whorl::real_client::client_fake_test
