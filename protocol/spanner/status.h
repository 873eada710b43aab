// Represents the outcome of a call to Spanner: gRPC's canonical codes, a message, and the delay
// that an ABORTED reply may ask for. A value with fields (absl::Status cannot be visited field by
// field).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/shared_text.h"
#include "protocol/spanner/words.h"

namespace whorl {

// The numbers are those of the wire.
enum class Code : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};
constexpr auto WordTableOf(Code) {
  return MakeWordTable<Code>({
      {Code::kOk, "OK"},
      {Code::kCancelled, "CANCELLED"},
      {Code::kUnknown, "UNKNOWN"},
      {Code::kInvalidArgument, "INVALID_ARGUMENT"},
      {Code::kDeadlineExceeded, "DEADLINE_EXCEEDED"},
      {Code::kNotFound, "NOT_FOUND"},
      {Code::kAlreadyExists, "ALREADY_EXISTS"},
      {Code::kPermissionDenied, "PERMISSION_DENIED"},
      {Code::kResourceExhausted, "RESOURCE_EXHAUSTED"},
      {Code::kFailedPrecondition, "FAILED_PRECONDITION"},
      {Code::kAborted, "ABORTED"},
      {Code::kOutOfRange, "OUT_OF_RANGE"},
      {Code::kUnimplemented, "UNIMPLEMENTED"},
      {Code::kInternal, "INTERNAL"},
      {Code::kUnavailable, "UNAVAILABLE"},
      {Code::kDataLoss, "DATA_LOSS"},
      {Code::kUnauthenticated, "UNAUTHENTICATED"},
  });
}

struct Status {
  Code code = Code::kOk;
  std::optional<Duration> retry_after;  // RetryInfo: how long to wait before the next attempt
  SharedText message;

  bool ok() const { return code == Code::kOk; }
  // Whether the message contains the text.
  bool Says(std::string_view text) const {
    return message.view().find(text) != std::string_view::npos;
  }
  WHORL_FIELDS(Status, code, retry_after, message);
};

inline Status Error(Code code, SharedText message) {
  return {.code = code, .retry_after = std::nullopt, .message = std::move(message)};
}

// What was sent in a session that is gone can be sent again in another one.
inline bool IsSessionNotFound(const Status& status) {
  return status.code == Code::kNotFound && status.Says("Session not found");
}

// "ALREADY_EXISTS: Row ..."
std::string FormatStatus(const Status& status);

}  // namespace whorl
