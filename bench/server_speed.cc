// How fast the server is: SQL by itself, the backend without sockets, and calls over loopback.
//
//   cmake --build build --target whorl_wire_bench
//   build/bench/whorl_wire_bench --benchmark_filter=Heartbeat
//
// `calls` are RPCs per second of wall time, of all clients together. Commit wait is off, so that
// the machine's speed is measured and not the clock's uncertainty.
#include <benchmark/benchmark.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "google/spanner/v1/spanner.grpc.pb.h"
#include "spanner_model/server/server.h"
#include "spanner_model/sql/compile.h"

namespace whorl::server {
namespace {

namespace v1 = ::google::spanner::v1;

constexpr const char* kDatabase = "projects/p/instances/in/databases/db";
constexpr const char* kTable =
    "CREATE TABLE locktable (name STRING(MAX) NOT NULL, heartbeat TIMESTAMP OPTIONS "
    "(allow_commit_timestamp = true), token TIMESTAMP OPTIONS (allow_commit_timestamp = true), "
    "writer STRING(MAX)) PRIMARY KEY (name)";
constexpr const char* kHeartbeat =
    "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = @name";
constexpr const char* kCheck =
    "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND) AS diff, token FROM "
    "locktable WHERE name = @name";

BackendOptions WithLocks() {
  BackendOptions options;
  options.commit_wait = CommitWait::kNone;
  options.epsilon = {};
  options.databases = {{.name = kDatabase, .statements = {kTable}}};
  return options;
}

std::vector<Parameter> Name() { return {{.name = "name", .type = Type::kString}}; }

// --- SQL ----------------------------------------------------------------------------------------

void SqlCompiled(benchmark::State& state, const char* text) {
  auto table = model::ParseCreateTable(kTable);
  const model::Schema schema = {.tables = {std::get<model::Table>(table)}};
  const std::vector<Parameter> parameters = Name();
  for (auto _ : state) benchmark::DoNotOptimize(model::Compile(schema, text, parameters));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(SqlCompiled, heartbeat, kHeartbeat);
BENCHMARK_CAPTURE(SqlCompiled, check, kCheck);

void SqlFromTheCache(benchmark::State& state) {
  auto table = model::ParseCreateTable(kTable);
  model::Catalogue catalogue({.tables = {std::get<model::Table>(table)}}, {}, {});
  StatementCache cache(catalogue, {});
  for (auto _ : state) benchmark::DoNotOptimize(cache.Use(kHeartbeat, Name()));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(SqlFromTheCache);

// --- requests -----------------------------------------------------------------------------------

v1::ExecuteSqlRequest MakeStatement(const std::string& session, const char* sql,
                                    const std::string& name) {
  v1::ExecuteSqlRequest request;
  request.set_session(session);
  request.set_sql(sql);
  (*request.mutable_params()->mutable_fields())["name"].set_string_value(name);
  (*request.mutable_param_types())["name"].set_code(v1::STRING);
  return request;
}
v1::ExecuteSqlRequest MakeHeartbeat(const std::string& session, const std::string& name) {
  v1::ExecuteSqlRequest request = MakeStatement(session, kHeartbeat, name);
  request.mutable_transaction()->mutable_begin()->mutable_read_write();
  request.set_seqno(1);
  return request;
}
v1::CommitRequest MakeWrite(const std::string& session, const std::string& name) {
  v1::CommitRequest request;
  request.set_session(session);
  request.mutable_single_use_transaction()->mutable_read_write();
  auto& write = *request.add_mutations()->mutable_insert_or_update();
  write.set_table("locktable");
  for (const char* column : {"name", "heartbeat"}) write.add_columns(column);
  auto& row = *write.add_values();
  row.add_values()->set_string_value(name);
  row.add_values()->set_string_value("spanner.commit_timestamp()");
  return request;
}
v1::CommitRequest MakeCommit(const std::string& session, const v1::ResultSet& begun) {
  v1::CommitRequest request;
  request.set_session(session);
  request.set_transaction_id(begun.metadata().transaction().id());
  return request;
}

// --- without sockets ----------------------------------------------------------------------------

class BackendCaller {
 public:
  BackendCaller() : backend_(WithLocks()) {
    if (!backend_.Start(now_).ok()) throw std::runtime_error("the backend does not start");
  }
  template <typename Reply, typename Request>
  Reply Call(const std::string& method, const Request& request) {
    std::vector<CallOutcome> outcomes;
    now_ = now_ + Microseconds(10);
    backend_.Handle(*FindMethod("/google.spanner.v1.Spanner/" + method),
                    std::make_shared<const Request>(request), ++tag_, now_, outcomes);
    if (outcomes.size() != 1 || !outcomes[0].answer->status.ok()) {
      throw std::runtime_error(method + " failed");
    }
    return static_cast<const Reply&>(*outcomes[0].answer->messages[0]);
  }
  std::string OpenSession() {
    v1::CreateSessionRequest request;
    request.set_database(kDatabase);
    return Call<v1::Session>("CreateSession", request).name();
  }

 private:
  Timestamp now_ = Timestamp::FromUnixNanos(1'800'000'000'000'000'000);
  Backend backend_;
  CallTag tag_ = 0;
};

void BackendHeartbeat(benchmark::State& state) {
  BackendCaller caller;
  const std::string session = caller.OpenSession();
  caller.Call<v1::CommitResponse>("Commit", MakeWrite(session, "lock"));
  for (auto _ : state) {
    const auto begun = caller.Call<v1::ResultSet>("ExecuteSql", MakeHeartbeat(session, "lock"));
    caller.Call<v1::CommitResponse>("Commit", MakeCommit(session, begun));
  }
  state.counters["calls"] = benchmark::Counter(2.0 * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
}
BENCHMARK(BackendHeartbeat);

// --- over loopback ------------------------------------------------------------------------------

// One server for all clients of a benchmark; each client is a thread with a connection of its own.
Server& TheServer() {
  static const std::unique_ptr<Server> server = [] {
    auto started = Server::Start({.backend = WithLocks()});
    if (!started.ok()) throw std::runtime_error(std::string(started.status().message()));
    return std::move(*started);
  }();
  return *server;
}

class Client {
 public:
  explicit Client(const std::string& name) {
    grpc::ChannelArguments arguments;
    arguments.SetInt("whorl.client", ++clients_);  // or gRPC would share one connection
    stub_ = v1::Spanner::NewStub(grpc::CreateCustomChannel(
        TheServer().address(), grpc::InsecureChannelCredentials(), arguments));
    v1::CreateSessionRequest request;
    request.set_database(kDatabase);
    session_ = Call<v1::Session>(&v1::Spanner::Stub::CreateSession, request).name();
    Call<v1::CommitResponse>(&v1::Spanner::Stub::Commit, MakeWrite(session_, name));
  }
  const std::string& session() const { return session_; }

  template <typename Reply, typename Request>
  Reply Call(grpc::Status (v1::Spanner::Stub::*method)(grpc::ClientContext*, const Request&,
                                                       Reply*),
             const Request& request) {
    grpc::ClientContext context;
    Reply reply;
    const grpc::Status status = ((*stub_).*method)(&context, request, &reply);
    if (!status.ok()) throw std::runtime_error(status.error_message());
    return reply;
  }

 private:
  static std::atomic<int> clients_;
  std::unique_ptr<v1::Spanner::Stub> stub_;
  std::string session_;
};
std::atomic<int> Client::clients_ = 0;

void Count(benchmark::State& state, double calls_each) {
  state.counters["calls"] = benchmark::Counter(calls_each * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
}
std::string OwnName(const benchmark::State& state) {
  return "lock " + std::to_string(state.thread_index());
}

void RpcGetSession(benchmark::State& state) {
  Client client(OwnName(state));
  v1::GetSessionRequest request;
  request.set_name(client.session());
  for (auto _ : state) client.Call(&v1::Spanner::Stub::GetSession, request);
  Count(state, 1);
}
void RpcQuery(benchmark::State& state) {
  Client client(OwnName(state));
  const auto request = MakeStatement(client.session(), kCheck, OwnName(state));
  for (auto _ : state) client.Call(&v1::Spanner::Stub::ExecuteSql, request);
  Count(state, 1);
}
void RpcBlindWrite(benchmark::State& state) {
  Client client(OwnName(state));
  const auto request = MakeWrite(client.session(), OwnName(state));
  for (auto _ : state) client.Call(&v1::Spanner::Stub::Commit, request);
  Count(state, 1);
}
// A lock's heartbeat: an UPDATE that begins, and its Commit. Each client has a row of its own.
void RpcHeartbeat(benchmark::State& state) {
  Client client(OwnName(state));
  const auto heartbeat = MakeHeartbeat(client.session(), OwnName(state));
  for (auto _ : state) {
    const auto begun = client.Call(&v1::Spanner::Stub::ExecuteSql, heartbeat);
    client.Call(&v1::Spanner::Stub::Commit, MakeCommit(client.session(), begun));
  }
  Count(state, 2);
}
BENCHMARK(RpcGetSession)->Threads(1)->Threads(4)->Threads(16)->UseRealTime();
BENCHMARK(RpcQuery)->Threads(1)->Threads(4)->Threads(16)->UseRealTime();
BENCHMARK(RpcBlindWrite)->Threads(1)->UseRealTime();
BENCHMARK(RpcHeartbeat)->Threads(1)->Threads(4)->Threads(16)->UseRealTime();

}  // namespace
}  // namespace whorl::server
