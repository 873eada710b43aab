// Statements as they are written, before any name is looked up.
//
// Invariants:
//   1. Every node knows the offset in the text at which it begins, for messages.
//   2. No expression is deeper than kMaxDepth (compile.h), so recursion over it is safe. Chains of
//      AND and of OR are one node.
//   3. Only these operators are in kOperator nodes: kAnd, kOr, kNot, kIsNull, kIsNotNull, the
//      comparisons, kAdd, kSubtract, kMultiply, kNegate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/spanner/value.h"
#include "spanner_model/sql/expression.h"

namespace whorl::model::ast {

enum class ExpressionKind : uint8_t {
  kLiteral,           // value; NULL has no type yet
  kTimestampLiteral,  // text, not yet read
  kName,              // text
  kQuotedName,        // text: never a function or a date part
  kParameter,         // text
  kOperator,          // op, operands
  kCall,              // text, operands
  kInterval           // text is the date part, one operand; an argument of a call only
};

struct Expression {
  ExpressionKind kind = ExpressionKind::kLiteral;
  size_t offset = 0;
  int depth = 1;
  Op op = Op::kLiteral;
  std::string text;
  Value value;
  std::vector<Expression> operands;
};

struct Name {
  std::string text;
  size_t offset = 0;
};

struct SelectItem {
  bool star = false;
  Expression expression;
  std::string alias;  // empty: none
};

struct Select {
  std::vector<SelectItem> items;
  Name table;
  std::optional<Expression> where;
};

struct InsertRow {
  size_t offset = 0;
  std::vector<Expression> values;
};

struct Insert {
  Name table;
  std::vector<Name> columns;
  std::vector<InsertRow> rows;
};

struct SetItem {
  Name column;
  Expression value;
};

struct Update {
  size_t offset = 0;
  Name table;
  std::vector<SetItem> items;
  std::optional<Expression> where;
};

struct Delete {
  size_t offset = 0;
  Name table;
  std::optional<Expression> where;
};

using Statement = std::variant<Select, Insert, Update, Delete>;

}  // namespace whorl::model::ast
