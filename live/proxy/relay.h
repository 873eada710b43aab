// The connections of one node: bytes that pass, are held back or are refused, each way for itself.
//
// Invariants:
//   1. What is held back stays in the kernel's buffers, which are its bound: who sends more waits.
//   2. Bytes of a way keep their order, and none is lost but with its connection.
// All of it happens on the loop's thread, but for the constructor and port().
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "protocol/spanner/time.h"
#include "real_client/lock_loop.h"
#include "sim/scenario/direction.h"
#include "sim/world/observation.h"

namespace whorl::live {

class Relay : public std::enable_shared_from_this<Relay> {
 public:
  // Gets the inner end of each connection that the node opens.
  using Serve = std::function<void(int socket)>;

  // Listens on a free port of 127.0.0.1. Throws std::system_error when there is none.
  Relay(real_client::LockLoop& loop, Duration connection_timeout, Serve serve);
  // REQUIRES: Close(), if it was started.
  ~Relay();

  uint16_t port() const { return port_; }
  // Begins to take connections in.
  void Start();
  void SetLink(sim::Direction direction, sim::LinkState state);
  // Resets all connections and takes no more.
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
