// Stands on the loopback interface between each node (a process that speaks gRPC to Spanner) and a
// Spanner server, and injects faults into calls and connections.
//
// Invariants:
//   1. Each node has its own port, connections and channel to the server, so that no node affects
//      another.
//   2. The interceptor decides about whole messages: a request once it has arrived, and a reply
//      once all of it has.
//   3. A call that was forwarded is completed even if its node has cancelled it, has given it up at
//      its deadline or is gone. Spanner may do so, the emulator and whorl's server do; and the
//      interceptor learns its outcome.
//   4. Messages, metadata, status, details and trailers are forwarded unchanged, except for headers
//      that gRPC creates anew for each connection.
//   5. After Shutdown() none of its threads runs, none of its sockets is open, and the interceptor
//      is not called any more.
//
// A call has one request, like all of Spanner's, and one reply or a stream of them. It uses a
// thread while it is intercepted, delayed or at the server, so this suits nodes with a few calls at
// a time, not thousands.
#pragma once

#include <grpcpp/security/credentials.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"
#include "live/proxy/interceptor.h"
#include "sim/scenario/direction.h"
#include "sim/world/observation.h"

namespace whorl::live {

struct ProxyOptions {
  // A connection on which data from the node stays unacknowledged for this long is reset, as the
  // node's kernel would do (gRPC sets TCP_USER_TIMEOUT to 20 s on connections that it keeps alive).
  Duration connection_timeout = Seconds(20);
  // Of the connections to the server; null: they are plaintext.
  std::shared_ptr<grpc::ChannelCredentials> credentials = nullptr;
};

class FaultProxy {
 public:
  // `upstream` is the address of the server, "127.0.0.1:9010". `interceptor` outlives
  // this.
  FaultProxy(std::string upstream, CallInterceptor& interceptor, ProxyOptions options = {});
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();

  // Opens a port of 127.0.0.1 for the node, which stays the same when another process takes the
  // node's place. `port` 0: a free one. It listens before this returns. Throws std::system_error if
  // the port is taken or the system has no more sockets. REQUIRES: the node was not opened before; no
  // Shutdown().
  uint16_t Open(int16_t node, int port = 0);

  // Changes what happens to the node's bytes (README.md) before it returns. No effect after
  // Shutdown(). REQUIRES: the node is open.
  void SetLink(int16_t node, sim::Direction direction, sim::LinkState state);

  // Ends the calls under way without asking the interceptor; their nodes see their connections
  // reset. Waits for calls of the interceptor that are running.
  void Shutdown();

 private:
  class Node;
  struct State;

  const std::unique_ptr<State> state_;
};

}  // namespace whorl::live
