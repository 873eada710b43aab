// Outcomes of calls as gRPC carries them.
//
// Invariants:
//   1. What Spanner's clients read beyond code and message goes along in google.rpc.Status details:
//      RetryInfo, from which they take the pause after ABORTED, and ResourceInfo, which names the
//      session, database or instance that was not found.
//   2. Older clients look for RetryInfo in a trailer of its own, so a server sends both.
#pragma once

#include <grpcpp/support/status.h>

#include <optional>
#include <string>
#include <string_view>

#include "google/rpc/status.pb.h"
#include "protocol/spanner/status.h"

namespace whorl::wire {

// google.rpc.Status, as in the details of a call that failed, and in the body of ExecuteBatchDml.
google::rpc::Status EncodeRpcStatus(const Status& status);
// A code that gRPC does not know is UNKNOWN.
Status DecodeRpcStatus(const google::rpc::Status& proto);

grpc::Status EncodeStatus(const Status& status);

// The name of the trailer, and its bytes; nothing when the status asks for no pause.
inline constexpr std::string_view kRetryInfoTrailer = "google.rpc.retryinfo-bin";
std::optional<std::string> EncodeRetryInfoTrailer(const Status& status);

// `retry_info_trailer`: the bytes of that trailer if there was one; the details come first. Details
// that cannot be parsed are left out: code and message stand.
Status DecodeStatus(const grpc::Status& status,
                    std::optional<std::string_view> retry_info_trailer = std::nullopt);

}  // namespace whorl::wire
