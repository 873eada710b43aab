// Adds up the reports of parts of one hunt.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/hunt/report.h"

namespace whorl::cli {

// A report, and where it was read.
struct ReportFile {
  std::string path;
  HuntReport report;
};

// The sum of reports of parts of one hunt, in any order. A run that is in several of them
// counts once: if one of two reports of a shard was ended earlier, the longer one contains it. Reports of
// the same runs have to be equal.
//   kInvalidArgument: one is of another hunt, or they cannot be added up.
//   kDataLoss: two reports of the same runs differ, so a run could not be repeated.
// REQUIRES: there is a report.
absl::StatusOr<HuntReport> SumOf(std::vector<ReportFile> files);

}  // namespace whorl::cli
