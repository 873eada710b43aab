#include "live/proxy/fault_proxy.h"

#include <map>
#include <mutex>
#include <utility>

#include "live/proxy/node_server.h"
#include "live/proxy/relay.h"
#include "real_client/lock_loop.h"

namespace whorl::live {

class FaultProxy::Node {
 public:
  Node(int16_t node, ProxyCore& core, real_client::LockLoop& loop, Duration connection_timeout,
       int port)
      : server_(node, core),
        relay_(std::make_shared<Relay>(
            loop, connection_timeout, [this](int socket) { server_.Serve(socket); }, port)) {}

  Relay& relay() { return *relay_; }
  void SetLink(sim::Direction direction, sim::LinkState state) {
    relay_->SetLink(direction, state);
    if (Covers(direction, sim::Direction::kFrom)) {
      server_.RefuseReplies(state == sim::LinkState::kRefused);
    }
  }

 private:
  NodeServer server_;
  const std::shared_ptr<Relay> relay_;
};

struct FaultProxy::State {
  ProxyCore core;
  const ProxyOptions options;
  std::unique_ptr<real_client::LockLoop> loop = std::make_unique<real_client::LockLoop>();
  std::mutex mutex = {};  // guards the members below
  bool is_shut_down = false;
  std::map<int16_t, std::unique_ptr<Node>> nodes = {};
};

FaultProxy::FaultProxy(std::string upstream, CallInterceptor& interceptor, ProxyOptions options)
    : state_(new State{.core = {.upstream = std::move(upstream),
                                .credentials = options.credentials,
                                .interceptor = interceptor},
                       .options = options}) {}

FaultProxy::~FaultProxy() { Shutdown(); }

uint16_t FaultProxy::Open(int16_t node, int port) {
  const std::lock_guard lock(state_->mutex);
  auto made = std::make_unique<Node>(node, state_->core, *state_->loop,
                                     state_->options.connection_timeout, port);
  Relay& relay = made->relay();
  state_->nodes[node] = std::move(made);
  state_->loop->PostAndWait([&relay] { relay.Start(); });
  return relay.port();
}

void FaultProxy::SetLink(int16_t node, sim::Direction direction, sim::LinkState state) {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_shut_down) return;
  Node& changed = *state_->nodes.at(node);
  state_->loop->PostAndWait([&] { changed.SetLink(direction, state); });
}

void FaultProxy::Shutdown() {
  {
    const std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->is_shut_down, true)) return;
  }
  // Without the mutex, which a running interceptor may need. The nodes do not change any more.
  state_->loop->PostAndWait([this] {
    for (const auto& [name, node] : state_->nodes) node->relay().Close();
  });
  state_->core.stop.request_stop();
  state_->core.workers.Stop();
  state_->nodes.clear();
  state_->loop.reset();
}

}  // namespace whorl::live
