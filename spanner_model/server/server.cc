#include "spanner_model/server/server.h"

#include <arpa/inet.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "wire/status.h"

namespace whorl::server {

namespace {

std::shared_ptr<grpc::ServerCredentials> Credentials(const std::optional<TlsOptions>& tls) {
  if (!tls) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back(
      {.private_key = tls->private_key_pem, .cert_chain = tls->certificate_chain_pem});
  return grpc::SslServerCredentials(options);
}

// gRPC does not say why it cannot listen, so the same is tried once more.
bool IsInUse(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return false;
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const int yes = 1;  // as gRPC does
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const auto* place =
      reinterpret_cast<const sockaddr*>(&address);  // NOLINT: the system's interface
  const bool in_use = bind(probe, place, sizeof(address)) != 0 && errno == EADDRINUSE;
  close(probe);
  return in_use;
}

absl::Status CannotListen(const ServerOptions& options) {
  const std::string what = "cannot listen on " + options.host + ":" + std::to_string(options.port);
  if (options.port != 0 && IsInUse(options.host, options.port)) {
    return absl::AlreadyExistsError(what + ": " + std::generic_category().message(EADDRINUSE));
  }
  return absl::UnavailableError(what + (options.tls ? " (or the certificate or key is none)" : ""));
}

}  // namespace

Server::Server(const ServerOptions& options)
    : host_(options.host),
      frontend_(std::make_shared<Frontend>(
          options.backend, options.clock ? options.clock : std::make_shared<RealClock>())) {
  frontend_->SetFaults(options.faults);
  frontend_->SetObserver(options.observer);
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  std::unique_ptr<Server> server(new Server(options));
  const Status started = server->frontend_->Start();
  if (!started.ok()) return absl::InvalidArgumentError(started.message.str());
  server->service_ =
      std::make_unique<CallService>(server->frontend_, std::move(options.bearer_token));
  grpc::ServerBuilder builder;
  builder.AddListeningPort(options.host + ":" + std::to_string(options.port),
                           Credentials(options.tls), &server->port_);
  builder.SetMaxReceiveMessageSize(options.max_request_bytes);
  // Two servers that share a port would each get some of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.RegisterCallbackGenericService(server->service_.get());
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || server->port_ == 0) {
    return CannotListen(options);
  }
  return server;
}

Server::~Server() { Shutdown(); }

std::string Server::address() const { return host_ + ":" + std::to_string(port_); }

void Server::Shutdown() {
  // Answers all calls first, so that clients get a reply and gRPC does not wait for any call.
  frontend_->Shutdown();
  // Disconnects clients that do not read their answers.
  constexpr auto kGrace = std::chrono::seconds(1);
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now() + kGrace);
}

namespace {

// Of all streams that clients have not read yet. Beyond the limit a new one is refused, since a server that
// has no memory left answers nobody.
constexpr size_t kMostUnsentBytes = size_t{2} << 30;
std::atomic<size_t> unsent_bytes = 0;

size_t BytesOf(const Answer& answer) {
  if (answer.messages.size() < 2) return 0;
  size_t bytes = 0;
  for (const MessagePtr& message : answer.messages) bytes += message->ByteSizeLong();
  return bytes;
}

Status TooMuchUnread() {
  return Error(Code::kResourceExhausted,
               "whorl's server holds more than " + std::to_string(kMostUnsentBytes >> 20) +
                   " MiB of streams that their clients have not read; read them, or cancel them");
}

// A call that is refused before its request is read.
class RefusedCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit RefusedCall(grpc::Status status) { Finish(std::move(status)); }
  void OnDone() override { delete this; }
};

// Lives until gRPC has sent the answer. Each of its functions starts the operation whose end calls
// the next, so they run one at a time; the exception is Send, which may be called on any thread.
class ServedCall final : public grpc::ServerGenericBidiReactor {
 public:
  ServedCall(Frontend& frontend, grpc::GenericCallbackServerContext& context, const Method& method)
      : frontend_(frontend), context_(context), method_(method) {
    StartRead(&buffer_);
  }

