// The gRPC server that a node talks to: it accepts any call, asks the interceptor, and forwards the
// call.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "live/proxy/interceptor.h"
#include "live/proxy/upstream.h"
#include "live/proxy/workers.h"

namespace whorl::live {

// State that the calls of all nodes share.
struct ProxyCore {
  const std::string upstream;
  const std::shared_ptr<grpc::ChannelCredentials> credentials;
  CallInterceptor& interceptor;
  Workers workers = {};
  std::stop_source stop = {};
  std::atomic<uint64_t> last_call = 0;
};

class NodeServer final : public grpc::CallbackGenericService {
 public:
  NodeServer(int16_t node, ProxyCore& core);
  // Waits for the end of all calls. REQUIRES: the core's workers have stopped.
  ~NodeServer() override;

  // Takes over a connection of the node, a non-blocking socket.
  void Serve(int socket);
  // Whether the node gets UNAVAILABLE instead of replies from now on.
  void RefuseReplies(bool refuse) { refuses_replies_ = refuse; }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  class Call;

  const int16_t node_;
  ProxyCore& core_;
  Upstream upstream_;
  std::atomic<bool> refuses_replies_ = false;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace whorl::live
