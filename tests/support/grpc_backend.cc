#include "tests/support/grpc_backend.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "google/spanner/v1/spanner.grpc.pb.h"
#include "real_client/spanner_client.h"
#include "tests/support/client_waits.h"
#include "tests/support/raw_spanner.h"
#include "wire/requests.h"
#include "wire/responses.h"
#include "wire/results.h"
#include "wire/status.h"

namespace whorl {
namespace {

namespace v1 = google::spanner::v1;

// Has no schema: parameters come with their types, and values in mutations are decoded and encoded
// again by their kinds.
class NoDirectory final : public wire::Directory {
 public:
  Sql FindSql(std::string_view text, std::vector<Parameter> parameters) override {
    return Sql::Intern(text, std::move(parameters));
  }
  std::optional<std::vector<Parameter>> InferParameters(
      std::string_view, const std::vector<Parameter>&) const override {
    return std::vector<Parameter>();
  }
  std::optional<Type> ColumnType(std::string_view, std::string_view) const override {
    return std::nullopt;
  }
  std::optional<std::vector<Type>> KeyTypes(std::string_view) const override {
    return std::nullopt;
  }
};

// Forwards calls to the real server.
class ForwardingServer final : public ScriptedServer {
 public:
  ForwardingServer(const std::shared_ptr<grpc::Channel>& channel, std::string database)
      : raw_(channel), database_(std::move(database)) {}

  Response Serve(const Request& request) override {
    return std::visit([this](const auto& call) { return Forward(call); }, request);
  }
  // The result shape of the last statement that was served.
  const wire::ResultShape& shape() const { return shape_; }

 private:
  template <typename Reply, typename Decode>
  static Response Take(const Heard<Reply>& heard, Decode decode) {
    Response response;
    response.status = wire::DecodeStatus(heard.status, heard.retry_info);
    if (heard.ok()) response.status = decode(heard.reply, response);
    return response;
  }
  static Status Nothing(const google::protobuf::Empty&, Response&) { return {}; }

  Response Forward(const ExecuteSql& call) {
    shape_ = {};
    return Take(raw_.ExecuteSql(wire::Encode(call)), [&](const auto& reply, Response& response) {
      return wire::DecodeResultSet(reply, response, shape_);
    });
  }
  Response Forward(const BeginTransaction& call) {
    return Take(raw_.BeginTransaction(wire::Encode(call)), wire::DecodeTransaction);
  }
  Response Forward(const Commit& call) {
    return Take(raw_.Commit(wire::Encode(call)), wire::DecodeCommitResponse);
  }
  Response Forward(const Rollback& call) {
    return Take(raw_.Rollback(wire::Encode(call)), Nothing);
  }
  Response Forward(const CreateSession& call) {
    return Take(raw_.CreateSession(database_, call.multiplexed),
                [](const v1::Session& reply, Response& response) {
                  return wire::DecodeSession(reply, response.sessions.emplace_back());
                });
  }
  Response Forward(const DeleteSession& call) {
    return Take(raw_.DeleteSession(call.session.str()), Nothing);
  }
  template <typename Other>
  Response Forward(const Other&) {
    throw std::logic_error("the client does not send this call");
  }

  RawSpanner raw_;
  std::string database_;
  wire::ResultShape shape_;
};

// The server to which the client connects.
class Proxy final : public v1::Spanner::Service {
 public:
  explicit Proxy(ForwardingServer& server) : server_(server) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    grpc_server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~Proxy() override { grpc_server_->Shutdown(); }

  const std::string& address() const { return address_; }

  // From now on, calls of transactions pass through `network`. REQUIRES: none is under way.
  void Use(ScriptedNetwork* network) {
    const std::lock_guard lock(mutex_);
    network_ = network;
  }
  // Ends hanging calls, the current and all later ones.
  void Release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

