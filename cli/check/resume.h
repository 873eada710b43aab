// Keeps the file of `whorl check --resume`: where a check of a change stream was, so that another
// process goes on there.
//
// The file is replaced as a whole, so that a process that is killed leaves an older one. It has the position in
// the stream, what is known of each row (check/resume_rows.h), what was found, and what was counted.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "check/check.h"
#include "check/resume_rows.h"
#include "cli/check/request.h"
#include "sim/scenario/json_text.h"

namespace whorl::cli {

// What an earlier process has left.
struct Resumed {
  Timestamp position;  // all changes that were committed before have been judged
  std::vector<check::Operation> changes;
  std::vector<check::InvariantResult> findings;
  std::vector<check::OutsideWrite> outside_writes;
  int64_t outside_count = 0;
  check::HistoryMetrics metrics;
};
// What an earlier process has found.
struct FoundBefore {
  const std::vector<check::InvariantResult>& findings;
  const std::vector<check::OutsideWrite>& outside_writes;
  int64_t outside_count = 0;
};

// Reads the file. Nothing if there is none yet; kInvalidArgument, with the remedy, if it is of another check.
absl::Status ReadResume(const CheckRequest& request, std::optional<Resumed>& out);

// The members that say which check the file belongs to.
sim::Json ResumeHead(const CheckRequest& request);
// The same for the file's text.
absl::Status ParseResume(std::string_view text, const CheckRequest& request,
                         std::optional<Resumed>& out);

// What was found before, and is found now: the worse of the two.
check::InvariantResult WorseOf(const check::InvariantResult& before,
                               const check::InvariantResult& now);

class ResumeWriter {
 public:
  ResumeWriter(const CheckRequest& request, const ProtocolInfo& protocol);

  void Add(const check::RowChange& change) { given_.push_back(change); }
  // All changes that were committed before `at` have been judged by the checker. Writes the file if it was not
  // written within the last second.
  absl::Status Reached(Timestamp at, const check::Checker& checker, const FoundBefore& before);
  // Writes what has not been written.
  absl::Status End(const check::Checker& checker, const FoundBefore& before);

 private:
  absl::Status Write(const check::Checker& checker, const FoundBefore& before);

  const CheckRequest& request_;
  const ProtocolInfo& protocol_;
  check::ResumeRows landmarks_;
  std::vector<check::RowChange> given_;  // not known to be judged
  std::optional<Timestamp> reached_;
  std::optional<Timestamp> written_;
  std::chrono::steady_clock::time_point when_;  // it was written
};

}  // namespace whorl::cli
