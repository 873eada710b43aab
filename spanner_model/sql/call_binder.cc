// The calls of ExpressionBinder (expression_binder.h).
#include <algorithm>
#include <array>

#include "spanner_model/sql/cast.h"
#include "spanner_model/sql/expression_binder.h"
#include "spanner_model/sql/functions.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

using ast::ExpressionKind;

constexpr auto kAggregates =
    std::to_array<std::pair<std::string_view, AggregateKind>>({{"COUNT", AggregateKind::kCount},
                                                               {"MIN", AggregateKind::kMin},
                                                               {"MAX", AggregateKind::kMax},
                                                               {"SUM", AggregateKind::kSum}});

std::optional<AggregateKind> FindAggregate(std::string_view name) {
  for (const auto& [aggregate, kind] : kAggregates) {
    if (EqualIgnoringCase(aggregate, name)) return kind;
  }
  return std::nullopt;
}

// The value of a literal, or of a CAST of one that succeeds.
std::optional<Value> ConstantOf(const Bound& bound) {
  if (bound.node.op == Op::kLiteral) return bound.literal;
  if (bound.node.op != Op::kCast && bound.node.op != Op::kSafeCast) return std::nullopt;
  const std::optional<Value> operand = ConstantOf(bound.operands.front());
  if (!operand || IsNull(*operand)) return operand;
  const auto cast = CastValue(*operand, bound.node.operand_type, *bound.type);
  if (const auto* value = std::get_if<Value>(&cast)) return *value;
  const bool has_no_value = std::get<Status>(cast).code == Code::kOutOfRange;
  if (has_no_value && bound.node.op == Op::kSafeCast) return Null{};
  return std::nullopt;
}

}  // namespace

bool HasAggregate(const ast::Expression& expression) {
  if (expression.kind == ExpressionKind::kCall && FindAggregate(expression.text)) return true;
  return std::any_of(expression.operands.begin(), expression.operands.end(), HasAggregate);
}

Bound ExpressionBinder::BindCall(const ast::Expression& call) {
  struct Named {
    std::string_view name;
    Bound (ExpressionBinder::*bind)(const ast::Expression&);
  };
  constexpr auto kCalls =
      std::to_array<Named>({{"ARRAY_LENGTH", &ExpressionBinder::BindArrayLength},
                            {"CURRENT_TIMESTAMP", &ExpressionBinder::BindCurrentTimestamp},
                            {"STARTS_WITH", &ExpressionBinder::BindStartsWith},
                            {"TIMESTAMP_DIFF", &ExpressionBinder::BindTimestampDiff},
                            {"TIMESTAMP_ADD", &ExpressionBinder::BindTimestampAdd},
                            {"TIMESTAMP_SUB", &ExpressionBinder::BindTimestampSub},
                            {"IF", &ExpressionBinder::BindIf},
                            {"COALESCE", &ExpressionBinder::BindCoalesce},
                            {"IFNULL", &ExpressionBinder::BindIfNull},
                            {"NULLIF", &ExpressionBinder::BindNullIf},
                            {"GREATEST", &ExpressionBinder::BindGreatest},
                            {"LEAST", &ExpressionBinder::BindLeast},
                            {"CONCAT", &ExpressionBinder::BindConcat}});
  const std::string name = ToCapitals(call.text);
  for (const Named& named : kCalls) {
    if (named.name == name) return (this->*named.bind)(call);
  }
  if (FindAggregate(name)) return BindAggregate(call);
  if (IsPendingCommitTimestamp(call)) {
    Fail(PendingCommitTimestampMisplaced());
    return {};
  }
  const auto functions = ScalarFunctions();
  const bool known = std::any_of(functions.begin(), functions.end(), [&](const auto& function) {
    return function.name == name && name != "LIKE";
  });
  if (known) return BindFunction(name, "function " + name, call.offset, BindAll(call.operands));
  Fail(call.offset, "Function not found: " + call.text + " (or it is not modelled)");
  return {};
}

