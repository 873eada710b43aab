// An expression whose names and types are known, as a tree: what the binder works on before the
// tree is laid flat for evaluation.
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
  Node node;                 // index of a literal and `next` are set when it is laid flat
  std::optional<Type> type;  // nothing: an untyped NULL, which every type takes
  Value literal;             // of kLiteral
  size_t offset = 0;
  ColumnSet columns;  // that it mentions, anywhere in it
  std::vector<Bound> operands;
};

Expression Flatten(const Bound& bound);

Bound MakeLeaf(Op op, std::optional<Type> type, size_t offset, uint32_t index = 0);
// It mentions the columns of its operands.
Bound MakeInner(Op op, Type type, size_t offset, std::vector<Bound> operands);
// Puts a coercion between the expression and its parent.
void Wrap(Bound& bound, Op op, Type type);

// The one type that all can have, if there is one: INT64 when none has a type yet.
std::optional<Type> CommonType(std::span<const Bound> operands);

}  // namespace whorl::model
