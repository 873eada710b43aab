#include "spanner_model/sql/plan.h"

namespace whorl::model {

const std::vector<Output>& OutputsOf(const Plan& plan) {
  return std::visit(
      [](const auto& kind) -> const std::vector<Output>& {
        if constexpr (requires { kind.outputs; }) {
          return kind.outputs;
        } else {
          return kind.returning;
        }
      },
      plan);
}

Status PendingColumnError(const std::string& column) {
  return Error(Code::kInvalidArgument,
               "Column " + column +
                   " cannot be accessed because it, or its associated index, has a pending "
                   "CommitTimestamp");
}

std::vector<ResultColumn> ResultColumns(const Plan& plan) {
  std::vector<ResultColumn> columns;
  for (const Output& output : OutputsOf(plan)) {
    columns.push_back({.name = output.name, .type = output.type});
  }
  return columns;
}

}  // namespace whorl::model
