// Statements as written, before names are resolved.
//
// Invariants:
//   1. Every node has the offset in the text at which it begins, for messages.
//   2. No expression is deeper than kMaxDepth (compile.h), so recursion over it is safe. Chains of
//      AND and of OR are one node.
//   3. Only these operators are in kOperator nodes: kAnd, kOr, kNot, kIsNull, kIsNotNull, kIsTrue,
//      kIsFalse, the comparisons, kBetween, kIn, kAdd (of one operand: unary +), kSubtract,
//      kMultiply, kDivide, kNegate, kConcat, kInArray, and kFunction, which is LIKE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/spanner/value.h"
#include "spanner_model/sql/expression.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model::ast {

enum class ExpressionKind : uint8_t {
  kLiteral,       // value; NULL has no type yet
  kTypedLiteral,  // type, and text that is not yet read
  kName,          // text
  kQuotedName,    // text: never a function or a date part
  kParameter,     // text
  kOperator,      // op, operands
  kCall,          // text, operands or star
  kCast,          // op is kCast or kSafeCast, type, one operand
  kInterval,      // text is the date part, one operand; an argument of a call only
  kArray,         // operands; typed if `type` is that of the elements
  kSubquery       // query; op is kSubquery (its value), kInArray (all values) or kIsTrue (EXISTS)
};

struct Select;

struct Expression {
  ExpressionKind kind = ExpressionKind::kLiteral;
  size_t offset = 0;
  int depth = 1;
  Op op = Op::kLiteral;
  std::string text;
  std::string qualifier;  // of a name: the table or alias before its dot; empty: none
  Value value;
  Type type = Type::kInt64;
  bool star = false;  // the argument of COUNT(*)
  bool typed = false;
  std::shared_ptr<const Select> query;
  std::vector<Expression> operands;
};

// Whether both mean the same, as GROUP BY compares them.
bool IsSame(const Expression& a, const Expression& b);

struct Name {
  std::string text;
  size_t offset = 0;
};

// A table as a statement names it. An alias hides the name.
struct TableName : Name {
  std::string schema;  // the word before a dot; empty: none
  std::string alias;   // empty: none
  Name index;          // of FORCE_INDEX; an empty text: none
  const std::string& qualifier() const { return alias.empty() ? text : alias; }
};

struct SelectItem {
  size_t offset = 0;
  bool star = false;
  std::string qualifier;  // of the star
  Expression expression;
  std::string alias;  // empty: none
};

struct OrderItem {
  Expression expression;
  bool descending = false;
};

struct Select {
  bool distinct = false;
  std::vector<SelectItem> items;
  std::optional<TableName> table;
  std::optional<Expression> where;
  std::vector<Expression> group;
  std::optional<Expression> having;
  std::vector<OrderItem> order;
  std::optional<Expression> limit;
  std::optional<Expression> offset;
};

struct InsertRow {
  size_t offset = 0;
  std::vector<Expression> values;
};

// DEFAULT as a value is a literal NULL, since no column here has another default.
struct Insert {
  InsertMode mode = InsertMode::kInsert;
  Name table;
  std::vector<Name> columns;
  std::vector<InsertRow> rows;  // or
  std::shared_ptr<const Select> query;
  std::vector<SelectItem> returning;
};

struct SetItem {
  Name column;
  std::string qualifier;  // of the column
  Expression value;
};

struct Update {
  size_t offset = 0;
  TableName table;
  std::vector<SetItem> items;
  std::optional<Expression> where;
  std::vector<SelectItem> returning;
};

struct Delete {
  size_t offset = 0;
  TableName table;
  std::optional<Expression> where;
  std::vector<SelectItem> returning;
};

using Statement = std::variant<Select, Insert, Update, Delete>;

}  // namespace whorl::model::ast
