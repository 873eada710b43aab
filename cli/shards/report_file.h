// Files with reports of shards: one JSON document each.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "cli/shards/coverage.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {

struct ShardFormat {
  std::string_view name;  // "whorl-replay-shard"
  int version = 1;
  std::string_view command;  // that writes it: "whorl replay --shard"
};

// {"format": ..., "version": ..., "whorl": ..., "shards": ..., "covered": ...}, to which the rest is added.
sim::Json HeadOfShardReport(const ShardFormat& format, const Coverage& coverage);

// Calls `read` with the document of the file. It may throw what json_read.h throws.
//   kInvalidArgument: it is no such report, damaged, or of another version.
//   kUnavailable: it cannot be read.
absl::Status ReadShardReport(const std::string& path, const ShardFormat& format,
                             const std::function<void(const sim::Json&)>& read);

// The reports to merge are often all that is left of hours of work: an error if `out` is one of them.
absl::Status CheckOutIsNoInput(const std::vector<std::string>& merged, const std::string& out);

}  // namespace whorl::cli
