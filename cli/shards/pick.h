// Picks, of several reports of parts of one work, those that add up to all that was done.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/shards/coverage.h"

namespace whorl::cli {

// What picking has to know of a report.
struct ReportOfPart {
  std::string path;  // for messages
  Coverage coverage;
  bool is_cut_off = false;  // it lacks something of the runs that it covers
};

// Called for two whole reports of the same runs, by their places. Returns an
// error if they differ; takes into the second what only the first one has.
using JoinReports = std::function<absl::Status(size_t from, size_t into)>;

struct PickedReports {
  std::vector<size_t> places;  // of the reports to add up: they have no run in common
  Coverage coverage;           // of all reports
  bool is_cut_off = false;     // one that was picked is
};

// Picks so that each run counts once, in whatever order the reports come: of two reports of one shard, one of
// which was ended earlier, the longer one contains the other.
//   kInvalidArgument: they are of different numbers of shards, or cannot be added up.
//   Or the error of `join`.
// REQUIRES: there is a report.
absl::StatusOr<PickedReports> PickReports(std::vector<ReportOfPart> reports,
                                          const JoinReports& join);

// ": shard 2/3 is in OTHER, too", for messages about two reports of the same runs.
std::string SharedText(const ReportOfPart& one, const ReportOfPart& other);

}  // namespace whorl::cli
