// Reads a trace line by line, and refuses what is none: a file of another format or version, and one
// that is cut off. Errors name the file and the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/report/json_print.h"

namespace whorl::sim {

inline constexpr size_t kMaxTraceLine = size_t{1} << 22;  // bytes

struct TraceInput {
  std::istream* stream = nullptr;
  std::string name;  // for messages
};

class TraceReader {
 public:
  explicit TraceReader(TraceInput input) : input_(std::move(input)) {}

  absl::StatusOr<Json> ReadHeader();
  // The next event's line; nothing after the last one.
  absl::StatusOr<std::optional<std::string>> ReadEvent();
  // An error at the line that was read last.
  absl::Status Error(std::string_view what) const;

 private:
  absl::StatusOr<std::optional<std::string>> ReadLine();

  TraceInput input_;
  uint64_t line_ = 0;
  uint64_t events_ = 0;
  bool ended_ = false;
};

}  // namespace whorl::sim
