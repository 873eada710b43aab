// Measures how fast the server is: SQL by itself, the backend without sockets, and calls over loopback.
//
//   cmake --build build --target whorl_wire_bench
//   build/bench/whorl_wire_bench --benchmark_filter=Heartbeat
//
// With SPANNER_EMULATOR_HOST, those over loopback (Rpc...) are sent to that server:
//
//   build/tests/whorl_with_database --emulator -- build/bench/whorl_wire_bench --benchmark_filter=Rpc
//
// `calls` are RPCs per second of wall time, of all clients together. Commit wait is off, so that
// the machine's speed is measured and not the clock's uncertainty.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "google/spanner/admin/database/v1/spanner_database_admin.grpc.pb.h"
#include "google/spanner/admin/instance/v1/spanner_instance_admin.grpc.pb.h"
#include "google/spanner/v1/spanner.grpc.pb.h"
#include "live/child_process.h"
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
constexpr const char* kClean = "DELETE FROM locktable WHERE STARTS_WITH(name, @name)";
constexpr const char* kCheck =
    "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND) AS diff, token FROM "
    "locktable WHERE name = @name";

BackendOptions WithLocks() {
  BackendOptions options;
  options.commit_wait = CommitWait::kNone;
  options.epsilon = {};
  // As the emulator has it, so that spindle's heartbeat may delete after its UPDATE.
  options.model.pending_rule = model::PendingRule::kColumn;
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
v1::CommitRequest MakeDelete(const std::string& session, const std::string& name) {
  v1::CommitRequest request;
  request.set_session(session);
  request.mutable_single_use_transaction()->mutable_read_write();
  auto& deletion = *request.add_mutations()->mutable_delete_();
  deletion.set_table("locktable");
  deletion.mutable_key_set()->add_keys()->add_values()->set_string_value(name);
  return request;
}
v1::CommitRequest MakeCommit(const std::string& session, const v1::ResultSet& begun) {
  v1::CommitRequest request;
  request.set_session(session);
  request.set_transaction_id(begun.metadata().transaction().id());
  return request;
}

// Memory of the process now, in MiB.
double ResidentMib() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
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

// A million calls of a lock that is kept, and of locks that are made and deleted: the last hundred
// thousand against the first (`slowing`, of 1 if nothing slows down), and what the process's memory has
// grown in between.
void MillionCalls(benchmark::State& state) {
  constexpr int kParts = 10;
  constexpr int kRoundsInPart = 1'000'000 / kParts / 4;
  BackendCaller caller;
  const std::string session = caller.OpenSession();
  caller.Call<v1::CommitResponse>("Commit", MakeWrite(session, "lock"));
  std::vector<double> seconds;
  double mib_before = 0;
  int64_t made = 0;
  for (auto _ : state) {
    for (int part = 0; part < kParts; ++part) {
      const auto started = std::chrono::steady_clock::now();
      for (int i = 0; i < kRoundsInPart; ++i) {
        const auto begun = caller.Call<v1::ResultSet>("ExecuteSql", MakeHeartbeat(session, "lock"));
        caller.Call<v1::CommitResponse>("Commit", MakeCommit(session, begun));
        const std::string name = "lock " + std::to_string(++made);
        caller.Call<v1::CommitResponse>("Commit", MakeWrite(session, name));
        caller.Call<v1::CommitResponse>("Commit", MakeDelete(session, name));
      }
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
      if (part == 0) mib_before = ResidentMib();
    }
  }
  state.counters["slowing"] = seconds.back() / seconds.front();
  state.counters["grown_mib"] = ResidentMib() - mib_before;
}
BENCHMARK(MillionCalls)->Iterations(1)->Unit(benchmark::kMillisecond);

// --- whorl serve -------------------------------------------------------------------------------

// Measures the time from the start of the process until it says its address, with a table made.
void ServeIsReady(benchmark::State& state) {
  char ddl[] = "/tmp/whorl_bench_XXXXXX";
  const int file = mkstemp(ddl);
  const std::string table = kTable;
  if (file < 0 || write(file, table.data(), table.size()) < 0) throw std::runtime_error("mkstemp");
  close(file);
  double most = 0;
  for (auto _ : state) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    const auto started = std::chrono::steady_clock::now();
    const ChildProcess serve({WHORL_COMMAND, "serve", "--ddl", ddl}, ends[1]);
    close(ends[1]);
    char heard = 0;
    if (read(ends[0], &heard, 1) != 1) throw std::runtime_error(serve.Output());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    state.SetIterationTime(seconds.count());
    most = std::max(most, seconds.count());
    close(ends[0]);
  }
  unlink(ddl);
  state.counters["most_ms"] = most * 1000;
}
BENCHMARK(ServeIsReady)->Iterations(50)->UseManualTime()->Unit(benchmark::kMillisecond);

