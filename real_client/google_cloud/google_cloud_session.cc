#include "real_client/google_cloud/google_cloud_session.h"

#include <google/cloud/background_threads.h>
#include <google/cloud/common_options.h>
#include <google/cloud/grpc_options.h>
#include <google/cloud/spanner/backoff_policy.h>
#include <google/cloud/spanner/options.h>
#include <google/cloud/spanner/retry_policy.h>

#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "base/time.h"
#include "protocol/client/transaction_runner.h"
#include "real_client/connection.h"
#include "real_client/google_cloud/google_cloud_values.h"
#include "real_client/transport.h"

namespace whorl::real_client {
namespace {

namespace cloud = google::cloud;
namespace spanner = google::cloud::spanner;

constexpr const char* kTransactionId = "the library's";

// The background thread that all connections share.
class SharedThread final : public cloud::BackgroundThreads {
 public:
  explicit SharedThread(cloud::CompletionQueue queue) : queue_(std::move(queue)) {}
  cloud::CompletionQueue cq() const override { return queue_; }

 private:
  cloud::CompletionQueue queue_;
};

// The client gives up a call at its deadline; this only ends the call. gRPC 1.51.1 may count the
// timeout from two seconds before the call.
constexpr Duration kLate = Seconds(2);

std::string MethodConfig(const std::string& method, Duration timeout) {
  const std::string name = method.empty() ? "" : R"(,"method":")" + method + '"';
  return R"({"name":[{"service":"google.spanner.v1.Spanner")" + name + R"(}],"timeout":")" +
         FormatSeconds(timeout + kLate) + R"(s"})";
}

std::string ServiceConfig(const RetryPolicy& policy) {
  return R"({"methodConfig":[)" + MethodConfig("", policy.statement_timeout) + "," +
         MethodConfig("ExecuteStreamingSql", policy.query_timeout) + "," +
         MethodConfig("Commit", policy.commit_timeout) + "]}";
}

std::map<std::string, std::string> ChannelArguments(const ClientOptions& options) {
  std::map<std::string, std::string> arguments = {
      {"grpc.service_config", ServiceConfig(options.retry)}};
  const auto* tls = std::get_if<Tls>(&options.connection.credentials);
  if (tls != nullptr && !tls->server_name.empty()) {
    arguments["grpc.ssl_target_name_override"] = tls->server_name;
  }
  return arguments;
}

cloud::Options OptionsOf(const ClientOptions& options, const cloud::CompletionQueue& queue) {
  // No failure is retried, so the pause is never used.
  constexpr auto kNever = std::chrono::milliseconds(1);
  return cloud::Options{}
      .set<cloud::EndpointOption>(options.connection.endpoint)
      .set<cloud::GrpcNumChannelsOption>(1)
      .set<cloud::GrpcBackgroundThreadsFactoryOption>(
          [queue] { return std::make_unique<SharedThread>(queue); })
      .set<spanner::SpannerRetryPolicyOption>(
          std::make_shared<spanner::LimitedErrorCountRetryPolicy>(0))
      .set<spanner::SpannerBackoffPolicyOption>(
          std::make_shared<spanner::ExponentialBackoffPolicy>(kNever, kNever, 2.0))
      .set<spanner::SessionPoolMinSessionsOption>(0)
      .set<spanner::SessionPoolMaxSessionsPerChannelOption>(1)
      .set<spanner::SessionPoolActionOnExhaustionOption>(spanner::ActionOnExhaustion::kFail);
}

spanner::Database DatabaseOf(const std::string& path) {
  DatabaseName name;
  static_cast<void>(ParseDatabaseName(path, name));
  return {name.project, name.instance, name.database};
}

// From v2.11 on, a Transaction has lock modes.
template <typename T>
constexpr bool kHasLockModes = requires { T::ReadLockMode::kOptimistic; };

template <typename T>
typename T::ReadWriteOptions ReadWriteOptions(LockMode mode) {
  if constexpr (kHasLockModes<T>) {
    if (mode == LockMode::kOptimistic) {
      return typename T::ReadWriteOptions(T::ReadLockMode::kOptimistic);
    }
  }
  return {};
}

StatementResult Drain(spanner::RowStream stream, std::optional<Timestamp>* read_timestamp) {
  StatementResult result;
  for (const cloud::StatusOr<spanner::Row>& row : stream) {
    Row decoded;
    result.status = row ? FromLibrary(*row, decoded) : FromLibrary(row.status());
    if (!result.status.ok()) return {.status = std::move(result.status)};
    result.rows.push_back(std::move(decoded));
  }
  if (read_timestamp != nullptr) {
    if (const auto at = stream.ReadTimestamp()) *read_timestamp = FromLibrary(*at);
  }
  return result;
}

Response Failed(Status status) {
  Response response;
  response.status = std::move(status);
  return response;
}

}  // namespace

bool GoogleCloudCanBeOptimistic() { return kHasLockModes<spanner::Transaction>; }

// --- connections ---------------------------------------------------------------------------------

