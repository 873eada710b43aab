// Starts a server with one database, and a client that sends it calls of whorl's vocabulary over gRPC.
#pragma once

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "live/emulator_process.h"
#include "spanner_model/server/server.h"
#include "tests/support/raw_spanner.h"
#include "wire/requests.h"
#include "wire/responses.h"
#include "wire/results.h"
#include "wire/status.h"

namespace whorl::server {

namespace v1 = ::google::spanner::v1;

inline const std::string& TestDatabase() {
  static const std::string name = RawSpanner::DatabaseName("locks");
  return name;
}
inline constexpr const char* kTestTable =
    "CREATE TABLE t (k STRING(MAX) NOT NULL, v INT64, "
    "ts TIMESTAMP OPTIONS (allow_commit_timestamp = true)) PRIMARY KEY (k)";

inline ServerOptions TestOptions() {
  ServerOptions options;
  options.backend.databases = {{.name = TestDatabase(), .statements = {kTestTable}}};
  return options;
}

inline std::unique_ptr<Server> StartOrThrow(ServerOptions options) {
  auto server = Server::Start(std::move(options));
  if (!server.ok()) throw std::runtime_error(std::string(server.status().message()));
  return std::move(*server);
}

// Sends calls of protocol/spanner/rpc.h and waits for each answer.
class TestClient {
 public:
  explicit TestClient(const Server& server) : TestClient(server.address()) {}
  explicit TestClient(const std::string& address) : raw_(MakeChannel(address)) {}

  RawSpanner& raw() { return raw_; }

  SessionName OpenSession(bool multiplexed = false) {
    const auto heard = raw_.CreateSession(TestDatabase(), multiplexed);
    EXPECT_TRUE(heard.ok()) << heard.status.error_message();
    EXPECT_EQ(heard.reply.multiplexed(), multiplexed);
    return heard.reply.name();
  }

  Response Call(const ExecuteSql& call) {
    return Take(raw_.ExecuteSql(wire::Encode(call)), DecodeWhole);
  }
  Response Call(const Read& call) { return Take(raw_.Read(wire::Encode(call)), DecodeWhole); }
  Response Call(const BeginTransaction& call) {
    return Take(raw_.BeginTransaction(wire::Encode(call)), wire::DecodeTransaction);
  }
  Response Call(const Commit& call) {
    return Take(raw_.Commit(wire::Encode(call)), wire::DecodeCommitResponse);
  }
  Response Call(const ExecuteBatchDml& call) {
    return Take(raw_.ExecuteBatchDml(wire::Encode(call)), wire::DecodeBatchDmlResponse);
  }
  Response Call(const Rollback& call) {
    return Take(raw_.Rollback(wire::Encode(call)), DecodeNothing);
  }
  Response Call(const DeleteSession& call) {
    return Take(raw_.DeleteSession(call.session.str()), DecodeNothing);
  }
  Response Call(const GetSession& call) {
    return Take(raw_.GetSession(call.session.str()),
                [](const v1::Session& proto, Response& response) {
                  response.sessions.emplace_back();
                  return wire::DecodeSession(proto, response.sessions.back());
                });
  }

  // A statement of a transaction that writes.
  Response Execute(const SessionName& session, const TransactionSelector& transaction,
                   const Statement& statement, int64_t sequence_number = 1) {
    return Call(ExecuteSql{.session = session,
                           .transaction = transaction,
                           .statement = statement,
                           .sequence_number = sequence_number});
  }

  // Each in a session of its own: a write, the rows of a query, and a transaction that a statement
  // has begun, ready to be committed.
  Response Put(const std::string& key, int64_t value);
  std::vector<Row> Query(const Statement& statement) {
    const Response response = Call(ExecuteSql{.session = OpenSession(), .statement = statement});
    EXPECT_TRUE(response.status.ok()) << FormatStatus(response.status);
    return response.result.rows;
  }
  std::vector<Row> Query(const char* sql) { return Query({.sql = Sql::Intern(sql)}); }
  Commit Begin(const Statement& statement) {
    const SessionName session = OpenSession();
    const Response response = Execute(session, BeginReadWrite{}, statement);
    EXPECT_TRUE(response.status.ok()) << FormatStatus(response.status);
    return {.session = session, .transaction = response.transaction};
  }

