#include "live/proxy/relay.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <system_error>
#include <utility>

namespace whorl::live {
namespace {

using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Socket = boost::asio::generic::stream_protocol::socket;
using sim::LinkState;

// Sockets are created without Asio, since child processes would inherit Asio's and keep them open.
constexpr int kFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

[[noreturn]] void ThrowErrno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}
int Checked(int result, const char* what) {
  if (result < 0) ThrowErrno(what);
  return result;
}

}  // namespace

// One connection of the node, and the corresponding one to the node's server.
class Relay::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Relay> relay, int node, int inner)
      : relay_(std::move(relay)),
        node_(relay_->loop_.context(), {AF_INET, IPPROTO_TCP}, node),
        inner_(relay_->loop_.context(), {AF_UNIX, 0}, inner),
        timeout_(relay_->loop_.context()) {
    node_.set_option(tcp::no_delay(true));
    // The sockets are non-blocking already, but Asio has to be told.
    node_.non_blocking(true);
    inner_.non_blocking(true);
  }

  void Start() {
    Watch(to_);
    Watch(from_);
  }
  // Called after the links have changed.
  void OnLinks() {
    const auto& [to, from] = relay_->links_;
    if (to != LinkState::kBlackHoled && from != LinkState::kBlackHoled) {
      timeout_.cancel();
      waits_for_timeout_ = false;
    }
    if (std::exchange(to_.held, false)) OnReadable(to_);
    if (std::exchange(from_.held, false)) OnReadable(from_);
  }
  // Closes both ends; the node sees a reset.
  void Reset() {
    if (!node_.is_open()) return;
    node_.set_option(boost::asio::socket_base::linger(true, 0));
    End();
  }

 private:
  struct Way {
    Socket& source;
    Socket& target;
    bool is_to = false;
    bool held = false;  // there are bytes to read, which have to wait
    std::array<char, 16 << 10> buffer;
  };

  LinkState LinkOf(const Way& way) const {
    return way.is_to ? relay_->links_.to : relay_->links_.from;
  }

  void Watch(Way& way) {
    way.source.async_wait(Socket::wait_read, [self = shared_from_this(), &way](ErrorCode error) {
      if (!error) self->OnReadable(way);
    });
  }
  void OnReadable(Way& way) {
    if (!node_.is_open()) return;
    if (way.is_to) WatchAcknowledgement();
    switch (LinkOf(way)) {
      case LinkState::kBlackHoled:
        way.held = true;
        return;
      case LinkState::kRefused:
        // The node's server handles a refused way back.
        if (way.is_to) return Reset();
        return Pass(way);
      case LinkState::kUp:
        return Pass(way);
    }
  }
  void Pass(Way& way) {
    ErrorCode error;
    const size_t size = way.source.read_some(boost::asio::buffer(way.buffer), error);
    if (error == boost::asio::error::would_block) return Watch(way);
    if (error) return End();
    boost::asio::async_write(way.target, boost::asio::buffer(way.buffer, size),
                             [self = shared_from_this(), &way](ErrorCode failed, size_t) {
                               if (failed) return self->End();
                               self->Watch(way);
                             });
  }

  // Called when the node has sent data. In a black hole in either direction, it is not
  // acknowledged.
  void WatchAcknowledgement() {
    const auto& [to, from] = relay_->links_;
    if (to != LinkState::kBlackHoled && from != LinkState::kBlackHoled) return;
    if (std::exchange(waits_for_timeout_, true)) return;
    timeout_.expires_after(std::chrono::nanoseconds(relay_->connection_timeout_.ns));
    timeout_.async_wait([self = shared_from_this()](ErrorCode error) {
      if (!error && self->waits_for_timeout_) self->Reset();
    });
  }

  void End() {
    if (!node_.is_open()) return;
    node_.close();
    inner_.close();
    timeout_.cancel();
    relay_->connections_.erase(shared_from_this());
  }

  const std::shared_ptr<Relay> relay_;
  Socket node_;
  Socket inner_;
  Way to_{.source = node_, .target = inner_, .is_to = true};
  Way from_{.source = inner_, .target = node_};
  bool waits_for_timeout_ = false;
  real_client::LoopTimer timeout_;
};

Relay::Relay(real_client::LockLoop& loop, Duration connection_timeout, Serve serve, int port)
    : loop_(loop),
      connection_timeout_(connection_timeout),
      serve_(std::move(serve)),
      acceptor_(loop.context()) {
  acceptor_.assign(tcp::v4(), Checked(socket(AF_INET, kFlags, 0), "socket"));
  // As servers do: connections of an earlier one may not have ended yet.
  if (port != 0) acceptor_.set_option(tcp::acceptor::reuse_address(true));
  acceptor_.bind({boost::asio::ip::address_v4::loopback(), static_cast<uint16_t>(port)});
  acceptor_.listen();
  port_ = acceptor_.local_endpoint().port();
}

Relay::~Relay() = default;

void Relay::Start() { AwaitConnection(); }

void Relay::SetLink(sim::Direction direction, LinkState state) {
  if (Covers(direction, sim::Direction::kTo)) links_.to = state;
  if (Covers(direction, sim::Direction::kFrom)) links_.from = state;
  // Iterates over a copy, since connections that are reset leave the set.
  for (const auto& connection : std::set(connections_)) connection->OnLinks();
}

void Relay::Close() {
  acceptor_.close();
  for (const auto& connection : std::set(connections_)) connection->Reset();
}

void Relay::AwaitConnection() {
  acceptor_.async_wait(tcp::acceptor::wait_read, [self = shared_from_this()](ErrorCode) {
    if (!self->acceptor_.is_open()) return;
    self->TakeConnection();
    self->AwaitConnection();
  });
}

void Relay::TakeConnection() {
  const int node =
      accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (node < 0) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    ThrowErrno("accept");
  }
  std::array<int, 2> ends{};
  Checked(socketpair(AF_UNIX, kFlags, 0, ends.data()), "socketpair");
  const auto connection = std::make_shared<Connection>(shared_from_this(), node, ends[0]);
  connections_.insert(connection);
  serve_(ends[1]);
  connection->Start();
}

}  // namespace whorl::live
