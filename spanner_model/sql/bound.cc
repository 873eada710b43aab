#include "spanner_model/sql/bound.h"

namespace whorl::model {
namespace {

void Append(const Bound& bound, Expression& out) {
  const size_t at = out.nodes.size();
  out.nodes.push_back(bound.node);
  if (bound.node.op == Op::kLiteral) {
    out.nodes[at].index = static_cast<uint32_t>(out.literals.size());
    out.literals.push_back(bound.literal);
  }
  size_t previous = 0;
  for (const Bound& operand : bound.operands) {
    if (previous != 0) out.nodes[previous].next = static_cast<uint32_t>(out.nodes.size());
    previous = out.nodes.size();
    Append(operand, out);
  }
}

}  // namespace

Expression Flatten(const Bound& bound) {
  Expression expression;
  Append(bound, expression);
  return expression;
}

}  // namespace whorl::model