// --- over loopback ------------------------------------------------------------------------------

// Makes the database on another server.
void MakeDatabaseAt(const std::string& address) {
  namespace instance_admin = google::spanner::admin::instance::v1;
  namespace database_admin = google::spanner::admin::database::v1;
  const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  instance_admin::CreateInstanceRequest instance;
  instance.set_parent("projects/p");
  instance.set_instance_id("in");
  instance.mutable_instance()->set_config("projects/p/instanceConfigs/emulator-config");
  google::longrunning::Operation operation;
  grpc::ClientContext first;
  instance_admin::InstanceAdmin::NewStub(channel)->CreateInstance(&first, instance, &operation);
  database_admin::CreateDatabaseRequest database;
  database.set_parent("projects/p/instances/in");
  database.set_create_statement("CREATE DATABASE db");
  database.add_extra_statements(kTable);
  grpc::ClientContext second;
  const grpc::Status made = database_admin::DatabaseAdmin::NewStub(channel)->CreateDatabase(
      &second, database, &operation);
  if (!made.ok()) throw std::runtime_error(address + ": " + made.error_message());
}

// One server for all clients of a benchmark; each client is a thread with a connection of its own.
const std::string& TheAddress() {
  static const std::string address = [] {
    if (const char* other = std::getenv("SPANNER_EMULATOR_HOST")) {
      MakeDatabaseAt(other);
      return std::string(other);
    }
    static std::unique_ptr<Server> server;
    auto started = Server::Start({.backend = WithLocks()});
    if (!started.ok()) throw std::runtime_error(std::string(started.status().message()));
    server = std::move(*started);
    return server->address();
  }();
  return address;
}

class Client {
 public:
  explicit Client(const std::string& name) {
    grpc::ChannelArguments arguments;
    arguments.SetInt("whorl.client", ++clients_);  // or gRPC would share one connection
    stub_ = v1::Spanner::NewStub(
        grpc::CreateCustomChannel(TheAddress(), grpc::InsecureChannelCredentials(), arguments));
    v1::CreateSessionRequest request;
    request.set_database(kDatabase);
    session_ = Call<v1::Session>(&v1::Spanner::Stub::CreateSession, request).name();
    // The emulator aborts it while another client has its transaction.
    v1::CommitResponse written;
    while (!Try(&v1::Spanner::Stub::Commit, MakeWrite(session_, name), written)) {
    }
  }
  const std::string& session() const { return session_; }

