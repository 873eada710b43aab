// A server with one database, and a client of whorl's own vocabulary that speaks to it over gRPC.
#pragma once

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "google/longrunning/operations.grpc.pb.h"
#include "google/spanner/admin/database/v1/spanner_database_admin.grpc.pb.h"
#include "google/spanner/admin/instance/v1/spanner_instance_admin.grpc.pb.h"
#include "google/spanner/v1/spanner.grpc.pb.h"
#include "spanner_model/server/server.h"
#include "wire/requests.h"
#include "wire/responses.h"
#include "wire/status.h"

namespace whorl::server {

namespace v1 = ::google::spanner::v1;

inline constexpr const char* kTestDatabase = "projects/p/instances/in/databases/db";
inline constexpr const char* kTestTable =
    "CREATE TABLE t (k STRING(MAX) NOT NULL, v INT64, "
    "at TIMESTAMP OPTIONS (allow_commit_timestamp = true)) PRIMARY KEY (k)";

inline ServerOptions TestOptions() {
  ServerOptions options;
  options.backend.databases = {{.name = kTestDatabase, .statements = {kTestTable}}};
  return options;
}

inline std::unique_ptr<Server> StartOrDie(ServerOptions options) {
  auto server = Server::Start(std::move(options));
  if (!server.ok()) throw std::runtime_error(std::string(server.status().message()));
  return std::move(*server);
}

struct Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : spanner(v1::Spanner::NewStub(channel)),
        instances(instance_admin::InstanceAdmin::NewStub(channel)),
        databases(database_admin::DatabaseAdmin::NewStub(channel)),
        operations(longrunning::Operations::NewStub(channel)) {}
  std::unique_ptr<v1::Spanner::Stub> spanner;
  std::unique_ptr<instance_admin::InstanceAdmin::Stub> instances;
  std::unique_ptr<database_admin::DatabaseAdmin::Stub> databases;
  std::unique_ptr<longrunning::Operations::Stub> operations;
};

inline Status ToStatus(const grpc::Status& status, const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto trailer = trailers.find(std::string(wire::kRetryInfoTrailer));
  if (trailer == trailers.end()) return wire::DecodeStatus(status);
  return wire::DecodeStatus(status,
                            std::string_view(trailer->second.data(), trailer->second.size()));
}

// Calls of protocol/spanner/rpc.h, each made and waited for.
class TestClient {
 public:
  explicit TestClient(const Server& server)
      : TestClient(grpc::CreateChannel(server.address(), grpc::InsecureChannelCredentials())) {}
  explicit TestClient(const std::shared_ptr<grpc::Channel>& channel) : stubs_(channel) {}

  Stubs& stubs() { return stubs_; }

  SessionName OpenSession(bool multiplexed = false) {
    grpc::ClientContext context;
    v1::Session session;
    const grpc::Status status = stubs_.spanner->CreateSession(
        &context, wire::Encode(CreateSession{.multiplexed = multiplexed}, kTestDatabase), &session);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(session.multiplexed(), multiplexed);
    return session.name();
  }

