#include "spanner_model/server/mutation_count.h"

#include <bit>
#include <iterator>
#include <string>
#include <variant>

namespace whorl::server {

int64_t MutationsOfRow(const model::Schema& schema, const model::Plan& plan) {
  if (const auto* insert = std::get_if<model::InsertPlan>(&plan)) {
    return static_cast<int64_t>(insert->columns.size());
  }
  if (const auto* update = std::get_if<model::UpdatePlan>(&plan)) {
    model::ColumnSet affected = update->writes;
    for (const uint32_t column : schema.tables[update->table].key) affected.Add(column);
    return std::popcount(affected.bits());
  }
  return std::holds_alternative<model::DeletePlan>(plan) ? 1 : 0;
}

int64_t CountMutations(const std::vector<Mutation>& mutations) {
  int64_t count = 0;
  for (const Mutation& mutation : mutations) {
    if (mutation.kind == MutationKind::kDelete) {
      count += std::ssize(mutation.keys.keys) + std::ssize(mutation.keys.spans) +
               (mutation.keys.all ? 1 : 0);
    } else {
      count += std::ssize(mutation.columns) * std::ssize(mutation.rows);
    }
  }
  return count;
}

Status TooManyMutations() {
  return Error(
      Code::kInvalidArgument,
      "The transaction contains too many mutations. Insert and update operations count with "
      "the multiplicity of the number of columns they affect; a delete counts as one. "
      "(Maximum number: " +
          std::to_string(kMutationsMax) + ")");
}

}  // namespace whorl::server
