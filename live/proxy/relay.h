// Relays the connections of one node. In each direction, bytes pass, are held back or are refused.
//
// Invariants:
//   1. Bytes that are held back stay in the kernel's buffers, so their number is bounded: a sender has
//      to wait when the buffers are full.
//   2. Bytes keep their order in each direction, and are lost only together with their connection.
// Used on the loop's thread only, except for the constructor and port().
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "base/time.h"
#include "real_client/lock_loop.h"
#include "sim/scenario/direction.h"
#include "sim/world/observation.h"

namespace whorl::live {

class Relay : public std::enable_shared_from_this<Relay> {
 public:
  // Receives the server's end of each connection that the node opens.
  using Serve = std::function<void(int socket)>;

  // Listens on a port of 127.0.0.1, a free one if `port` is 0. Throws std::system_error if it is taken
  // or there is none.
  Relay(real_client::LockLoop& loop, Duration connection_timeout, Serve serve, int port = 0);
  // REQUIRES: Close() was called if Start() was.
  ~Relay();

  uint16_t port() const { return port_; }
  // Starts to accept connections.
  void Start();
  void SetLink(sim::Direction direction, sim::LinkState state);
  // Resets all connections and accepts no more.
  void Close();

 private:
  class Connection;
  struct Links {
    sim::LinkState to = sim::LinkState::kUp;
    sim::LinkState from = sim::LinkState::kUp;
  };

  void AwaitConnection();
  void TakeConnection();

  real_client::LockLoop& loop_;
  const Duration connection_timeout_;
  const Serve serve_;
  boost::asio::ip::tcp::acceptor acceptor_;
  uint16_t port_ = 0;
  Links links_;
  std::set<std::shared_ptr<Connection>> connections_;
};

}  // namespace whorl::live
