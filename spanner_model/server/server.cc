#include "spanner_model/server/server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <utility>

#include "spanner_model/server/call_service.h"

namespace whorl::server {
namespace {

std::shared_ptr<grpc::ServerCredentials> Credentials(const std::optional<TlsOptions>& tls) {
  if (!tls) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back(
      {.private_key = tls->private_key_pem, .cert_chain = tls->certificate_chain_pem});
  return grpc::SslServerCredentials(options);
}

}  // namespace

Server::Server(const ServerOptions& options)
    : host_(options.host),
      frontend_(std::make_shared<Frontend>(
          options.backend, options.clock ? options.clock : std::make_shared<RealClock>())) {
  frontend_->SetFaults(options.faults);
  frontend_->SetObserver(options.observer);
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  std::unique_ptr<Server> server(new Server(options));
  const Status started = server->frontend_->Start();
  if (!started.ok()) return absl::InvalidArgumentError(started.message.str());
  server->service_ =
      std::make_unique<CallService>(server->frontend_, std::move(options.bearer_token));
  grpc::ServerBuilder builder;
  builder.AddListeningPort(options.host + ":" + std::to_string(options.port),
                           Credentials(options.tls), &server->port_);
  builder.SetMaxReceiveMessageSize(options.max_request_bytes);
  // Two servers that share a port would each get some of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.RegisterCallbackGenericService(server->service_.get());
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || server->port_ == 0) {
    return absl::UnavailableError("cannot listen on " + options.host + ":" +
                                  std::to_string(options.port) +
                                  (options.tls ? " (or the certificate or key is none)" : ""));
  }
  return server;
}

Server::~Server() { Shutdown(); }

std::string Server::address() const { return host_ + ":" + std::to_string(port_); }

void Server::Shutdown() {
  // Answers all calls first, so that clients get a reply and gRPC does not wait for any call.
  frontend_->Shutdown();
  // Disconnects clients that do not read their answers.
  constexpr auto kGrace = std::chrono::seconds(1);
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now() + kGrace);
}

}  // namespace whorl::server
