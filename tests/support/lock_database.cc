#include "tests/support/lock_database.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <utility>

#include "google/spanner/v1/spanner.grpc.pb.h"
#include "protocol/protocols.h"
#include "real_client/admin_client.h"
#include "real_client/spanner_client.h"
#include "tests/support/client_waits.h"
#include "tests/support/raw_spanner.h"

namespace whorl {
namespace {

std::vector<std::string> TableOf(std::string_view protocol) {
  if (protocol.empty()) return {};
  return {std::string(FindProtocol(protocol)->create_table)};
}

class ModelDatabase final : public LockDatabase {
 public:
  ModelDatabase(std::string_view protocol, std::vector<std::string> ddl) {
    server::ServerOptions options;
    for (std::string& statement : TableOf(protocol)) ddl.push_back(std::move(statement));
    options.backend.databases = {{.name = kLockDatabase, .statements = std::move(ddl)}};
    auto started = server::Server::Start(std::move(options));
    EXPECT_TRUE(started.ok()) << started.status().message();
    if (started.ok()) server_ = *std::move(started);
    server_->SetObserver([this](const server::CallInfo& call, auto, const auto&) {
      const std::lock_guard lock(mutex_);
      if (!call.session.empty()) sessions_.insert(call.session);
    });
  }
  real_client::ConnectionOptions Connection() const override {
    return {.endpoint = server_->address(), .credentials = real_client::Plaintext{}};
  }
  server::Server* server() override { return server_.get(); }
  bool LoseNextCommitReply() override {
    server_->SetFaults([lost = false](const server::CallInfo& call) mutable -> server::FaultAction {
      if (lost || call.method != "Commit") return server::LetPass{};
      lost = true;
      return server::HoldReply{std::make_shared<server::Gate>()};  // never opened
    });
    return true;
  }
  bool DeleteSessions() override {
    std::set<std::string> sessions;
    {
      const std::lock_guard lock(mutex_);
      sessions = sessions_;
    }
    RawSpanner raw(MakeChannel(server_->address()));
    for (const std::string& session : sessions) raw.DeleteSession(session);
    return !sessions.empty();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> sessions_;  // the sessions that calls have named; guarded by mutex_
  std::unique_ptr<server::Server> server_;
};

class EmulatorDatabase final : public LockDatabase {
 public:
  EmulatorDatabase(std::unique_ptr<EmulatorProcess> emulator, std::string_view protocol)
      : emulator_(std::move(emulator)) {
    real_client::AdminClient admin(Connection());
    Answered<Status> instance;
    admin.CreateInstance({.path = "projects/test-project/instances/test-instance"},
                         instance.Callback());
    EXPECT_EQ(FormatStatus(instance.Wait()), "OK");
    Answered<Status> database;
    admin.CreateDatabase(kLockDatabase, TableOf(protocol), database.Callback());
    EXPECT_EQ(FormatStatus(database.Wait()), "OK");
  }
  real_client::ConnectionOptions Connection() const override {
    return {.endpoint = emulator_->address(), .credentials = real_client::Plaintext{}};
  }
  pid_t process() override { return emulator_->process().pid(); }
  bool DeleteSessions() override {
    const auto stub = google::spanner::v1::Spanner::NewStub(emulator_->channel());
    google::spanner::v1::ListSessionsRequest request;
    request.set_database(kLockDatabase);
    google::spanner::v1::ListSessionsResponse sessions;
    grpc::ClientContext context;
    EXPECT_TRUE(stub->ListSessions(&context, request, &sessions).ok());
    RawSpanner raw(emulator_->channel());
    for (const auto& session : sessions.sessions()) raw.DeleteSession(session.name());
    return sessions.sessions_size() > 0;
  }

 private:
  std::unique_ptr<EmulatorProcess> emulator_;
};

class NamedDatabase final : public LockDatabase {
 public:
  explicit NamedDatabase(std::string path) : path_(std::move(path)) {}
  real_client::ConnectionOptions Connection() const override {
    return real_client::ResolveWithEnvironment({});
  }
  std::string path() const override { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<LockDatabase> ServeModel(std::string_view protocol, std::vector<std::string> ddl) {
  auto database = std::make_unique<ModelDatabase>(protocol, std::move(ddl));
  InsertInitRow(*database, protocol);
  return database;
}

std::unique_ptr<LockDatabase> StartEmulator(std::string_view protocol,
                                            const std::vector<std::string>& more) {
  std::unique_ptr<EmulatorProcess> emulator =
      EmulatorProcess::Start(EmulatorAborts::kByDefault, more);
  if (emulator == nullptr) return nullptr;
  auto database = std::make_unique<EmulatorDatabase>(std::move(emulator), protocol);
  InsertInitRow(*database, protocol);
  return database;
}

std::unique_ptr<LockDatabase> NameDatabase(const std::string& path) {
  return std::make_unique<NamedDatabase>(path);
}

void InsertInitRow(const LockDatabase& database, std::string_view protocol) {
  if (protocol.empty() || FindProtocol(protocol)->init_row.empty()) return;
  const ProtocolInfo& info = *FindProtocol(protocol);
  Mutation insert = {.kind = MutationKind::kInsertOrUpdate, .table = std::string(info.table)};
  for (const ColumnInfo& column : info.columns) insert.columns.emplace_back(column.name);
  insert.rows = {info.init_row};
  std::unique_ptr<real_client::SpannerClient> client;
  ASSERT_EQ(FormatStatus(real_client::SpannerClient::Create(
                {.database = kLockDatabase, .connection = database.Connection()}, client)),
            "OK");
  Answered<TransactionResult> answered;
  client->Run({.mode = Mode::kReadWrite, .mutations = {std::move(insert)}}, answered.Callback());
  EXPECT_EQ(FormatStatus(answered.Wait().status), "OK");
}

}  // namespace whorl