  Response Call(const ExecuteSql& call) {
    return Unary<v1::ResultSet>(&v1::Spanner::Stub::ExecuteSql, call, DecodeResult);
  }
  Response Call(const Read& call) {
    return Unary<v1::ResultSet>(&v1::Spanner::Stub::Read, call, DecodeResult);
  }
  Response Call(const BeginTransaction& call) {
    return Unary<v1::Transaction>(&v1::Spanner::Stub::BeginTransaction, call,
                                  wire::DecodeTransaction);
  }
  Response Call(const Commit& call) {
    return Unary<v1::CommitResponse>(&v1::Spanner::Stub::Commit, call, wire::DecodeCommitResponse);
  }
  Response Call(const ExecuteBatchDml& call) {
    return Unary<v1::ExecuteBatchDmlResponse>(&v1::Spanner::Stub::ExecuteBatchDml, call,
                                              wire::DecodeBatchDmlResponse);
  }
  Response Call(const Rollback& call) {
    return Unary<google::protobuf::Empty>(&v1::Spanner::Stub::Rollback, call, NothingIn);
  }
  Response Call(const DeleteSession& call) {
    return Unary<google::protobuf::Empty>(&v1::Spanner::Stub::DeleteSession, call, NothingIn);
  }
  Response Call(const GetSession& call) {
    return Unary<v1::Session>(&v1::Spanner::Stub::GetSession, call,
                              [](const v1::Session& proto, Response& response) {
                                response.sessions.emplace_back();
                                return wire::DecodeSession(proto, response.sessions.back());
                              });
  }
  // ExecuteStreamingSql; `parts`, if given, counts what the stream brought.
  Response Stream(const ExecuteSql& call, int* parts = nullptr) {
    grpc::ClientContext context;
    const auto reader = stubs_.spanner->ExecuteStreamingSql(&context, wire::Encode(call));
    v1::PartialResultSet part;
    wire::PartialResultDecoder decoder;
    int count = 0;
    while (reader->Read(&part)) {
      ++count;
      EXPECT_TRUE(decoder.Add(part).ok());
    }
    if (parts != nullptr) *parts = count;
    Response response;
    response.status = ToStatus(reader->Finish(), context);
    if (!response.status.ok()) return response;
    wire::ResultShape shape;
    response.status = decoder.Finish(response, shape);
    return response;
  }

  // The shape of the last result.
  const wire::ResultShape& shape() const { return shape_; }

 private:
  static Status NothingIn(const google::protobuf::Empty&, Response&) { return {}; }

  static Status DecodeResult(const v1::ResultSet& proto, Response& response) {
    wire::ResultShape shape;
    return wire::DecodeResultSet(proto, response, shape);
  }

  template <typename Proto, typename Method, typename CallType, typename Decode>
  Response Unary(Method method, const CallType& call, Decode decode) {
    grpc::ClientContext context;
    Proto proto;
    Response response;
    response.status =
        ToStatus(((*stubs_.spanner).*method)(&context, wire::Encode(call), &proto), context);
    if (response.status.ok()) response.status = decode(proto, response);
    return response;
  }

  Stubs stubs_;
  wire::ResultShape shape_;
};

// What the server did, in order, and a way to wait for it.
class Transcript {
 public:
  ObserverFunction Observer() {
    return [this](const CallInfo& info, CallStage stage, const Status& status) {
      const std::lock_guard<std::mutex> lock(mutex_);
      entries_.push_back({.info = info, .stage = stage, .code = status.code});
      changed_.notify_all();
    };
  }
  // Until that many calls of the method have come so far.
  void Await(std::string_view method, CallStage stage, size_t count = 1) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return Count(method, stage) >= count; });
  }
  size_t CountOf(std::string_view method, CallStage stage) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Count(method, stage);
  }
  struct Entry {
    CallInfo info;
    CallStage stage = CallStage::kArrived;
    Code code = Code::kOk;
  };
  std::vector<Entry> entries() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_;
  }

 private:
  size_t Count(std::string_view method, CallStage stage) const {
    return static_cast<size_t>(std::count_if(
        entries_.begin(), entries_.end(),
        [&](const Entry& entry) { return entry.info.method == method && entry.stage == stage; }));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
};

// A call on a thread of its own; joined at the latest when this goes.
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

// --- calls, for short ----------------------------------------------------------------------------

inline Statement Text(std::string_view text, std::vector<Parameter> parameters = {},
                      std::vector<Value> values = {}) {
  return {.sql = Sql::Intern(text, std::move(parameters)), .parameters = std::move(values)};
}
inline Statement InsertRow(const std::string& key, int64_t value) {
  return Text("INSERT INTO t (k, v, at) VALUES (@k, @v, PENDING_COMMIT_TIMESTAMP())",
              {{.name = "k", .type = Type::kString}, {.name = "v", .type = Type::kInt64}},
              {key, value});
}
inline Statement UpdateRow(const std::string& key, int64_t value) {
  return Text("UPDATE t SET v = @v WHERE k = @k",
              {{.name = "k", .type = Type::kString}, {.name = "v", .type = Type::kInt64}},
              {key, value});
}
inline Statement SelectRow(const std::string& key) {
  return Text("SELECT v FROM t WHERE k = @k", {{.name = "k", .type = Type::kString}}, {key});
}

}  // namespace whorl::server
