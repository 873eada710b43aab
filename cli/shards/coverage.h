// Says which runs of a hunt a report contains.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/scenario/json_text.h"

namespace whorl::cli {

inline constexpr uint64_t kShardsMax = 1'000'000;

// A report says what was new in this number of last runs.
inline constexpr uint64_t kRecentRuns = 1'000;

// How many of the first `runs` runs of a hunt belong to a shard, counted from 0: it has every
// `shards`-th of them.
uint64_t RunsOfShard(uint64_t runs, uint64_t shard, uint64_t shards);

// How many runs of each shard there are: always its first ones. A shard that was ended before its
// first run is there, with none.
struct Coverage {
  uint64_t shards = 1;                // how many there are
  std::map<uint64_t, uint64_t> runs;  // by shard, from 0
  friend bool operator==(const Coverage&, const Coverage&) = default;

  uint64_t RunCount() const;
  // How many runs these shards have in a hunt of `asked` runs.
  uint64_t Due(uint64_t asked) const;
  // The same runs as those of `count` shards. REQUIRES: there are as many, or one.
  Coverage SplitInto(uint64_t count) const;
  // The same runs as those of one shard, if they are the first ones of the whole hunt.
  Coverage Joined() const;
  // Whether it has all that `other` has. REQUIRES: as many shards.
  bool Contains(const Coverage& other) const;
  // The number from which on `count` of these runs, or somewhat more, have theirs; 0 if there are fewer.
  uint64_t FirstOfLast(uint64_t count) const;
  // A shard that both have a run of.
  std::optional<uint64_t> SharedShard(const Coverage& other) const;
  // The shards that are not there, with no run.
  Coverage Missing() const;
};

// "shard 2/3", or "shards 1/3 and 2/3".
std::string ShardsText(const Coverage& coverage);
// "; of 8 shards, 7 are here, without shard 3/8", and how many runs are missing of those; empty if nothing is.
std::string MissingText(const Coverage& coverage, std::optional<uint64_t> asked,
                        std::string_view runs = "runs");
// [[shard, its runs], ...].
sim::Json CoveredJson(const Coverage& coverage);

}  // namespace whorl::cli
