#include "spanner_model/sql/bound.h"

#include <utility>

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

Bound MakeLeaf(Op op, std::optional<Type> type, size_t offset, uint32_t index) {
  Bound bound;
  bound.node.op = op;
  bound.node.index = index;
  bound.type = type;
  bound.offset = offset;
  return bound;
}

Bound MakeInner(Op op, Type type, size_t offset, std::vector<Bound> operands) {
  Bound bound = MakeLeaf(op, type, offset);
  for (const Bound& operand : operands) {
    bound.columns.AddAll(operand.columns);
    bound.has_subquery = bound.has_subquery || operand.has_subquery;
  }
  bound.operands = std::move(operands);
  return bound;
}

void Wrap(Bound& bound, Op op, Type type) {
  std::vector<Bound> operands;
  const size_t offset = bound.offset;
  operands.push_back(std::move(bound));
  bound = MakeInner(op, type, offset, std::move(operands));
}

void WrapInCast(Bound& bound, Type type) {
  const Type from = *bound.type;
  Wrap(bound, Op::kCast, type);
  bound.node.operand_type = from;
  bound.node.index = static_cast<uint32_t>(type);
}

namespace {

bool IsParameter(const Bound& operand, Type type) {
  return operand.node.op == Op::kParameter && operand.type == type;
}

// A STRING parameter is coerced to the TIMESTAMP of a column, a literal or an expression, but not
// to that of another parameter. Measured on the official emulator; the documentation does not say.
bool AreParametersAtOdds(std::span<const Bound> operands) {
  bool text = false;
  for (const Bound& operand : operands) {
    if (operand.type == Type::kTimestamp && !IsParameter(operand, Type::kTimestamp)) return false;
    text = text || IsParameter(operand, Type::kString);
  }
  return text;
}

}  // namespace

std::optional<Type> CommonType(std::span<const Bound> operands) {
  std::optional<Type> common;
  for (const Bound& operand : operands) {
    if (!operand.type || common == operand.type) continue;
    if (!common) {
      common = operand.type;
      continue;
    }
    const auto one_is = [&](Type type) { return common == type || operand.type == type; };
    const bool has_float = one_is(Type::kFloat64) || one_is(Type::kFloat32);
    if (has_float && (one_is(Type::kInt64) || (one_is(Type::kFloat64) && one_is(Type::kFloat32)))) {
      common = Type::kFloat64;
    } else if (one_is(Type::kNumeric) && one_is(Type::kInt64)) {
      common = Type::kNumeric;
    } else if (one_is(Type::kDate) && one_is(Type::kString)) {
      common = Type::kDate;
    } else if (one_is(Type::kTimestamp) && one_is(Type::kString)) {
      common = Type::kTimestamp;
    } else {
      return std::nullopt;
    }
  }
  if (common == Type::kTimestamp && AreParametersAtOdds(operands)) return std::nullopt;
  return common.value_or(Type::kInt64);
}

}  // namespace whorl::model