// Binds a call of a function of functions.h to the first signature that the arguments fit.
Bound ExpressionBinder::BindFunction(const std::string& name, const std::string& what,
                                     size_t offset, std::vector<Bound> arguments) {
  if (failed()) return {};
  const auto functions = ScalarFunctions();
  for (size_t i = 0; i < functions.size(); ++i) {
    const ScalarFunction& function = functions[i];
    if (function.name != name || arguments.size() < function.required ||
        arguments.size() > function.parameters.size()) {
      continue;
    }
    bool fits = true;
    for (size_t k = 0; k < arguments.size(); ++k) {
      fits = fits && CanCoerce(arguments[k], function.parameters[k]);
    }
    if (!fits) continue;
    for (size_t k = 0; k < arguments.size(); ++k) Coerce(arguments[k], function.parameters[k]);
    Bound bound = MakeInner(Op::kFunction, function.result, offset, std::move(arguments));
    bound.node.index = static_cast<uint32_t>(i);
    return bound;
  }
  FailSignature(what, offset, arguments);
  return {};
}

Bound ExpressionBinder::BindArrayLength(const ast::Expression& call) {
  std::vector<Bound> arguments = BindAll(call.operands);
  if (failed()) return {};
  const bool fits = arguments.size() == 1 && arguments[0].type && IsArray(*arguments[0].type);
  if (!fits) {
    FailSignature("function ARRAY_LENGTH", call.offset, arguments);
    return {};
  }
  return MakeInner(Op::kArrayLength, Type::kInt64, call.offset, std::move(arguments));
}

// Binds a call whose arguments and result all have the same type.
Bound ExpressionBinder::BindOfOneType(const ast::Expression& call, Op op,
                                      std::vector<Bound> arguments) {
  if (failed()) return {};
  const auto type = CommonType(arguments);
  const bool ordered = !type || IsOrdered(*type) || op == Op::kCoalesce;
  if (arguments.empty() || !type || !ordered || !CoerceAll(arguments, *type)) {
    FailSignature("function " + ToCapitals(call.text), call.offset, arguments);
    return {};
  }
  Bound bound = MakeInner(op, *type, call.offset, std::move(arguments));
  bound.node.operand_type = *type;
  return bound;
}

Bound ExpressionBinder::BindCoalesce(const ast::Expression& call) {
  return BindOfOneType(call, Op::kCoalesce, BindAll(call.operands));
}

Bound ExpressionBinder::BindGreatest(const ast::Expression& call) {
  return BindOfOneType(call, Op::kGreatest, BindAll(call.operands));
}

Bound ExpressionBinder::BindLeast(const ast::Expression& call) {
  return BindOfOneType(call, Op::kLeast, BindAll(call.operands));
}

Bound ExpressionBinder::BindIfNull(const ast::Expression& call) {
  if (call.operands.size() == 2) return BindCoalesce(call);
  FailSignature("function IFNULL", call.offset, BindAll(call.operands));
  return {};
}

Bound ExpressionBinder::BindNullIf(const ast::Expression& call) {
  if (call.operands.size() == 2) return BindOfOneType(call, Op::kNullIf, BindAll(call.operands));
  FailSignature("function NULLIF", call.offset, BindAll(call.operands));
  return {};
}

Bound ExpressionBinder::BindConcat(const ast::Expression& call) {
  std::vector<Bound> arguments = BindAll(call.operands);
  if (failed()) return {};
  return BindConcatenation("function CONCAT", call.offset, std::move(arguments));
}

Bound ExpressionBinder::BindIf(const ast::Expression& call) {
  std::vector<Bound> arguments = BindAll(call.operands);
  if (failed()) return {};
  const std::span<Bound> all(arguments);
  const auto type = all.size() == 3 ? CommonType(all.subspan(1)) : std::nullopt;
  if (!type || !Coerce(all.front(), Type::kBool) || !CoerceAll(all.subspan(1), *type)) {
    FailSignature("function IF", call.offset, arguments);
    return {};
  }
  return MakeInner(Op::kIf, *type, call.offset, std::move(arguments));
}

