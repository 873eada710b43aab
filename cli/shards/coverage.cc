#include "cli/shards/coverage.h"

#include <algorithm>

#include "base/text.h"

namespace whorl::cli {

uint64_t RunsOfShard(uint64_t runs, uint64_t shard, uint64_t shards) {
  return runs <= shard ? 0 : (runs - shard - 1) / shards + 1;
}

uint64_t Coverage::RunCount() const {
  uint64_t all = 0;
  for (const auto& [shard, count] : runs) all += count;
  return all;
}

uint64_t Coverage::Due(uint64_t asked) const {
  uint64_t all = 0;
  for (const auto& [shard, count] : runs) all += RunsOfShard(asked, shard, shards);
  return all;
}

Coverage Coverage::SplitInto(uint64_t count) const {
  if (count == shards) return *this;
  Coverage split{.shards = count, .runs = {}};
  for (uint64_t shard = 0; shard < count; ++shard) {
    split.runs[shard] = RunsOfShard(RunCount(), shard, count);
  }
  return split;
}

Coverage Coverage::Joined() const {
  Coverage joined{.shards = 1, .runs = {{0, RunCount()}}};
  return runs.size() == shards && joined.SplitInto(shards) == *this ? joined : *this;
}

bool Coverage::Contains(const Coverage& other) const {
  return std::ranges::all_of(other.runs, [this](const auto& entry) {
    const auto mine = runs.find(entry.first);
    return mine != runs.end() && mine->second >= entry.second;
  });
}

uint64_t Coverage::FirstOfLast(uint64_t count) const {
  uint64_t end = 0;  // the number after the greatest
  for (const auto& [shard, all] : runs) {
    if (all > 0) end = std::max(end, shard + (all - 1) * shards + 1);
  }
  const uint64_t span = (count * shards + runs.size() - 1) / runs.size();
  return end - std::min(end, span);
}

std::optional<uint64_t> Coverage::SharedShard(const Coverage& other) const {
  for (const auto& [shard, count] : runs) {
    const auto same = other.runs.find(shard);
    if (same != other.runs.end() && count > 0 && same->second > 0) return shard;
  }
  return std::nullopt;
}

std::string ShardsText(const Coverage& coverage) {
  std::string text = coverage.runs.size() == 1 ? "shard " : "shards ";
  size_t left = coverage.runs.size();
  for (const auto& [shard, count] : coverage.runs) {
    text += Cat(std::to_string(shard + 1), "/", std::to_string(coverage.shards));
    if (--left > 0) text += left == 1 ? " and " : ", ";
  }
  return text;
}

Coverage Coverage::Missing() const {
  Coverage missing{.shards = shards, .runs = {}};
  for (uint64_t shard = 0; shard < shards; ++shard) {
    if (!runs.contains(shard)) missing.runs[shard] = 0;
  }
  return missing;
}

std::string MissingText(const Coverage& coverage, std::optional<uint64_t> asked,
                        std::string_view runs) {
  std::string text;
  if (coverage.runs.size() < coverage.shards) {
    const uint64_t here = coverage.runs.size();
    text += Cat("; of ", std::to_string(coverage.shards), " shards, ", std::to_string(here),
                here == 1 ? " is here" : " are here");
    // The missing shards are named if they are fewer than those that are here.
    if (coverage.shards - here < here) text += Cat(", without ", ShardsText(coverage.Missing()));
  }
  if (asked && coverage.RunCount() < coverage.Due(*asked)) {
    text += Cat("; ended early, after ", GroupedText(static_cast<int64_t>(coverage.RunCount())),
                " of ", GroupedText(static_cast<int64_t>(coverage.Due(*asked))), " ", runs);
  }
  return text;
}

sim::Json CoveredJson(const Coverage& coverage) {
  sim::Json covered = sim::Json::array();
  for (const auto& [shard, count] : coverage.runs) {
    covered.push_back(sim::Json::array({shard + 1, count}));
  }
  return covered;
}

}  // namespace whorl::cli
