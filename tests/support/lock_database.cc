#include "tests/support/lock_database.h"

#include <gtest/gtest.h>

#include <utility>

#include "protocol/protocols.h"
#include "real_client/admin_client.h"
#include "real_client/spanner_client.h"
#include "tests/support/client_waits.h"

namespace whorl {
namespace {

std::vector<std::string> TableOf(std::string_view protocol) {
  if (protocol.empty()) return {};
  return {std::string(FindProtocol(protocol)->create_table)};
}

class ModelDatabase final : public LockDatabase {
 public:
  explicit ModelDatabase(std::string_view protocol) {
    server::ServerOptions options;
    options.backend.databases = {{.name = kLockDatabase, .statements = TableOf(protocol)}};
    auto started = server::Server::Start(std::move(options));
    EXPECT_TRUE(started.ok()) << started.status().message();
    if (started.ok()) server_ = *std::move(started);
  }
  real_client::ConnectionOptions Connection() const override {
    return {.endpoint = server_->address(), .credentials = real_client::Plaintext{}};
  }
  server::Server* server() override { return server_.get(); }

 private:
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

 private:
  std::unique_ptr<EmulatorProcess> emulator_;
};

}  // namespace

std::unique_ptr<LockDatabase> ServeModel(std::string_view protocol) {
  auto database = std::make_unique<ModelDatabase>(protocol);
  InsertInitRow(*database, protocol);
  return database;
}

std::unique_ptr<LockDatabase> StartEmulator(std::string_view protocol) {
  std::unique_ptr<EmulatorProcess> emulator = EmulatorProcess::Start();
  if (emulator == nullptr) return nullptr;
  auto database = std::make_unique<EmulatorDatabase>(std::move(emulator), protocol);
  InsertInitRow(*database, protocol);
  return database;
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
