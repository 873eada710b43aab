#include "check/operation.h"

namespace whorl::check {

LogLine AsOfEnded(const LogLine& log_line) {
  LogLine ended = log_line;
  ended.process = log_line.sender;
  ended.sender.clear();
  ended.statement = Statement::kGone;
  ended.number.reset();
  return ended;
}

std::optional<Timestamp> TimeOf(const Operation& operation) {
  if (const auto* row = std::get_if<RowChange>(&operation.what)) return row->commit;
  if (const auto* log_line = std::get_if<LogLine>(&operation.what)) return log_line->at;
  if (const auto* commit_record = std::get_if<CommitRecord>(&operation.what))
    return commit_record->received;
  return std::nullopt;
}

}  // namespace whorl::check
