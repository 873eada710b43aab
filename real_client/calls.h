// gRPC calls on an event loop: each is sent, reports its end once, and then deletes itself.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "protocol/spanner/status.h"
#include "real_client/event_loop.h"
#include "wire/status.h"

namespace whorl::real_client {

using Context = std::shared_ptr<grpc::ClientContext>;  // TryCancel() ends the call

inline Status StatusOf(const grpc::Status& status, const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find(
      grpc::string_ref(wire::kRetryInfoTrailer.data(), wire::kRetryInfoTrailer.size()));
  if (found == trailers.end()) return wire::DecodeStatus(status);
  return wire::DecodeStatus(status, std::string_view(found->second.data(), found->second.length()));
}

template <typename Reply>
class UnaryCall final : public Completion {
 public:
  using Done = std::function<void(Status, const Reply&)>;

  // `prepared` is what the stub's PrepareAsync function returned for `context`.
  static void Start(Context context,
                    std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>> prepared, Done done) {
    auto* call = new UnaryCall(std::move(context), std::move(prepared), std::move(done));
    call->reader_->StartCall();
    call->reader_->Finish(&call->reply_, &call->status_, static_cast<Completion*>(call));
  }
  void Complete(bool) override {
    const std::unique_ptr<UnaryCall> self(this);
    done_(StatusOf(status_, *context_), reply_);
  }

 private:
  UnaryCall(Context context, std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>> prepared,
            Done done)
      : context_(std::move(context)), reader_(std::move(prepared)), done_(std::move(done)) {}

  Context context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Reply>> reader_;
  Done done_;
  Reply reply_;
  grpc::Status status_;
};

// A call whose response is a stream of parts.
template <typename Part>
class StreamCall final : public Completion {
 public:
  // If it returns an error, the call ends with that error.
  using OnPart = std::function<Status(const Part&)>;
  using Done = std::function<void(Status)>;

  static void Start(Context context, std::unique_ptr<grpc::ClientAsyncReader<Part>> prepared,
                    OnPart on_part, Done done) {
    auto* call = new StreamCall(std::move(context), std::move(prepared), std::move(on_part),
                                std::move(done));
    call->reader_->StartCall(static_cast<Completion*>(call));
  }
  void Complete(bool ok) override {
    switch (state_) {
      case State::kStarting:
        return ok ? Read() : Finish();
      case State::kReading:
        if (!ok) return Finish();
        Take();
        return Read();
      case State::kFinishing:
        break;
    }
    const std::unique_ptr<StreamCall> self(this);
    done_(failure_.ok() ? StatusOf(status_, *context_) : failure_);
  }

 private:
  enum class State : uint8_t { kStarting, kReading, kFinishing };

  StreamCall(Context context, std::unique_ptr<grpc::ClientAsyncReader<Part>> prepared,
             OnPart on_part, Done done)
      : context_(std::move(context)),
        reader_(std::move(prepared)),
        on_part_(std::move(on_part)),
        done_(std::move(done)) {}

  void Read() {
    state_ = State::kReading;
    reader_->Read(&part_, static_cast<Completion*>(this));
  }
  void Take() {
    if (!failure_.ok()) return;
    failure_ = on_part_(part_);
    if (!failure_.ok()) context_->TryCancel();
  }
  void Finish() {
    state_ = State::kFinishing;
    reader_->Finish(&status_, static_cast<Completion*>(this));
  }

  Context context_;
  std::unique_ptr<grpc::ClientAsyncReader<Part>> reader_;
  OnPart on_part_;
  Done done_;
  State state_ = State::kStarting;
  Part part_;
  Status failure_;
  grpc::Status status_;
};

}  // namespace whorl::real_client
