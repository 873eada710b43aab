#include "check/operation.h"

namespace whorl::check {

LogLine AsOfEnded(const LogLine& said) {
  LogLine ended = said;
  ended.process = said.sender;
  ended.sender.clear();
  ended.statement = Statement::kGone;
  ended.number.reset();
  return ended;
}

std::optional<Timestamp> TimeOf(const Operation& operation) {
  if (const auto* row = std::get_if<RowChange>(&operation.what)) return row->commit;
  if (const auto* said = std::get_if<LogLine>(&operation.what)) return said->at;
  if (const auto* called = std::get_if<CommitRecord>(&operation.what)) return called->received;
  return std::nullopt;
}

}  // namespace whorl::check
