// Instances, databases and their schemas over gRPC.
#include <google/longrunning/operations.grpc.pb.h>

#include "tests/spanner_model/server/testing.h"

namespace whorl::server::admin_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ServerAdminTest : public testing::Test {
 protected:
  ServerAdminTest() : server_(StartOrThrow(TestOptions())), client_(*server_) {}

  grpc::Status UpdateDdl(const std::vector<std::string>& statements,
                         longrunning::Operation* operation = nullptr) {
    grpc::ClientContext context;
    database_admin::UpdateDatabaseDdlRequest request;
    request.set_database(TestDatabase());
    for (const std::string& statement : statements) request.add_statements(statement);
    longrunning::Operation unused;
    return client_.raw().databases().UpdateDatabaseDdl(&context, request,
                                                       operation != nullptr ? operation : &unused);
  }
  std::vector<std::string> Ddl() {
    grpc::ClientContext context;
    database_admin::GetDatabaseDdlRequest request;
    request.set_database(TestDatabase());
    database_admin::GetDatabaseDdlResponse response;
    const grpc::Status status =
        client_.raw().databases().GetDatabaseDdl(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return {response.statements().begin(), response.statements().end()};
  }

  std::unique_ptr<Server> server_;
  TestClient client_;
};

TEST_F(ServerAdminTest, MakesInstancesAndDatabasesAndForgetsThem) {
  ServerOptions options;
  server_ = StartOrThrow(std::move(options));
  client_ = TestClient(*server_);
  ASSERT_TRUE(client_.raw().CreateInstance().ok());
  ASSERT_TRUE(client_.raw().CreateDatabase("locks", {kTestTable}).ok());
  EXPECT_EQ(client_.raw().CreateDatabase("locks", {kTestTable}).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
  const SessionName session = client_.OpenSession();

  grpc::ClientContext context;
  database_admin::DropDatabaseRequest drop;
  drop.set_database(TestDatabase());
  google::protobuf::Empty nothing;
  ASSERT_TRUE(client_.raw().databases().DropDatabase(&context, drop, &nothing).ok());
  EXPECT_EQ(client_.Call(GetSession{.session = session}).status.message,
            "Database not found: " + TestDatabase());
  // An old session's name is unknown in a new database of the same name.
  ASSERT_TRUE(client_.raw().CreateDatabase("locks", {kTestTable}).ok());
  client_.OpenSession();
  EXPECT_EQ(client_.Call(GetSession{.session = session}).status.message,
            "Session not found: " + session);
}

TEST_F(ServerAdminTest, AnswersAgainWithTheOperationThatIsDone) {
  longrunning::Operation operation;
  ASSERT_TRUE(UpdateDdl({"CREATE TABLE u (k INT64) PRIMARY KEY (k)"}, &operation).ok());
  EXPECT_TRUE(operation.done());
  EXPECT_THAT(operation.name(), StartsWith(TestDatabase() + "/operations/"));
  const auto stub = longrunning::Operations::NewStub(MakeChannel(server_->address()));
  grpc::ClientContext context;
  longrunning::GetOperationRequest request;
  request.set_name(operation.name());
  longrunning::Operation again;
  ASSERT_TRUE(stub->GetOperation(&context, request, &again).ok());
  EXPECT_EQ(again.SerializeAsString(), operation.SerializeAsString());
}

TEST_F(ServerAdminTest, PrintsTheSchemaAsSpannerDoes) {
  ASSERT_TRUE(UpdateDdl({"create table U(k int64)primary key(k)"}).ok());
  EXPECT_THAT(Ddl(), ElementsAre(StartsWith("CREATE TABLE t (\n  k STRING(MAX) NOT NULL,\n"),
                                 "CREATE TABLE U (\n  k INT64,\n) PRIMARY KEY(k)"));
}

// All or nothing, so that a migration can be sent again after an error.
TEST_F(ServerAdminTest, ChangesNothingWhenOneStatementFails) {
  const auto before = Ddl();
  EXPECT_EQ(UpdateDdl({"CREATE TABLE u (k INT64) PRIMARY KEY (k)", kTestTable}).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(UpdateDdl({"CREATE TABLE u (k INT64) PRIMARY KEY (k)", "nonsense"}).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Ddl(), before);
}

TEST_F(ServerAdminTest, KeepsTheRowsOfTablesThatStay) {
  ASSERT_TRUE(client_.Put("a", 1).status.ok());
  ASSERT_TRUE(UpdateDdl({"CREATE TABLE u (k INT64) PRIMARY KEY (k)"}).ok());
  EXPECT_THAT(client_.Query(SelectValue("a")), ElementsAre(Row{int64_t{1}}));
  // Tables move up when one before them is dropped.
  const Commit insert = client_.Begin({.sql = Sql::Intern("INSERT INTO u (k) VALUES (5)")});
  ASSERT_TRUE(client_.Call(insert).status.ok());
  ASSERT_TRUE(UpdateDdl({"DROP TABLE t"}).ok());
  const ExecuteSql select = {.session = client_.OpenSession(), .statement = SelectValue("a")};
  EXPECT_EQ(client_.Call(select).status.code, Code::kInvalidArgument);
  EXPECT_THAT(client_.Query("SELECT k FROM u"), ElementsAre(Row{int64_t{5}}));
}

// A transaction that began under the old schema must not commit under the new one.
TEST_F(ServerAdminTest, AbortsTransactionsThatAreUnderWay) {
  const Commit begun = client_.Begin(InsertRow("a", 1));
  ASSERT_TRUE(UpdateDdl({"CREATE TABLE u (k INT64) PRIMARY KEY (k)"}).ok());
  EXPECT_EQ(client_.Call(begun).status.code, Code::kAborted);
}

// A schema change waits for commits under way, and later calls wait for the schema change.
TEST_F(ServerAdminTest, ChangesTheSchemaBetweenCommits) {
  Transcript transcript;
  auto clock = std::make_shared<VirtualClock>(Timestamp::FromUnixNanos(1'000'000'000));
  ServerOptions options = TestOptions();
  options.clock = clock;
  options.observer = transcript.Observer();
  server_ = StartOrThrow(std::move(options));
  client_ = TestClient(*server_);
  const SessionName session = client_.OpenSession();
  InBackground commit([&] { return client_.Put("a", 1); });
  // It is parked until its commit is visible; the clock stands still.
  transcript.Await("Commit", CallPhase::kParked);
  InBackground update([&] {
    Response response;
    response.status = wire::DecodeStatus(UpdateDdl({"DROP TABLE t"}));
    return response;
  });
  transcript.Await("UpdateDatabaseDdl", CallPhase::kParked);
  InBackground read(
      [&] { return client_.Call(ExecuteSql{.session = session, .statement = SelectValue("a")}); });
  transcript.Await("ExecuteSql", CallPhase::kParked);
  EXPECT_EQ(transcript.Count("Commit", CallPhase::kAnswered), 0);
  clock->Advance(Seconds(1));
  EXPECT_TRUE(commit.Await().status.ok()) << FormatStatus(commit.Await().status);
  EXPECT_TRUE(update.Await().status.ok()) << FormatStatus(update.Await().status);
  EXPECT_EQ(read.Await().status.code, Code::kInvalidArgument) << "the table was there";
}

TEST_F(ServerAdminTest, RefusesWhatMakesNoDatabase) {
  grpc::ClientContext context;
  database_admin::CreateDatabaseRequest request;
  request.set_parent("projects/test-project/instances/test-instance");
  request.set_create_statement("CREATE DATABASE `-`");
  longrunning::Operation operation;
  const grpc::Status status =
      client_.raw().databases().CreateDatabase(&context, request, &operation);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("CREATE DATABASE"));
}

TEST_F(ServerAdminTest, HasOneConfigurationOfInstances) {
  grpc::ClientContext context;
  instance_admin::ListInstanceConfigsRequest request;
  request.set_parent("projects/test-project");
  instance_admin::ListInstanceConfigsResponse configs;
  ASSERT_TRUE(client_.raw().instances().ListInstanceConfigs(&context, request, &configs).ok());
  ASSERT_EQ(configs.instance_configs_size(), 1);
  grpc::ClientContext second;
  instance_admin::GetInstanceConfigRequest get;
  get.set_name(configs.instance_configs(0).name());
  instance_admin::InstanceConfig config;
  EXPECT_TRUE(client_.raw().instances().GetInstanceConfig(&second, get, &config).ok());
}

TEST(ServerStartTest, SaysWhatIsWrongWithAnInitialDatabase) {
  ServerOptions options;
  options.backend.databases = {{.name = TestDatabase(), .statements = {"CREATE NONSENSE"}}};
  const auto server = Server::Start(std::move(options));
  ASSERT_FALSE(server.ok());
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("NONSENSE"));
}

// Two servers that share a port would each get some of the calls.
TEST(ServerStartTest, RefusesAPortThatIsTaken) {
  const auto first = StartOrThrow(TestOptions());
  ServerOptions options = TestOptions();
  options.port = first->port();
  EXPECT_FALSE(Server::Start(std::move(options)).ok());
}

}  // namespace
}  // namespace whorl::server::admin_test
