// Reads the inputs of a history side by side, and judges it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "check/check.h"
#include "check/history.h"
#include "check/relative_time.h"
#include "cli/check/request.h"
#include "cli/check/resume.h"
#include "cli/check/source.h"

namespace whorl::cli {

class Judgement {
 public:
  Judgement(const ProtocolInfo& protocol, const CheckRequest& request,
            std::shared_ptr<check::RecordCounts> counts);

  // Reads a line. Returns the time of its last operation, by which files are merged.
  std::optional<Timestamp> Take(Source& source);
  void End(Source& source);
  // What is violated for certain, and was not so when this was called last.
  std::vector<check::InvariantResult> News();
  std::vector<check::OutsideWrite> OutsideNews();
  // Goes on where another process was.
  void GoOn(Resumed resumed);
  check::HistoryVerdict Verdict();
  const check::Processes& processes() const { return checker_.processes(); }
  // Empty unless the request wants more than a verdict.
  const check::History& history() const { return history_; }
  int64_t errors() const { return errors_; }
  // What became of the records that were read.
  const check::RecordCounts& counts() const { return *counts_; }
  // Why what is read of a database could not be read to its end, or the file of --resume not be written; OK if
  // they could.
  const absl::Status& failure() const { return failure_; }
  // It goes on where another process was, so that there may be nothing new.
  bool was_resumed() const { return was_resumed_; }

 private:
  void Refuse(std::string wrong, const Source& source);
  FoundBefore Before() const { return {before_, outside_before_, outside_before_count_}; }
  void EndStream(const RecordStream& stream);
  void Keep(const absl::Status& kept);

  const std::shared_ptr<check::RecordCounts> counts_;
  const bool keeps_all_;
  std::optional<ResumeWriter> resume_;
  std::vector<check::InvariantResult> before_;  // what an earlier process has found
  check::History history_;
  check::Checker checker_;
  check::TimeOrigins origins_;
  std::vector<check::Operation> operations_;
  std::vector<check::OutsideWrite> outside_before_;  // likewise
  int64_t outside_before_count_ = 0;
  std::set<Invariant> told_;
  size_t outside_told_ = 0;
  int64_t errors_ = 0;
  absl::Status failure_;
  bool was_resumed_ = false;
};

// Reads all sources side by side, always the one that has come least far in time, until they end or a
// signal comes. With `tells`, before it waits for more it says what is certain.
void ReadAll(std::vector<Source>& sources, Judgement& judgement, bool tells);
// Says how many lines could not be read, beyond those that were shown.
void ComplainOfMore(const Judgement& judgement);

}  // namespace whorl::cli
