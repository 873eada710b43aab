// An expression whose names and types are known, as a tree: what the binder works on before the
// tree is laid flat for evaluation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
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

}  // namespace whorl::model
