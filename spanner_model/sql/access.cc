#include <algorithm>
#include <optional>
#include <utility>

#include "spanner_model/sql/statement_binding.h"

namespace whorl::model {
namespace {

bool IsColumn(const Bound& bound, uint32_t column) {
  return bound.node.op == Op::kColumn && bound.node.index == column;
}

// Collects the conditions that all have to hold, through nested ANDs.
void CollectConditions(const Bound& where, std::vector<const Bound*>& out) {
  if (where.node.op != Op::kAnd) {
    out.push_back(&where);
    return;
  }
  for (const Bound& operand : where.operands) CollectConditions(operand, out);
}

// The expression of `column = expression` or `expression = column`, or null. It has the column's
// type, since a column that is coerced is not a column node.
const Bound* EqualTo(const Bound& condition, uint32_t column) {
  if (condition.node.op != Op::kEqual) return nullptr;
  const Bound& left = condition.operands[0];
  const Bound& right = condition.operands[1];
  const auto is_fixed = [](const Bound& bound) {
    return bound.columns.empty() && !bound.has_subquery;
  };
  if (IsColumn(left, column) && is_fixed(right)) return &right;
  if (IsColumn(right, column) && is_fixed(left)) return &left;
  return nullptr;
}

std::optional<Access> FindKey(const Table& table, const std::vector<const Bound*>& conditions) {
  Access access;
  access.kind = AccessKind::kKey;
  for (const uint32_t column : table.key) {
    const Bound* expression = nullptr;
    for (const Bound* condition : conditions) {
      if (expression == nullptr) expression = EqualTo(*condition, column);
    }
    if (expression == nullptr) return std::nullopt;
    access.key.push_back(Flatten(*expression));
  }
  // NaN = NaN is not true, though a key that is NaN is found by NaN.
  const bool has_nan = std::ranges::any_of(table.key, [&](uint32_t column) {
    const Type type = table.columns[column].type;
    return type == Type::kFloat64 || type == Type::kFloat32;
  });
  access.is_filter = !has_nan && conditions.size() == table.key.size();
  return access;
}

std::optional<Access> FindPrefix(const Table& table, const std::vector<const Bound*>& conditions) {
  if (table.key.size() != 1 || table.columns[table.key[0]].type != Type::kString) {
    return std::nullopt;
  }
  for (const Bound* condition : conditions) {
    if (condition->node.op != Op::kStartsWith) continue;
    if (!IsColumn(condition->operands[0], table.key[0])) continue;
    if (!condition->operands[1].columns.empty() || condition->operands[1].has_subquery) continue;
    Access access;
    access.kind = AccessKind::kPrefix;
    access.prefix = Flatten(condition->operands[1]);
    return access;
  }
  return std::nullopt;
}

}  // namespace

Access FindAccess(const Table& table, const Bound& where) {
  std::vector<const Bound*> conditions;
  CollectConditions(where, conditions);
  if (auto access = FindKey(table, conditions)) return std::move(*access);
  if (auto access = FindPrefix(table, conditions)) return std::move(*access);
  return {};
}

}  // namespace whorl::model
