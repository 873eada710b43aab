// Writes the report of a shard of `whorl replay --repeat`, and adds up several.
//
// A job is one seed of one scenario; of the jobs, in the order of the scenarios and then of the seeds, a shard does
// every N-th.
// Invariant: the reports of all shards, added in any order, have all that the replay in one piece counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/replay/tally.h"
#include "cli/shards/coverage.h"

namespace whorl::cli {

struct ReplayShard {
  struct OfScenario {
    std::string path;
    std::string text;  // as it was read, so that --merge needs no file
    SeedCounts counts;
  };

  std::optional<uint64_t> seed;  // as given
  uint64_t repeat = 1;
  bool check_determinism = false;
  std::vector<OfScenario> scenarios;
  Coverage coverage{.shards = 1, .runs = {{0, 0}}};  // of the jobs

  uint64_t JobCount() const { return scenarios.size() * repeat; }
  // What was run is all that there is.
  bool IsWhole() const { return coverage.shards == 1 && coverage.RunCount() == JobCount(); }
};

// One JSON document, which LoadReplays reads.
std::string ReplayShardText(const ReplayShard& shard);

// The sum of the reports in the files.
//   kInvalidArgument: one is no report of a shard, or of another replay, or they cannot be added up.
//   kDataLoss: two reports of the same runs differ.
//   kUnavailable: one cannot be read.
absl::StatusOr<ReplayShard> LoadReplays(const std::vector<std::string>& paths);

}  // namespace whorl::cli
