#include "spanner_model/sql/limits.h"

#include <algorithm>
#include <span>
#include <string>
#include <variant>

namespace whorl::model {
namespace {

Status TooMany(const std::string& what, size_t most) {
  return Error(
      Code::kInvalidArgument,
      "Number of " + what + " exceeds the maximum allowed limit of " + std::to_string(most) + ".");
}

class Counter {
 public:
  Status Check(const ast::Statement& statement) {
    std::visit([this](const auto& one) { Count(one); }, statement);
    if (functions_ > kFunctionsMax) return TooMany("functions", kFunctionsMax);
    if (nested_ > kNestedFunctionsMax) {
      return TooMany("nested boolean predicates", kNestedFunctionsMax);
    }
    if (groups_ > kGroupingColumnsMax) return TooMany("grouping columns", kGroupingColumnsMax);
    if (in_list_ > kInListMax) return TooMany("values in IN operator", kInListMax);
    if (subqueries_ > kNestedSubqueriesMax) {
      return TooMany("nested subqueries", kNestedSubqueriesMax);
    }
    return {};
  }

 private:
  void Count(const ast::Select& select, size_t inside = 0) {
    for (const ast::SelectItem& item : select.items) Count(item.expression, 0, inside);
    if (select.where) Count(*select.where, 0, inside);
    for (const ast::Expression& key : select.group) Count(key, 0, inside);
    if (select.having) Count(*select.having, 0, inside);
    for (const ast::OrderItem& item : select.order) Count(item.expression, 0, inside);
    groups_ = std::max(groups_, select.group.size());
    if (select.distinct && select.table) groups_ = std::max(groups_, select.items.size());
  }
  void Count(const ast::Insert& insert) {
    for (const ast::InsertRow& row : insert.rows) {
      for (const ast::Expression& value : row.values) Count(value, 0, 0);
    }
    if (insert.query) Count(*insert.query);
    Count(insert.returning);
  }
  void Count(const ast::Update& update) {
    for (const ast::SetItem& item : update.items) Count(item.value, 0, 0);
    if (update.where) Count(*update.where, 0, 0);
    Count(update.returning);
  }
  void Count(const ast::Delete& statement) {
    if (statement.where) Count(*statement.where, 0, 0);
    Count(statement.returning);
  }
  void Count(std::span<const ast::SelectItem> returning) {
    for (const ast::SelectItem& item : returning) Count(item.expression, 0, 0);
  }

  // The expression is nested in `functions` functions and `subqueries` subqueries.
  void Count(const ast::Expression& expression, size_t functions, size_t subqueries) {
    const bool is_function = expression.kind == ast::ExpressionKind::kOperator ||
                             expression.kind == ast::ExpressionKind::kCall;
    if (is_function) {
      ++functions_;
      nested_ = std::max(nested_, ++functions);
    }
    if (expression.op == Op::kIn) {
      in_list_ = std::max(in_list_, expression.operands.size() - 1);  // besides what is looked for
    }
    if (expression.query) {
      subqueries_ = std::max(subqueries_, subqueries + 1);
      Count(*expression.query, subqueries + 1);
    }
    for (const ast::Expression& operand : expression.operands) {
      // A CASE is one function, and was parsed to an IF for each WHEN.
      const bool is_same_case = expression.kind == ast::ExpressionKind::kCall &&
                                operand.kind == ast::ExpressionKind::kCall &&
                                operand.offset == expression.offset;
      if (is_same_case) --functions_;
      Count(operand, is_same_case ? functions - 1 : functions, subqueries);
    }
  }

  size_t functions_ = 0;
  size_t nested_ = 0;
  size_t groups_ = 0;
  size_t in_list_ = 0;
  size_t subqueries_ = 0;
};

}  // namespace

Status CheckLimits(const ast::Statement& statement) { return Counter().Check(statement); }

}  // namespace whorl::model