GoogleCloudConnector::GoogleCloudConnector(const ClientOptions& options)
    : database_(DatabaseOf(options.database)),
      connection_(options.connection),
      options_(OptionsOf(options, queue_)),
      background_([queue = queue_]() mutable { queue.Run(); }) {
  options_.set<cloud::GrpcChannelArgumentsOption>(ChannelArguments(options));
}

GoogleCloudConnector::~GoogleCloudConnector() {
  queue_.Shutdown();
  background_.join();
}

Status GoogleCloudConnector::Connect(size_t number, std::shared_ptr<spanner::Connection>& out) {
  const std::lock_guard lock(mutex_);
  if (credentials_ == nullptr) {
    Status status = MakeCredentials(connection_.credentials, credentials_);
    if (!status.ok()) return status;
  }
  cloud::Options options = options_;
  options.set<cloud::GrpcCredentialOption>(credentials_);
  // Without it, channels with equal arguments would share one TCP connection.
  auto& arguments = options.lookup<cloud::GrpcChannelArgumentsOption>();
  arguments["whorl.channel"] = std::to_string(number % static_cast<size_t>(connection_.channels));
  out = spanner::MakeConnection(database_, std::move(options));
  return {};
}

// --- calls ---------------------------------------------------------------------------------------

Response GoogleCloudSession::Do(const Request& request) {
  Status connected = Connect();
  if (!connected.ok()) return Failed(std::move(connected));
  return std::visit([this](const auto& call) { return Call(call); }, request);
}

void GoogleCloudSession::Forget() {
  transaction_.reset();
  open_ = false;
}

Status GoogleCloudSession::Connect() {
  if (client_) return {};
  std::shared_ptr<spanner::Connection> connection;
  Status status = connector_.Connect(number_, connection);
  if (status.ok()) client_.emplace(std::move(connection));
  return status;
}

void GoogleCloudSession::Begin(const BeginReadWrite& options) {
  const auto library_options = ReadWriteOptions<spanner::Transaction>(options.lock_mode);
  if (transaction_ && !options.previous.empty()) {
    transaction_ = spanner::MakeReadWriteTransaction(*transaction_, library_options);
  } else {
    transaction_.reset();  // it returns the only session
    transaction_ = spanner::MakeReadWriteTransaction(library_options);
  }
  open_ = true;
}

Response GoogleCloudSession::Call(const ExecuteSql& call) {
  Response response;
  if (std::holds_alternative<SingleUseRead>(call.transaction)) {
    Forget();
    const auto strong = spanner::Transaction::SingleUseOptions(
        spanner::Transaction::ReadOnlyOptions());  // always requests the read timestamp
    response.result =
        Drain(client_->ExecuteQuery(strong, ToLibrary(call.statement)), &response.read_timestamp);
    response.status = std::exchange(response.result.status, {});
    return response;
  }
  const auto* begin = std::get_if<BeginReadWrite>(&call.transaction);
  if (begin != nullptr) Begin(*begin);
  response = InTransaction(call.statement);
  if (begin != nullptr && response.status.ok()) response.transaction = kTransactionId;
  return response;
}

// The library has no such call, so this sends a query that reads no table.
Response GoogleCloudSession::Call(const BeginTransaction& call) {
  Begin(std::get<BeginReadWrite>(call.options));
  static const Sql nothing = Sql::Intern("SELECT 1");
  Response response = InTransaction({.sql = nothing, .parameters = {}});
  response.result = {};
  if (response.status.ok()) response.transaction = kTransactionId;
  return response;
}

Response GoogleCloudSession::InTransaction(const Statement& statement) {
  Response response;
  if (IsQuery(statement.sql.text())) {
    response.result = Drain(client_->ExecuteQuery(*transaction_, ToLibrary(statement)), nullptr);
    response.status = std::exchange(response.result.status, {});
  } else if (auto changed = client_->ExecuteDml(*transaction_, ToLibrary(statement))) {
    response.result.row_count = changed->RowsModified();
  } else {
    response.status = FromLibrary(changed.status());
  }
  // Spanner has ended aborted transactions and those of a deleted session.
  if (response.status.code == Code::kAborted || IsSessionNotFound(response.status)) open_ = false;
  return response;
}

Response GoogleCloudSession::Call(const Commit& call) {
  spanner::Mutations mutations;
  for (const Mutation& mutation : call.mutations) mutations.push_back(ToLibrary(mutation));
  open_ = false;
  Response response;
  auto committed = client_->Commit(*transaction_, std::move(mutations));
  if (committed) {
    response.commit_timestamp = FromLibrary(committed->commit_timestamp);
  } else {
    response.status = FromLibrary(committed.status());
  }
  return response;
}

Response GoogleCloudSession::Call(const Rollback&) {
  open_ = false;
  return Failed(FromLibrary(client_->Rollback(*transaction_)));
}

// For requests that the runner does not send.
template <typename Other>
Response GoogleCloudSession::Call(const Other&) {
  return Failed(Error(Code::kUnimplemented, "this client does not send that"));
}

}  // namespace whorl::real_client
