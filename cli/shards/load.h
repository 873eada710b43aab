// Loads the reports of parts of one work, and picks those that add up to all that they have.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/text.h"
#include "cli/shards/coverage.h"
#include "cli/shards/pick.h"
#include "cli/shards/report_file.h"

namespace whorl::cli {

// What loading has to know of a kind of report. No report is cut off. `Report` has a Coverage `coverage`.
template <typename Report>
struct ReportKind {
  ShardFormat format;
  Report (*read)(const sim::Json&);  // may throw as the readers of report_file.h do
  bool (*are_of_one_work)(const Report&, const Report&);
  bool (*are_equal)(const Report&, const Report&);  // of the same runs
  std::string_view other_work;                      // "of another replay (other scenarios, ..)"
  std::string_view runs;                            // what they are called: "runs", "cases"
};

template <typename Report>
struct LoadedReports {
  std::vector<Report> reports;  // to be added up: they have no run in common
  Coverage coverage;            // of all
};

// The errors of ReadShardReport and of PickReports, and
//   kInvalidArgument: they are not of one work.
//   kDataLoss: two of the same runs differ.
// REQUIRES: there is a path.
template <typename Report>
absl::StatusOr<LoadedReports<Report>> LoadReports(const std::vector<std::string>& paths,
                                                  const ReportKind<Report>& kind) {
  std::vector<Report> reports;
  std::vector<ReportOfPart> parts;
  for (const std::string& path : paths) {
    Report& report = reports.emplace_back();
    const absl::Status read = ReadShardReport(
        path, kind.format, [&](const sim::Json& json) { report = kind.read(json); });
    if (!read.ok()) return read;
    if (!kind.are_of_one_work(report, reports.front())) {
      return absl::InvalidArgumentError(Cat(Printable(path, 1000), ": ", kind.other_work, " than ",
                                            Printable(paths.front(), 1000)));
    }
    parts.push_back({.path = path, .coverage = report.coverage});
  }
  const auto picked = PickReports(parts, [&](size_t from, size_t into) -> absl::Status {
    if (kind.are_equal(reports[from], reports[into])) return absl::OkStatus();
    return absl::DataLossError(
        Cat(SharedText(parts[from], parts[into]), ", and the same ", kind.runs,
            " came out otherwise: a mistake of whorl's, or one of the two was written by "
            "another build"));
  });
  if (!picked.ok()) return picked.status();
  LoadedReports<Report> loaded{.reports = {}, .coverage = picked->coverage};
  for (const size_t place : picked->places) loaded.reports.push_back(std::move(reports[place]));
  return loaded;
}

}  // namespace whorl::cli