  Response Stream(const ExecuteSql& call) {
    return Take(raw_.ExecuteStreamingSql(wire::Encode(call)), DecodeParts);
  }
  Response Stream(const Read& call) {
    return Take(raw_.StreamingRead(wire::Encode(call)), DecodeParts);
  }

 private:
  static Status DecodeNothing(const google::protobuf::Empty&, Response&) { return {}; }
  static Status DecodeWhole(const v1::ResultSet& proto, Response& response) {
    wire::ResultShape shape;
    return wire::DecodeResultSet(proto, response, shape);
  }
  static Status DecodeParts(const std::vector<v1::PartialResultSet>& parts, Response& response) {
    wire::PartialResultDecoder decoder;
    for (const v1::PartialResultSet& part : parts) {
      Status status = decoder.Add(part);
      if (!status.ok()) return status;
    }
    wire::ResultShape shape;
    return decoder.Finish(response, shape);
  }

  template <typename Reply, typename Decode>
  static Response Take(const Heard<Reply>& heard, Decode decode) {
    Response response;
    response.status = wire::DecodeStatus(heard.status, heard.retry_info);
    if (heard.ok()) response.status = decode(heard.reply, response);
    return response;
  }

  RawSpanner raw_;
};

// Records the server's calls in order; a test can wait for them.
class Transcript {
 public:
  struct Entry {
    std::string method;
    CallPhase phase = CallPhase::kArrived;
    std::string session;
    std::string transaction;
    Code code = Code::kOk;
  };

  ObserverFunction Observer() {
    return [this](const CallInfo& info, CallPhase phase, const Status& status) {
      const std::lock_guard lock(mutex_);
      entries_.push_back({.method = std::string(info.method),
                          .phase = phase,
                          .session = info.session,
                          .transaction = info.transaction,
                          .code = status.code});
      changed_.notify_all();
    };
  }
  // Waits until `count` calls of the method have reached the phase.
  void Await(std::string_view method, CallPhase phase, int count = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return CountLocked(method, phase) >= count; });
  }
  int Count(std::string_view method, CallPhase phase) {
    const std::lock_guard lock(mutex_);
    return CountLocked(method, phase);
  }
  std::vector<Entry> entries() {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  int CountLocked(std::string_view method, CallPhase phase) const {
    return static_cast<int>(std::count_if(
        entries_.begin(), entries_.end(),
        [&](const Entry& entry) { return entry.method == method && entry.phase == phase; }));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
};

// A call on its own thread, joined by the destructor at the latest.
class InBackground {
 public:
  explicit InBackground(std::function<Response()> call)
      : thread_([this, call = std::move(call)] { response_ = call(); }) {}
  ~InBackground() {
    if (thread_.joinable()) thread_.join();
  }
  InBackground(const InBackground&) = delete;
  InBackground& operator=(const InBackground&) = delete;
  const Response& Await() {
    if (thread_.joinable()) thread_.join();
    return response_;
  }

 private:
  Response response_;
  std::thread thread_;
};

// --- short forms of statements -------------------------------------------------------------------

inline Statement InsertRow(const std::string& key, int64_t value) {
  return {.sql = Sql::Intern(
              "INSERT INTO t (k, v, ts) VALUES (@k, @v, PENDING_COMMIT_TIMESTAMP())",
              {{.name = "k", .type = Type::kString}, {.name = "v", .type = Type::kInt64}}),
          .parameters = {key, value}};
}
inline Statement UpdateRow(const std::string& key, int64_t value) {
  return {
      .sql = Sql::Intern("UPDATE t SET v = @v WHERE k = @k", {{.name = "k", .type = Type::kString},
                                                              {.name = "v", .type = Type::kInt64}}),
      .parameters = {key, value}};
}
inline Statement SelectValue(const std::string& key) {
  return {
      .sql = Sql::Intern("SELECT v FROM t WHERE k = @k", {{.name = "k", .type = Type::kString}}),
      .parameters = {key}};
}
inline Mutation PutRow(const std::string& key, int64_t value) {
  return {.kind = MutationKind::kInsertOrUpdate,
          .table = "t",
          .columns = {"k", "v", "ts"},
          .rows = {{key, value, std::string(kCommitTimestamp)}}};
}

inline Response TestClient::Put(const std::string& key, int64_t value) {
  return Call(Commit{.session = OpenSession(),
                     .transaction = SingleUseWrite{},
                     .mutations = {PutRow(key, value)}});
}

}  // namespace whorl::server
