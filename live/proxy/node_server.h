// The gRPC server that a node talks to: takes whatever is called, has it judged, and sends it on.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "live/proxy/judge.h"
#include "live/proxy/upstream.h"
#include "live/proxy/workers.h"

namespace whorl::live {

// What the calls of all nodes need.
struct ProxyCore {
  const std::string upstream;
  Judge& judge;
  Workers workers = {};
  std::stop_source stop = {};
  std::atomic<uint64_t> last_call = 0;
};

class NodeServer final : public grpc::CallbackGenericService {
 public:
  NodeServer(int16_t node, ProxyCore& core);
  // Waits for the end of all calls. REQUIRES: the core's workers have stopped.
  ~NodeServer() override;

  // A connection of the node: a socket that blocks nobody, which is the server's from now on.
  void Serve(int socket);
  // From now on the node hears UNAVAILABLE in the place of replies, or hears them again.
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
