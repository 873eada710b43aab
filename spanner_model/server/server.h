// Serves the Spanner model by gRPC, on a port of this machine.
//
// Invariants:
//   1. It listens on the loopback interface, unless the options name another.
//   2. Every call is answered. A call whose client has gone away is still carried out, as Spanner
//      may do, too.
//   3. The destructor answers UNAVAILABLE to the calls under way and ends the server's threads.
#pragma once

#include <absl/status/statusor.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "spanner_model/server/clock.h"
#include "spanner_model/server/faults.h"
#include "spanner_model/server/frontend.h"
#include "spanner_model/server/options.h"

namespace whorl::server {

struct TlsOptions {
  std::string certificate_chain_pem;
  std::string private_key_pem;
};

struct ServerOptions {
  BackendOptions backend;
  std::string host = "127.0.0.1";  // an address; IPv6 as [::1]
  int port = 0;                    // 0: any free port
  std::optional<TlsOptions> tls;   // empty: plaintext
  // If not empty, each call has to bring the metadata `authorization: Bearer <token>`.
  std::string bearer_token;
  // The largest request. Spanner accepts 100 MB.
  int max_request_bytes = 100 << 20;
  std::shared_ptr<ServerClock> clock;  // null: the real one
  FaultFunction faults;
  ObserverFunction observer;
};

class CallService;

class Server {
 public:
  // INVALID_ARGUMENT for an invalid initial database, ALREADY_EXISTS if the port is in use, UNAVAILABLE if the
  // address does not exist.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  int port() const { return port_; }
  std::string address() const;  // "127.0.0.1:41234"

  void SetFaults(FaultFunction faults) { frontend_->SetFaults(std::move(faults)); }
  void SetObserver(ObserverFunction observer) { frontend_->SetObserver(std::move(observer)); }
  // Waits until Shutdown.
  void Wait() { server_->Wait(); }
  void Shutdown();

 private:
  explicit Server(const ServerOptions& options);

  const std::string host_;
  int port_ = 0;
  std::shared_ptr<Frontend> frontend_;
  std::unique_ptr<CallService> service_;
  std::unique_ptr<grpc::Server> server_;
};

// The gRPC service of the server: finds the method of a call by its path.
//
// One generic service serves all methods, since they do not differ here: one request, then a status
// or messages.

class CallService final : public grpc::CallbackGenericService {
 public:
  // Every call has to bring `bearer_token`, unless it is empty.
  CallService(std::shared_ptr<Frontend> frontend, std::string bearer_token)
      : frontend_(std::move(frontend)), bearer_token_(std::move(bearer_token)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  grpc::Status Authenticate(const grpc::GenericCallbackServerContext& context) const;

  const std::shared_ptr<Frontend> frontend_;
  const std::string bearer_token_;
};

}  // namespace whorl::server