Bound ExpressionBinder::BindCurrentTimestamp(const ast::Expression& call) {
  const std::vector<Bound> arguments = BindAll(call.operands);
  if (!arguments.empty()) FailSignature("function CURRENT_TIMESTAMP", call.offset, arguments);
  return MakeLeaf(Op::kCurrentTimestamp, Type::kTimestamp, call.offset);
}

Bound ExpressionBinder::BindStartsWith(const ast::Expression& call) {
  std::vector<Bound> arguments = BindAll(call.operands);
  if (failed()) return {};
  const bool bytes = std::any_of(arguments.begin(), arguments.end(), [](const Bound& argument) {
    return argument.type == Type::kBytes;
  });
  const Type type = bytes ? Type::kBytes : Type::kString;
  if (arguments.size() != 2 || !CoerceAll(arguments, type)) {
    FailSignature("function STARTS_WITH", call.offset, arguments);
    return {};
  }
  Bound bound = MakeInner(Op::kStartsWith, Type::kBool, call.offset, std::move(arguments));
  bound.node.operand_type = type;
  return bound;
}

Bound ExpressionBinder::BindTimestampDiff(const ast::Expression& call) {
  if (call.operands.size() != 3) {
    FailSignature("function TIMESTAMP_DIFF", call.offset, BindAll(call.operands));
    return {};
  }
  std::vector<Bound> arguments;
  arguments.push_back(Bind(call.operands[0]));
  arguments.push_back(Bind(call.operands[1]));
  if (failed()) return {};
  const ast::Expression& part_name = call.operands[2];
  const auto part = FindDatePart(part_name.kind == ExpressionKind::kName ? part_name.text : "",
                                 "TIMESTAMP_DIFF", part_name.offset);
  if (!part) return {};
  if (!CoerceAll(arguments, Type::kTimestamp)) {
    FailSignature("function TIMESTAMP_DIFF", call.offset, arguments);
    return {};
  }
  Bound bound = MakeInner(Op::kTimestampDiff, Type::kInt64, call.offset, std::move(arguments));
  bound.node.part = *part;
  return bound;
}

Bound ExpressionBinder::BindTimestampAdd(const ast::Expression& call) {
  return BindTimestampShift(call, Op::kTimestampAdd);
}

Bound ExpressionBinder::BindTimestampSub(const ast::Expression& call) {
  return BindTimestampShift(call, Op::kTimestampSub);
}

// An INTERVAL also accepts a STRING that is a literal, a successful CAST of one, or a parameter.
// Measured on the official emulator; the documentation does not say.
void ExpressionBinder::CastText(Bound& constant, Type type) {
  if (constant.type != Type::kString) return;
  if (constant.node.op == Op::kParameter) return WrapInCast(constant, type);
  const bool is_literal = constant.node.op == Op::kLiteral;
  std::optional<Value> value = ConstantOf(constant);
  if (!value) return;
  if (!IsNull(*value)) {
    const std::string text = std::get<std::string>(*value);
    auto cast = CastValue(*value, Type::kString, type);
    if (std::holds_alternative<Status>(cast)) {
      Fail(constant.offset, std::string("Could not cast ") + (is_literal ? "literal \"" : "\"") +
                                text + "\" to type " + std::string(WordOf(type)));
      return;
    }
    value = std::get<Value>(std::move(cast));
  }
  constant = MakeLeaf(Op::kLiteral, type, constant.offset);
  constant.literal = *std::move(value);
}

