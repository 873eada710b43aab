// Reads the inputs of a history side by side, and judges it.
#pragma once

#include <cstdint>
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
  Judgement(const ProtocolInfo& protocol, const CheckRequest& request);

  // Reads a line. Returns the time of its last operation, by which files are merged.
  std::optional<Timestamp> Take(Source& source);
  void End(Source& source);
  // What is violated for certain, and was not so when this was called last.
  std::vector<check::InvariantFinding> News();
  // Goes on where another process was.
  void GoOn(Resumed resumed);
  check::HistoryVerdict Verdict();
  const check::Processes& processes() const { return checker_.processes(); }
  // Empty unless the request wants more than a verdict.
  const check::History& history() const { return history_; }
  int64_t errors() const { return errors_; }
  // Why what is read of a database could not be read to its end, or the file of --resume not be written; OK if
  // they could.
  const absl::Status& failure() const { return failure_; }
  int64_t added() const { return added_; }

 private:
  void Refuse(const std::string& wrong, const Source& source);
  void EndStream(const RecordStream& stream);
  void Keep(const absl::Status& kept);

  const bool keeps_all_;
  std::optional<ResumeWriter> resume_;
  std::vector<check::InvariantFinding> before_;  // what an earlier process has found
  check::History history_;
  check::Checker checker_;
  check::TimeOrigins origins_;
  std::vector<check::Operation> operations_;
  std::set<Invariant> told_;
  int64_t errors_ = 0;
  absl::Status failure_;
  int64_t added_ = 0;
};

// Reads all sources side by side, always the one that has come least far in time, until they end or a
// signal comes. With `tells`, before it waits for more it says what is certain.
void ReadAll(std::vector<Source>& sources, Judgement& judgement, bool tells);
// Says how many lines could not be read, beyond those that were shown.
void ComplainOfMore(const Judgement& judgement);

}  // namespace whorl::cli