  // gRPC would catch an exception, and the call would never be answered; one here is a defect of whorl.
  void OnReadDone(bool ok) noexcept override {
    std::unique_ptr<google::protobuf::Message> request = method_.new_request();
    if (!ok || !Parse(*request)) {
      return Finish({grpc::StatusCode::INVALID_ARGUMENT, "The request cannot be parsed."});
    }
    frontend_.Handle(method_, std::move(request),
                     [this](Answer answer) { Send(std::move(answer)); });
  }

  void OnWriteDone(bool ok) override {
    // A message that was not sent means that the client has gone.
    if (!ok) return Finish({grpc::StatusCode::CANCELLED, "The client has gone."});
    SendNext();
  }

  void OnDone() override {
    // Memory of more parts than this would stay with the allocator, and no other answer would use it.
    constexpr size_t kManyParts = 16;
    const bool was_large = answer_.messages.size() >= kManyParts;
    unsent_bytes -= counted_bytes_;
    delete this;
    if (was_large) malloc_trim(0);
  }

 private:
  bool Parse(google::protobuf::Message& request) {
    return grpc::GenericDeserialize<grpc::ProtoBufferReader, google::protobuf::Message>(&buffer_,
                                                                                        &request)
        .ok();
  }

  void Send(Answer answer) {
    answer_ = std::move(answer);
    counted_bytes_ = BytesOf(answer_);
    if ((unsent_bytes += counted_bytes_) > kMostUnsentBytes) answer_ = Refused(TooMuchUnread());
    if (answer_.status.ok()) return SendNext();
    if (const auto trailer = wire::EncodeRetryInfoTrailer(answer_.status)) {
      context_.AddTrailingMetadata(std::string(wire::kRetryInfoTrailer), *trailer);
    }
    Finish(wire::EncodeStatus(answer_.status));
  }

  void SendNext() {
    if (sent_ == answer_.messages.size()) return Finish(grpc::Status::OK);
    bool own_buffer = false;
    buffer_.Clear();
    const grpc::Status serialized =
        grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::Message>(
            *answer_.messages[sent_], &buffer_, &own_buffer);
    if (counted_bytes_ > 0) {
      const size_t bytes = answer_.messages[sent_]->ByteSizeLong();
      unsent_bytes -= bytes;
      counted_bytes_ -= bytes;
    }
    answer_.messages[sent_].reset();
    if (!serialized.ok()) return Finish(serialized);
    if (++sent_ == answer_.messages.size()) {
      return StartWriteAndFinish(&buffer_, grpc::WriteOptions(), grpc::Status::OK);
    }
    StartWrite(&buffer_);
  }

  Frontend& frontend_;
  grpc::GenericCallbackServerContext& context_;
  const Method& method_;
  grpc::ByteBuffer buffer_;  // the request, then the message that is being sent
  Answer answer_;
  size_t sent_ = 0;
  size_t counted_bytes_ = 0;  // in unsent_bytes
};

}  // namespace

grpc::Status CallService::Authenticate(const grpc::GenericCallbackServerContext& context) const {
  if (bearer_token_.empty()) return grpc::Status::OK;
  const auto [first, last] = context.client_metadata().equal_range("authorization");
  for (auto header = first; header != last; ++header) {
    const std::string_view value(header->second.data(), header->second.size());
    if (value == "Bearer " + bearer_token_) return grpc::Status::OK;
  }
  return {grpc::StatusCode::UNAUTHENTICATED,
          "Request had invalid authentication credentials: a Bearer token is expected."};
}

grpc::ServerGenericBidiReactor* CallService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  grpc::Status status = Authenticate(*context);
  if (!status.ok()) return new RefusedCall(std::move(status));
  const Method* method = FindMethod(context->method());
  if (method == nullptr) {
    return new RefusedCall({grpc::StatusCode::UNIMPLEMENTED,
                            "whorl's server has no method " + context->method() +
                                "; whorl proxy puts the same faults before one that has it"});
  }
  return new ServedCall(*frontend_, *context, *method);
}

}  // namespace whorl::server
