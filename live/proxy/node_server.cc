#include "live/proxy/node_server.h"

#include <grpcpp/server_builder.h>
#include <grpcpp/server_posix.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "wire/status.h"

namespace whorl::live {
namespace {

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

Status StatusOf(const Reply& reply) {
  const auto retry_info = reply.trailers.find(std::string(wire::kRetryInfoTrailer));
  return wire::DecodeStatus(reply.status,
                            retry_info == reply.trailers.end()
                                ? std::nullopt
                                : std::optional<std::string_view>(retry_info->second));
}

Reply Answer(const Status& status) {
  Reply reply;
  reply.status = wire::EncodeStatus(status);
  if (auto trailer = wire::EncodeRetryInfoTrailer(status)) {
    reply.trailers.emplace(wire::kRetryInfoTrailer, *std::move(trailer));
  }
  return reply;
}

// False if `stop` was requested before the pause ended.
bool Pause(Duration pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  return !never.wait_for(lock, stop, std::chrono::nanoseconds(pause.ns),
                         [&stop] { return stop.stop_requested(); });
}

ProxiedCall CallOf(int16_t node, uint64_t number,
                   const grpc::GenericCallbackServerContext& context) {
  const std::string& path = context.method();
  return {.node = node,
          .number = number,
          .method = path.substr(path.rfind('/') + 1),
          .path = path,
          .metadata = CopyMetadata(context.client_metadata())};
}

}  // namespace

// A call of the node. It lives until gRPC has finished it, after Finish.
class NodeServer::Call final : public grpc::ServerGenericBidiReactor {
 public:
  Call(NodeServer& server, grpc::GenericCallbackServerContext& context)
      : server_(server),
        context_(context),
        call_(CallOf(server.node_, ++server.core_.last_call, context)) {
    StartRead(&buffer_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish({grpc::StatusCode::INVALID_ARGUMENT, "The call brought no request."});
    if (!server_.core_.workers.Run([this] { Pass(); })) Finish(wire::EncodeStatus(ShutDown()));
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return Finish({grpc::StatusCode::CANCELLED, "The node has gone."});
    WriteNext();
  }
  // A dropped call ends when its node cancels it or goes away.
  void OnCancel() override {
    if (standing_.exchange(Standing::kCancelled) == Standing::kDropped) FinishUnheard();
  }
  void OnDone() override { delete this; }

 private:
  enum class Standing : uint8_t { kAwaited, kDropped, kCancelled };

  static Status ShutDown() { return Error(Code::kUnavailable, "The proxy shuts down."); }

  // Runs on its own thread. After Tell, and after Carry if it returns false, the call may be
  // destroyed.
  void Pass() {
    Interception interception = server_.core_.interceptor.OnRequest(call_, BytesOf(buffer_));
    if (!Carry(interception)) return;
    ProxiedCall sent = call_;
    sent.metadata.merge(interception.metadata);
    Reply reply = server_.upstream_.Send(sent, buffer_, server_.core_.stop.get_token());
    if (server_.core_.stop.stop_requested()) return TellOfShutdown();
    std::vector<std::string> messages(reply.messages.size());
    std::ranges::transform(reply.messages, messages.begin(), BytesOf);
    if (!Carry(server_.core_.interceptor.OnReply(call_, StatusOf(reply), messages))) return;
    Tell(std::move(reply));
  }

  // Carries out the interception. True if the message passes.
  bool Carry(const Interception& interception) {
    if (interception.action == Interception::Action::kDrop) {
      if (standing_.exchange(Standing::kDropped) == Standing::kCancelled) FinishUnheard();
      return false;
    }
    if (!Pause(interception.delay, server_.core_.stop.get_token())) {
      TellOfShutdown();
      return false;
    }
    if (interception.action == Interception::Action::kPass) return true;
    if (interception.before_answer) SendOwn(*interception.before_answer);
    Tell(Answer(interception.status));
    return false;
  }

  void SendOwn(const Interception::OwnCall& own) {
    ProxiedCall call = call_;
    call.path = own.path;
    const grpc::Slice message(own.message);
    server_.upstream_.Send(call, grpc::ByteBuffer(&message, 1), server_.core_.stop.get_token());
  }

  void FinishUnheard() {
    server_.core_.interceptor.OnGivenUp(call_);
    Finish({grpc::StatusCode::CANCELLED, "The node waits no more."});
  }

  void Tell(Reply reply) {
    const bool is_refused = server_.refuses_replies_;
    const bool is_lost = is_refused || standing_ == Standing::kCancelled;
    server_.core_.interceptor.OnDelivery(call_, is_lost ? Delivery::kLost : Delivery::kSent);
    Write(is_refused ? Answer(Error(Code::kUnavailable, "The way back is refused."))
                     : std::move(reply));
  }
  // In the place of an answer.
  void TellOfShutdown() {
    server_.core_.interceptor.OnDelivery(call_, Delivery::kLost);
    Write(Answer(ShutDown()));
  }
  void Write(Reply reply) {
    reply_ = std::move(reply);
    for (const auto& [name, value] : reply_.headers) {
      if (!IsOfOneConnection(name)) context_.AddInitialMetadata(name, value);
    }
    for (const auto& [name, value] : reply_.trailers) {
      if (!IsOfOneConnection(name)) context_.AddTrailingMetadata(name, value);
    }
    WriteNext();
  }
  void WriteNext() {
    if (written_ == reply_.messages.size()) return Finish(reply_.status);
    StartWrite(&reply_.messages[written_++]);
  }

  NodeServer& server_;
  grpc::GenericCallbackServerContext& context_;
  const ProxiedCall call_;
  grpc::ByteBuffer buffer_;  // the request
  std::atomic<Standing> standing_ = Standing::kAwaited;
  Reply reply_;
  size_t written_ = 0;
};

NodeServer::NodeServer(int16_t node, ProxyCore& core)
    : node_(node), core_(core), upstream_(core.upstream, core.credentials) {
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(this);
  builder.SetMaxReceiveMessageSize(-1);  // no limit here; Spanner has its own
  // A node may send keepalive pings as often as it likes.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) throw std::runtime_error("gRPC starts no server");
}

NodeServer::~NodeServer() { server_->Shutdown(std::chrono::system_clock::now()); }

void NodeServer::Serve(int socket) { grpc::AddInsecureChannelFromFd(server_.get(), socket); }

grpc::ServerGenericBidiReactor* NodeServer::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  return new Call(*this, *context);
}

}  // namespace whorl::live
