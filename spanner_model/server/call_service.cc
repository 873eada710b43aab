#include "spanner_model/server/call_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <malloc.h>

#include <atomic>
#include <string>
#include <string_view>

#include "wire/status.h"

namespace whorl::server {
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
    // What so many parts took would stay with the allocator, for no other answer to use.
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
