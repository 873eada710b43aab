#include "protocol/spanner/status.h"

#include <array>

namespace whorl {

std::string_view CodeName(Code code) {
  constexpr std::array<std::string_view, 17> kNames = {"OK",
                                                       "CANCELLED",
                                                       "UNKNOWN",
                                                       "INVALID_ARGUMENT",
                                                       "DEADLINE_EXCEEDED",
                                                       "NOT_FOUND",
                                                       "ALREADY_EXISTS",
                                                       "PERMISSION_DENIED",
                                                       "RESOURCE_EXHAUSTED",
                                                       "FAILED_PRECONDITION",
                                                       "ABORTED",
                                                       "OUT_OF_RANGE",
                                                       "UNIMPLEMENTED",
                                                       "INTERNAL",
                                                       "UNAVAILABLE",
                                                       "DATA_LOSS",
                                                       "UNAUTHENTICATED"};
  return kNames[static_cast<size_t>(code)];
}

std::string FormatStatus(const Status& status) {
  std::string out(CodeName(status.code));
  if (!status.message.empty()) out += ": " + status.message;
  return out;
}

}  // namespace whorl
