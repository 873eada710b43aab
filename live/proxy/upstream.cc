#include "live/proxy/upstream.h"

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <array>
#include <memory>

namespace whorl::live {
namespace {

std::shared_ptr<grpc::Channel> OpenChannel(
    const std::string& endpoint, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Retries here could send a Commit twice without the node's knowledge.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  constexpr int kSoonMs = 20;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kSoonMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kSoonMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5 * kSoonMs);
  arguments.SetMaxReceiveMessageSize(-1);  // no limit here; the node has its own
  return grpc::CreateCustomChannel(
      endpoint, credentials == nullptr ? grpc::InsecureChannelCredentials() : credentials,
      arguments);
}

// Runs gRPC operations one after the other.
class Operations {
 public:
  Operations() = default;
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;
  ~Operations() {
    queue_.Shutdown();
    Await();
  }
  grpc::CompletionQueue& queue() { return queue_; }
  // Waits for the operation that was started with a null tag and returns its `ok`, as gRPC
  // documents it.
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

 private:
  grpc::CompletionQueue queue_;
};

}  // namespace

Metadata CopyMetadata(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata) {
  Metadata copy;
  for (const auto& [name, value] : metadata) {
    copy.emplace(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  return copy;
}

bool IsOfOneConnection(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames = {"content-type", "host", "te",
                                                             "user-agent"};
  return name.starts_with("grpc-") || name.starts_with(":") ||
         std::ranges::find(kNames, name) != kNames.end();
}

Upstream::Upstream(const std::string& endpoint,
                   const std::shared_ptr<grpc::ChannelCredentials>& credentials)
    : stub_(OpenChannel(endpoint, credentials)) {}

Reply Upstream::Send(const ProxiedCall& call, const grpc::ByteBuffer& request,
                     const std::stop_token& stop) {
  grpc::ClientContext context;
  for (const auto& [name, value] : call.metadata) {
    if (!IsOfOneConnection(name)) context.AddMetadata(name, value);
  }
  Operations operations;
  const auto stream = stub_.PrepareCall(&context, call.path, &operations.queue());
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  Reply reply;
  stream->StartCall(nullptr);
  if (operations.Await()) {
    stream->WriteLast(request, grpc::WriteOptions(), nullptr);
    operations.Await();  // fails if the answer came before the request was sent
    for (grpc::ByteBuffer message; stream->Read(&message, nullptr), operations.Await();) {
      reply.messages.push_back(message);
    }
  }
  stream->Finish(&reply.status, nullptr);
  operations.Await();
  reply.headers = CopyMetadata(context.GetServerInitialMetadata());
  reply.trailers = CopyMetadata(context.GetServerTrailingMetadata());
  return reply;
}

}  // namespace whorl::live
