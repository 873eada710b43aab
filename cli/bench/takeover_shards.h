// Divides `whorl bench takeover` into shards: says which cases a shard measures, writes its report,
// and adds up several.
//
// Cases are dealt out in an order that is drawn from their names, since those that take long stand at regular
// places in the grid. A case is measured by one shard, as often as it takes, so its figures are those of the bench
// in one piece.
// Invariant: the reports of all shards, added in any order, are the report of the bench in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/bench/takeover_report.h"
#include "cli/shards/coverage.h"
#include "sim/measure/takeover_bench.h"
#include "sim/measure/takeover_case.h"

namespace whorl::cli {

struct TakeoverShard {
  sim::TakeoverGrid grid;
  sim::TakeoverOptions options;
  // Of the cases, in the order in which they are dealt out.
  Coverage coverage{.shards = 1, .runs = {{0, 0}}};
  // By place among the grid's cases; of those that were measured to their end.
  std::map<size_t, sim::TakeoverResult> results;

  // What is measured is all that there is.
  bool IsWhole() const { return coverage.shards == 1 && results.size() == CaseCount(); }
  size_t CaseCount() const { return sim::CasesOf(grid).cases.size(); }
};

// The places of the cases that the shard measures, in the order in which it does.
std::vector<size_t> CasesOfShard(const sim::TakeoverCases& cases, uint64_t seed, uint64_t shard,
                                 uint64_t shards);

// What people, tables and pictures are told of it.
TakeoverReport ReportOf(const TakeoverShard& shard);

// One JSON document, which LoadTakeovers reads.
std::string TakeoverShardText(const TakeoverShard& shard);

// The sum of the reports in the files.
//   kInvalidArgument: one is no report of a shard, or of another bench, or they cannot be added up.
//   kDataLoss: two reports of the same cases differ.
//   kUnavailable: one cannot be read.
absl::StatusOr<TakeoverShard> LoadTakeovers(const std::vector<std::string>& paths);

}  // namespace whorl::cli
