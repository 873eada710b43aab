#include "protocol/client/transaction.h"

#include <algorithm>
#include <array>

namespace whorl {

Said Continue(const Transaction& transaction, std::span<const StatementResult> heard) {
  const std::span<const TransactionStatement> statements(transaction.statements);
  const Status* failure = nullptr;
  for (size_t i = 0; i < heard.size(); ++i) {
    if (heard[i].status.ok() || statements[i].statement.ignore_error) continue;
    failure = &heard[i].status;
    break;
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

std::string_view OutcomeText(Outcome outcome) {
  constexpr std::array<std::string_view, 3> kTexts = {"committed", "aborted", "unknown"};
  return kTexts[static_cast<size_t>(outcome)];
}

}  // namespace whorl