  // False if Spanner has aborted the transaction.
  template <typename Reply, typename Request>
  bool Try(grpc::Status (v1::Spanner::Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
           const Request& request, Reply& reply) {
    grpc::ClientContext context;
    const grpc::Status status = ((*stub_).*method)(&context, request, &reply);
    if (status.ok()) return true;
    if (status.error_code() == grpc::StatusCode::ABORTED) return false;
    throw std::runtime_error(status.error_message());
  }
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

std::string OwnName(const benchmark::State& state) {
  return "lock " + std::to_string(state.thread_index());
}

// Runs `once`, which makes `calls` calls, and reports calls per second and what one run takes, as the
// mean of the clients' percentiles in microseconds.
template <typename Once>
void Measure(benchmark::State& state, double calls_each, const Once& once) {
  std::vector<double> micros;
  for (auto _ : state) {
    const auto started = std::chrono::steady_clock::now();
    once();
    micros.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - started)
            .count());
  }
  std::sort(micros.begin(), micros.end());
  const auto percentile = [&micros](size_t percent) {
    return benchmark::Counter(micros[(micros.size() - 1) * percent / 100],
                              benchmark::Counter::kAvgThreads);
  };
  state.counters["p50_us"] = percentile(50);
  state.counters["p99_us"] = percentile(99);
  state.counters["calls"] = benchmark::Counter(calls_each * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
}

void RpcGetSession(benchmark::State& state) {
  Client client(OwnName(state));
  v1::GetSessionRequest request;
  request.set_name(client.session());
  Measure(state, 1, [&] { client.Call(&v1::Spanner::Stub::GetSession, request); });
}
// spindle's check of who leads.
void RpcCheck(benchmark::State& state) {
  Client client(OwnName(state));
  const auto request = MakeStatement(client.session(), kCheck, OwnName(state));
  Measure(state, 1, [&] { client.Call(&v1::Spanner::Stub::ExecuteSql, request); });
}
void RpcBlindWrite(benchmark::State& state) {
  Client client(OwnName(state));
  const auto request = MakeWrite(client.session(), OwnName(state));
  Measure(state, 1, [&] { client.Call(&v1::Spanner::Stub::Commit, request); });
}
// A lock's heartbeat: an UPDATE that begins, and its Commit. Each client has a row of its own. A server
// of one transaction at a time aborts some, which are begun again.
void Heartbeat(Client& client, const v1::ExecuteSqlRequest& update,
               const v1::ExecuteSqlRequest* second) {
  while (true) {
    v1::ResultSet begun;
    if (!client.Try(&v1::Spanner::Stub::ExecuteSql, update, begun)) continue;
    if (second != nullptr) {
      v1::ExecuteSqlRequest request = *second;
      request.mutable_transaction()->set_id(begun.metadata().transaction().id());
      v1::ResultSet deleted;
      if (!client.Try(&v1::Spanner::Stub::ExecuteSql, request, deleted)) continue;
    }
    v1::CommitResponse committed;
    if (client.Try(&v1::Spanner::Stub::Commit, MakeCommit(client.session(), begun), committed)) {
      return;
    }
  }
}
void RpcHeartbeat(benchmark::State& state) {
  Client client(OwnName(state));
  const auto update = MakeHeartbeat(client.session(), OwnName(state));
  Measure(state, 2, [&] { Heartbeat(client, update, nullptr); });
}
// spindle's heartbeat, which also deletes the rows of takeovers.
void RpcSpindleHeartbeat(benchmark::State& state) {
  Client client(OwnName(state));
  const auto update = MakeHeartbeat(client.session(), OwnName(state));
  auto deletion = MakeStatement(client.session(), kClean, OwnName(state) + "_");
  deletion.set_seqno(2);
  Measure(state, 3, [&] { Heartbeat(client, update, &deletion); });
}
BENCHMARK(RpcGetSession)->Threads(1)->Threads(4)->Threads(16)->UseRealTime();
BENCHMARK(RpcCheck)->Threads(1)->Threads(4)->Threads(16)->Threads(64)->UseRealTime();
BENCHMARK(RpcBlindWrite)->Threads(1)->UseRealTime();
BENCHMARK(RpcHeartbeat)->Threads(1)->Threads(4)->Threads(16)->Threads(64)->UseRealTime();
BENCHMARK(RpcSpindleHeartbeat)->Threads(1)->Threads(4)->Threads(16)->Threads(64)->UseRealTime();

}  // namespace
}  // namespace whorl::server
