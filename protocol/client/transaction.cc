#include "protocol/client/transaction.h"

#include <algorithm>
#include <array>
#include <utility>

namespace whorl {
namespace {

// Why the body goes no further, now that its first statement has answered; OK when it does.
Status Tested(const Body& body, const StatementResult& first) {
  if (std::holds_alternative<IfRowChanged>(body) && first.row_count == 0) {
    return Error(Code::kFailedPrecondition, "no row was changed");
  }
  const auto* test = std::get_if<UnlessHeld>(&body);
  if (test == nullptr) return {};
  switch (HolderIn(first.rows, *test).kind) {
    case HolderKind::kNone:
      return {};
    case HolderKind::kAnother:
      return Error(Code::kFailedPrecondition, "another owner's lease is not over");
    case HolderKind::kUnreadable:
      return Error(Code::kFailedPrecondition, "owner or token is NULL");
  }
  return {};
}

}  // namespace

Transaction OneStatement(StepName step, Mode mode, Sql sql, std::vector<Value> parameters) {
  Transaction transaction{
      .step = step, .mode = mode, .statements = std::vector<TransactionStatement>(1)};
  TransactionStatement& only = transaction.statements.front();
  only.step = step;
  only.statement.sql = sql;
  only.statement.parameters = std::move(parameters);
  return transaction;
}

Holder HolderIn(const std::vector<Row>& rows, const UnlessHeld& test) {
  if (rows.empty()) return {};
  const Row& row = rows.front();
  const auto* owner = std::get_if<std::string>(&row[0]);
  const auto* token = std::get_if<Timestamp>(&row[1]);
  const auto* now = std::get_if<Timestamp>(&row[2]);
  if (owner == nullptr || token == nullptr || now == nullptr) {
    return {.kind = HolderKind::kUnreadable, .age = {}};
  }
  const Duration age = *now - *token;
  if (*owner == test.me || age >= test.lease) return {};
  return {.kind = HolderKind::kAnother, .age = age};
}

Said Continue(const Transaction& transaction, std::span<const StatementResult> heard) {
  const std::span<const TransactionStatement> statements(transaction.statements);
  const Status* failure = nullptr;
  for (size_t i = 0; i < heard.size(); ++i) {
    if (heard[i].status.ok() || statements[i].statement.ignore_error) continue;
    failure = &heard[i].status;
    break;
  }
  if (failure == nullptr && !heard.empty()) {
    Status refused = Tested(transaction.body, heard.front());
    if (!refused.ok()) return SayRollback{.reason = std::move(refused)};
  }
  if (heard.size() < statements.size()) {
    const size_t next = heard.size();
    if (failure == nullptr || statements[next].statement.ignore_error) {
      return SayStatement{.index = next};
    }
  }
  if (failure != nullptr) return SayRollback{.reason = *failure};
  return SayCommit{};
}

}  // namespace whorl
