// Represents an expression with its names and types resolved, as a tree. The binder flattens it for
// evaluation.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "protocol/spanner/value.h"
#include "spanner_model/sql/expression.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

struct Bound {
  ExpressionNode node;       // Flatten sets the index of a literal, and `next`
  std::optional<Type> type;  // empty: an untyped NULL, which converts to every type
  Value literal;             // for kLiteral
  size_t offset = 0;
  ColumnSet columns;  // all columns that the tree mentions
  bool has_subquery = false;
  std::vector<Bound> operands;
};

Expression Flatten(const Bound& bound);

Bound MakeLeaf(Op op, std::optional<Type> type, size_t offset, uint32_t index = 0);
// The node mentions the columns of its operands.
Bound MakeInner(Op op, Type type, size_t offset, std::vector<Bound> operands);
// Wraps the expression in a coercion.
void Wrap(Bound& bound, Op op, Type type);

// Wraps the expression in a CAST from its type. REQUIRES: it has one.
void WrapInCast(Bound& bound, Type type);

// The type to which all operands can be coerced, if any; INT64 if none has a type yet.
std::optional<Type> CommonType(std::span<const Bound> operands);

}  // namespace whorl::model
