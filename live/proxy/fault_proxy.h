// A proxy on the loopback interface between each node (a process that speaks to Spanner by gRPC)
// and a Spanner server, at which calls and connections meet with faults.
//
// Invariants:
//   1. Each node has a port, connections and a channel to the server of its own: what happens to
//      one reaches no other.
//   2. A call is asked about as a whole: its request once it is there, and its reply once all of it
//      is.
//   3. What has been sent on is brought to its end, even when its node has cancelled it, has given
//      it up at its deadline or is gone. Spanner may do so, the emulator and whorl's server do; and
//      the judge hears how it ended.
//   4. What passes is passed on as it came: messages, metadata, status, details and trailers,
//      except for what gRPC makes anew for each connection.
//   5. After Shutdown() none of its threads runs and none of its sockets is open, and the judge is
//      asked no more.
//
// Calls have one request, as all of Spanner's have; one reply, or a stream of them. A call has a
// thread while it is judged, held back or with the server, so this is for nodes with some calls at
// a time, not thousands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "live/proxy/judge.h"
#include "protocol/spanner/time.h"
#include "sim/scenario/direction.h"
#include "sim/world/observation.h"

namespace whorl::live {

struct ProxyOptions {
  // A connection in which something that the node sent cannot be acknowledged so long is reset, as
  // the node's kernel would (gRPC sets TCP_USER_TIMEOUT to 20 s, where it keeps connections alive).
  Duration connection_timeout = Seconds(20);
};

class FaultProxy {
 public:
  // `upstream`: where the server speaks plaintext, "127.0.0.1:9010". `judge` outlives this.
  FaultProxy(std::string upstream, Judge& judge, ProxyOptions options = {});
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();

  // Opens a port of 127.0.0.1 for the node, which stays when the node's process is replaced by
  // another. It is listened to before this returns. Throws std::system_error when the system gives
  // no more sockets. REQUIRES: it was not opened before; no Shutdown().
  uint16_t Open(int16_t node);

  // What becomes of bytes (README.md), as soon as this returns. Nothing after Shutdown().
  // REQUIRES: the node is open.
  void SetLink(int16_t node, sim::Direction direction, sim::LinkState state);

  // Ends calls under way, for their nodes by a reset of their connections, and does not judge them
  // any more. Waits for the judge, where it is being asked.
  void Shutdown();

 private:
  class Node;
  struct State;

  const std::unique_ptr<State> state_;
};

}  // namespace whorl::live