Bound ExpressionBinder::BindTimestampShift(const ast::Expression& call, Op op) {
  const std::string name = ToCapitals(call.text);
  if (call.operands.size() != 2 || call.operands[1].kind != ExpressionKind::kInterval) {
    FailSignature("function " + name, call.offset, BindAll(call.operands));
    return {};
  }
  const ast::Expression& interval = call.operands[1];
  std::vector<Bound> arguments;
  arguments.push_back(Bind(call.operands[0]));
  arguments.push_back(Bind(interval.operands[0]));
  if (failed()) return {};
  const auto part = FindDatePart(interval.text, name, interval.offset);
  if (!part) return {};
  CastText(arguments[1], Type::kInt64);
  if (!Coerce(arguments[1], Type::kInt64)) {
    Fail(arguments[1].offset, "Interval value must be coercible to INT64 type");
    return {};
  }
  if (!Coerce(arguments[0], Type::kTimestamp)) {
    FailSignature("function " + name, call.offset, arguments);
    return {};
  }
  Bound bound = MakeInner(op, Type::kTimestamp, call.offset, std::move(arguments));
  bound.node.part = *part;
  return bound;
}

std::optional<DatePart> ExpressionBinder::FindDatePart(const std::string& name,
                                                       const std::string& function, size_t offset) {
  constexpr auto kParts = std::to_array<std::string_view>(
      {"NANOSECOND", "MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY"});
  static_assert(kParts.size() == static_cast<size_t>(DatePart::kDay) + 1, "in the enum's order");
  constexpr auto kLonger = std::to_array<std::string_view>(
      {"WEEK", "ISOWEEK", "MONTH", "QUARTER", "YEAR", "ISOYEAR", "DAYOFWEEK", "DAYOFYEAR"});
  const std::string word = ToCapitals(name);
  const auto* const found = std::find(kParts.begin(), kParts.end(), word);
  if (found != kParts.end()) return static_cast<DatePart>(found - kParts.begin());
  if (std::find(kLonger.begin(), kLonger.end(), word) != kLonger.end()) {
    Fail(offset, function + " does not support the " + word + " date part");
  } else {
    Fail(offset,
         "A valid date part name is required but found " + (name.empty() ? "an expression" : name));
  }
  return std::nullopt;
}

// COUNT, MIN, MAX or SUM: a reference to its value in the row of the aggregates.
Bound ExpressionBinder::BindAggregate(const ast::Expression& call) {
  const std::string name = ToCapitals(call.text);
  if (aggregates_ == nullptr) {
    Fail(call.offset, "Aggregate function " + name + " not allowed here");
  } else if (inside_aggregate_) {
    Fail(call.offset, "Aggregations of aggregations are not allowed");
  }
  if (failed()) return {};
  inside_aggregate_ = true;
  std::vector<Bound> arguments = BindAll(call.operands);
  inside_aggregate_ = false;
  if (failed()) return {};
  Aggregate aggregate;
  aggregate.kind = call.star ? AggregateKind::kCountRows : *FindAggregate(name);
  Type type = Type::kInt64;
  ColumnSet columns;
  if (!call.star) {
    if (arguments.size() != 1) {
      FailSignature("aggregate function " + name, call.offset, arguments);
      return {};
    }
    Bound& argument = arguments.front();
    DefaultToInt64(argument);
    if (aggregate.kind != AggregateKind::kCount) type = argument.type.value_or(Type::kInt64);
    const bool ordered = aggregate.kind == AggregateKind::kCount || IsOrdered(type);
    if (!ordered) {
      Fail(call.offset, name + " of " + std::string(WordOf(type)) + " is not modelled");
    }
    if (aggregate.kind == AggregateKind::kSum && type == Type::kFloat64) {
      Fail(call.offset, "SUM of FLOAT64, whose order of addition is open, is not modelled");
    } else if (aggregate.kind == AggregateKind::kSum && type != Type::kInt64) {
      FailSignature("aggregate function SUM", call.offset, arguments);
    }
    columns = argument.columns;
    aggregate.argument = Flatten(argument);
  }
  const auto index = static_cast<uint32_t>(groups_.size() + aggregates_->size());
  aggregates_->push_back(std::move(aggregate));
  Bound bound = MakeLeaf(Op::kAggregate, type, call.offset, index);
  bound.columns = columns;
  return bound;
}

}  // namespace whorl::model
