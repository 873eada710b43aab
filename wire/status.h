// Turns statuses of calls into gRPC statuses and back.
//
// Invariants:
//   1. The google.rpc.Status details carry what Spanner's clients read beyond code and message:
//      RetryInfo with the pause after ABORTED, and ResourceInfo with the name of the session,
//      database or instance that was not found.
//   2. Older clients look for RetryInfo in a separate trailer, so a server sends both.
//   3. A message that fails a call has at most kMessageMax bytes: it is sent twice in the trailers, escaped,
//      and beyond 8 kB of them gRPC reports RESOURCE_EXHAUSTED in place of the status.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "google/rpc/status.pb.h"
#include "protocol/spanner/status.h"

namespace whorl::wire {

// google.rpc.Status, in the details of a failed call and in the response to ExecuteBatchDml.
google::rpc::Status EncodeRpcStatus(const Status& status);
// A code that gRPC does not know becomes UNKNOWN.
Status DecodeRpcStatus(const google::rpc::Status& proto);

// Leaves out the middle of a longer message.
inline constexpr size_t kMessageMax = 1'200;
grpc::Status EncodeStatus(const Status& status);

// The name of the trailer, and its bytes; nullopt if the status has no retry delay.
inline constexpr std::string_view kRetryInfoTrailer = "google.rpc.retryinfo-bin";
std::optional<std::string> EncodeRetryInfoTrailer(const Status& status);

// `retry_info_trailer` is that trailer's bytes, if any; the details take precedence. Details that
// cannot be parsed are ignored, but code and message are kept.
Status DecodeStatus(const grpc::Status& status,
                    std::optional<std::string_view> retry_info_trailer = std::nullopt);

}  // namespace whorl::wire