  grpc::Status CreateSession(grpc::ServerContext*, const v1::CreateSessionRequest* request,
                             v1::Session* reply) override {
    return Create(request->session().multiplexed(), *reply);
  }
  grpc::Status BatchCreateSessions(grpc::ServerContext*,
                                   const v1::BatchCreateSessionsRequest* request,
                                   v1::BatchCreateSessionsResponse* reply) override {
    for (int i = 0; i < request->session_count(); ++i) {
      const grpc::Status status = Create(/*multiplexed=*/false, *reply->add_session());
      if (!status.ok()) return status;
    }
    return grpc::Status::OK;
  }
  grpc::Status DeleteSession(grpc::ServerContext*, const v1::DeleteSessionRequest* request,
                             google::protobuf::Empty*) override {
    const std::lock_guard lock(mutex_);
    return wire::EncodeStatus(
        server_.Serve(whorl::DeleteSession{.session = request->name()}).status);
  }
  grpc::Status ExecuteSql(grpc::ServerContext*, const v1::ExecuteSqlRequest* request,
                          v1::ResultSet* reply) override {
    return Deliver<whorl::ExecuteSql>(*request, [&](const Response& response) {
      *reply = wire::EncodeResultSet(response, server_.shape());
    });
  }
  grpc::Status ExecuteStreamingSql(grpc::ServerContext*, const v1::ExecuteSqlRequest* request,
                                   grpc::ServerWriter<v1::PartialResultSet>* writer) override {
    return Deliver<whorl::ExecuteSql>(*request, [&](const Response& response) {
      for (const auto& part : wire::EncodePartialResultSets(response, server_.shape())) {
        writer->Write(part);
      }
    });
  }
  grpc::Status BeginTransaction(grpc::ServerContext*, const v1::BeginTransactionRequest* request,
                                v1::Transaction* reply) override {
    return Deliver<whorl::BeginTransaction>(
        *request, [&](const Response& response) { *reply = wire::EncodeTransaction(response); });
  }
  grpc::Status Commit(grpc::ServerContext*, const v1::CommitRequest* request,
                      v1::CommitResponse* reply) override {
    return Deliver<whorl::Commit>(
        *request, [&](const Response& response) { *reply = wire::EncodeCommitResponse(response); });
  }
  grpc::Status Rollback(grpc::ServerContext*, const v1::RollbackRequest* request,
                        google::protobuf::Empty*) override {
    return Deliver<whorl::Rollback>(*request, [](const Response&) {});
  }

 private:
  grpc::Status Create(bool multiplexed, v1::Session& reply) {
    const std::lock_guard lock(mutex_);
    const Response made = server_.Serve(whorl::CreateSession{.multiplexed = multiplexed});
    if (made.status.ok()) reply = wire::EncodeSession(made.sessions.front());
    return wire::EncodeStatus(made.status);
  }

  template <typename Call, typename Proto, typename Fill>
  grpc::Status Deliver(const Proto& proto, Fill fill) {
    std::unique_lock lock(mutex_);
    Call call;
    NoDirectory directory;
    Status decoded;
    if constexpr (requires { wire::Decode(proto, directory, call); }) {
      decoded = wire::Decode(proto, directory, call);
    } else {
      decoded = wire::Decode(proto, call);
    }
    if (!decoded.ok()) return wire::EncodeStatus(decoded);
    const std::optional<Response> heard = network_->Deliver(call);
    if (!heard) {
      changed_.wait(lock, [this] { return released_; });
      return wire::EncodeStatus(Error(Code::kUnavailable, "nobody waits any more"));
    }
    if (heard->status.ok()) fill(*heard);
    return wire::EncodeStatus(heard->status);
  }

  ForwardingServer& server_;
  std::unique_ptr<grpc::Server> grpc_server_;
  std::string address_;
  std::mutex mutex_;  // guards the members below; held for one call at a time
  std::condition_variable changed_;
  ScriptedNetwork* network_ = nullptr;
  bool released_ = false;
};

}  // namespace

Status MakeSpannerClient(real_client::ClientOptions options,
                         std::unique_ptr<real_client::TransactionClient>& out) {
  std::unique_ptr<real_client::SpannerClient> client;
  Status status = real_client::SpannerClient::Create(std::move(options), client);
  out = std::move(client);
  return status;
}

std::vector<std::string> GrpcBackend::Run(const Script& script) {
  ForwardingServer server(server_, database_);
  Proxy proxy(server);
  std::unique_ptr<real_client::TransactionClient> client;
  const Status made =
      maker_({.database = database_,
              .connection = {.endpoint = proxy.address(), .credentials = real_client::Plaintext{}},
              .sessions = PoolOf(script),
              .retry = PolicyOf(script)},
             client);
  if (!made.ok()) throw std::runtime_error(FormatStatus(made));
  const auto run = [&](const Transaction& transaction) {
    Answered<TransactionResult> answered;
    client->Run(transaction, answered.Callback());
    return answered.Wait();
  };
  ScriptedNetwork quiet({}, server);
  proxy.Use(&quiet);
  for (const Transaction& before : script.before) run(before);
  ScriptedNetwork network(script.fates, server);
  proxy.Use(&network);
  const TransactionResult result = run(script.transaction);
  proxy.Release();
  client.reset();
  std::vector<std::string> lines = network.transcript();
  lines.push_back(DescribeResult(result));
  return lines;
}

}  // namespace whorl
