#include "spanner_model/sql/expression_binder.h"

#include <algorithm>
#include <array>
#include <variant>

#include "spanner_model/sql/source_error.h"
#include "spanner_model/sql/timestamp_text.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

using ast::ExpressionKind;

std::optional<Type> TypeOf(const Value& value) {
  constexpr auto kTypes = std::to_array<Type>(
      {Type::kBool, Type::kInt64, Type::kFloat64, Type::kString, Type::kBytes, Type::kTimestamp});
  static_assert(std::variant_size_v<Value> == kTypes.size() + 1, "Null, then the types in order");
  if (IsNull(value)) return std::nullopt;
  return kTypes[value.index() - 1];
}

std::string_view Spell(Op op) {
  switch (op) {
    case Op::kAnd:
      return "AND";
    case Op::kOr:
      return "OR";
    case Op::kNot:
      return "NOT";
    case Op::kEqual:
      return "=";
    case Op::kNotEqual:
      return "!=";
    case Op::kLess:
      return "<";
    case Op::kLessOrEqual:
      return "<=";
    case Op::kGreater:
      return ">";
    case Op::kGreaterOrEqual:
      return ">=";
    case Op::kAdd:
      return "+";
    case Op::kSubtract:
    case Op::kNegate:
      return "-";
    case Op::kMultiply:
      return "*";
    default:
      return "";
  }
}

Bound Leaf(Op op, std::optional<Type> type, size_t offset, uint32_t index = 0) {
  Bound bound;
  bound.node.op = op;
  bound.node.index = index;
  bound.type = type;
  bound.offset = offset;
  return bound;
}

Bound Inner(Op op, Type type, size_t offset, std::vector<Bound> operands) {
  Bound bound = Leaf(op, type, offset);
  for (const Bound& operand : operands) bound.columns.AddAll(operand.columns);
  bound.operands = std::move(operands);
  return bound;
}

// Puts a coercion between the expression and its parent.
void Wrap(Bound& bound, Op op, Type type) {
  std::vector<Bound> operands;
  const size_t offset = bound.offset;
  operands.push_back(std::move(bound));
  bound = Inner(op, type, offset, std::move(operands));
}

// The one type that both sides of a comparison can have, if there is one.
std::optional<Type> CommonType(const Bound& left, const Bound& right) {
  if (!left.type) return right.type ? right.type : Type::kInt64;
  if (!right.type || *left.type == *right.type) return left.type;
  const auto one_is = [&](Type type) { return *left.type == type || *right.type == type; };
  if (one_is(Type::kFloat64) && one_is(Type::kInt64)) return Type::kFloat64;
  if (one_is(Type::kTimestamp) && one_is(Type::kString)) return Type::kTimestamp;
  return std::nullopt;
}

}  // namespace

Status PendingCommitTimestampMisplaced() {
  return Error(Code::kInvalidArgument,
               "The PENDING_COMMIT_TIMESTAMP() function may only be used as a value for INSERT or "
               "UPDATE of an appropriately typed column. It cannot be used in SELECT, or as the "
               "input to any other scalar expression.");
}

bool IsPendingCommitTimestamp(const ast::Expression& expression) {
  return expression.kind == ExpressionKind::kCall &&
         EqualIgnoringCase(expression.text, "PENDING_COMMIT_TIMESTAMP");
}

void ExpressionBinder::Fail(size_t offset, const std::string& message) {
  if (!error_) error_ = SourceError(text_, offset, message);
}

void ExpressionBinder::Fail(Status status) {
  if (!error_) error_ = std::move(status);
}

void ExpressionBinder::FailSignature(const std::string& what, size_t offset,
                                     const std::vector<Bound>& operands) {
  std::string message = "No matching signature for " + what;
  if (operands.empty()) {
    message += " with no arguments";
  } else {
    message += operands.size() == 1 ? " for argument type: " : " for argument types: ";
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) message += ", ";
    message += operands[i].type ? TypeName(*operands[i].type) : "NULL";
  }
  Fail(offset, message);
}

Bound ExpressionBinder::Bind(const ast::Expression& expression) {
  if (failed()) return {};
  switch (expression.kind) {
    case ExpressionKind::kLiteral: {
      Bound literal = Leaf(Op::kLiteral, TypeOf(expression.value), expression.offset);
      literal.literal = expression.value;
      return literal;
    }
    case ExpressionKind::kTimestampLiteral:
      return BindTimestampLiteral(expression);
    case ExpressionKind::kName:
    case ExpressionKind::kQuotedName:
      return BindName(expression);
    case ExpressionKind::kParameter:
      return BindParameter(expression);
    case ExpressionKind::kOperator:
      return BindOperator(expression);
    case ExpressionKind::kCall:
      return BindCall(expression);
    case ExpressionKind::kInterval:
      Fail(expression.offset, "Unexpected INTERVAL expression");
      return {};
  }
  return {};
}

Bound ExpressionBinder::BindTimestampLiteral(const ast::Expression& expression) {
  const auto parsed = ParseTimestampText(expression.text);
  if (const auto* error = std::get_if<TimestampTextError>(&parsed)) {
    Fail(expression.offset,
         *error == TimestampTextError::kInvalid
             ? "Invalid TIMESTAMP literal"
             : "A TIMESTAMP literal without Z, UTC or an offset is not modelled");
    return {};
  }
  Bound literal = Leaf(Op::kLiteral, Type::kTimestamp, expression.offset);
  literal.literal = std::get<Timestamp>(parsed);
  return literal;
}

Bound ExpressionBinder::BindName(const ast::Expression& expression) {
  if (const auto column = table_ != nullptr ? table_->FindColumn(expression.text) : std::nullopt) {
    Bound bound = Leaf(Op::kColumn, table_->columns[*column].type, expression.offset, *column);
    bound.columns.Add(*column);
    return bound;
  }
  // The one function that needs no parentheses.
  if (expression.kind == ExpressionKind::kName &&
      EqualIgnoringCase(expression.text, "CURRENT_TIMESTAMP")) {
    return Leaf(Op::kCurrentTimestamp, Type::kTimestamp, expression.offset);
  }
  Fail(expression.offset, "Unrecognized name: " + expression.text);
  return {};
}

Bound ExpressionBinder::BindParameter(const ast::Expression& expression) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (!EqualIgnoringCase(parameters_[i].name, expression.text)) continue;
    return Leaf(Op::kParameter, parameters_[i].type, expression.offset, static_cast<uint32_t>(i));
  }
  Fail(Error(Code::kInvalidArgument, "Incomplete query parameters " + expression.text));
  return {};
}

std::vector<Bound> ExpressionBinder::BindAll(const std::vector<ast::Expression>& expressions) {
  std::vector<Bound> bound;
  bound.reserve(expressions.size());
  for (const ast::Expression& expression : expressions) bound.push_back(Bind(expression));
  return bound;
}

bool ExpressionBinder::Coerce(Bound& bound, Type type) {
  if (failed() || !bound.type || *bound.type == type) return true;
  const bool literal = bound.node.op == Op::kLiteral;
  if (*bound.type == Type::kInt64 && type == Type::kFloat64) {
    if (literal) {
      bound.literal = Float64(static_cast<double>(std::get<int64_t>(bound.literal)));
      bound.type = type;
    } else {
      Wrap(bound, Op::kInt64ToFloat64, type);
    }
    return true;
  }
  if (*bound.type != Type::kString || type != Type::kTimestamp) return false;
  if (bound.node.op == Op::kParameter) {
    Wrap(bound, Op::kStringToTimestamp, type);
    return true;
  }
  if (!literal) return false;
  const auto& text = std::get<std::string>(bound.literal);
  const auto parsed = ParseTimestampText(text);
  if (const auto* timestamp = std::get_if<Timestamp>(&parsed)) {
    bound.literal = *timestamp;
    bound.type = type;
  } else if (std::get<TimestampTextError>(parsed) == TimestampTextError::kInvalid) {
    Fail(bound.offset, "Could not cast literal \"" + text + "\" to type TIMESTAMP");
  } else {
    Fail(bound.offset, "A TIMESTAMP literal without Z, UTC or an offset is not modelled");
  }
  return true;
}

bool ExpressionBinder::CoerceAll(std::vector<Bound>& operands, Type type) {
  return std::all_of(operands.begin(), operands.end(),
                     [&](Bound& operand) { return Coerce(operand, type); });
}

Bound ExpressionBinder::BindOperator(const ast::Expression& expression) {
  switch (expression.op) {
    case Op::kEqual:
    case Op::kNotEqual:
    case Op::kLess:
    case Op::kLessOrEqual:
    case Op::kGreater:
    case Op::kGreaterOrEqual:
      return BindComparison(expression);
    default:
      break;
  }
  const Op op = expression.op;
  std::vector<Bound> operands = BindAll(expression.operands);
  if (failed()) return {};
  if (op == Op::kIsNull || op == Op::kIsNotNull) {
    return Inner(op, Type::kBool, expression.offset, std::move(operands));
  }
  const bool logical = op == Op::kAnd || op == Op::kOr || op == Op::kNot;
  const Type type = logical ? Type::kBool : Type::kInt64;
  const bool has_float = std::any_of(operands.begin(), operands.end(), [](const Bound& operand) {
    return operand.type == Type::kFloat64;
  });
  if (!logical && has_float) {
    Fail(expression.offset, "Operator " + std::string(Spell(op)) + " on FLOAT64 is not modelled");
    return {};
  }
  if (!CoerceAll(operands, type)) {
    FailSignature("operator " + std::string(Spell(op)), expression.offset, operands);
    return {};
  }
  return Inner(op, type, expression.offset, std::move(operands));
}

Bound ExpressionBinder::BindComparison(const ast::Expression& expression) {
  std::vector<Bound> operands = BindAll(expression.operands);
  if (failed()) return {};
  const auto type = CommonType(operands[0], operands[1]);
  if (!type || !CoerceAll(operands, *type)) {
    FailSignature("operator " + std::string(Spell(expression.op)), expression.offset, operands);
    return {};
  }
  Bound bound = Inner(expression.op, Type::kBool, expression.offset, std::move(operands));
  bound.node.operand_type = *type;
  return bound;
}

Bound ExpressionBinder::BindCall(const ast::Expression& call) {
  const std::string name = ToCapitals(call.text);
  if (name == "CURRENT_TIMESTAMP") return BindCurrentTimestamp(call);
  if (name == "STARTS_WITH") return BindStartsWith(call);
  if (name == "TIMESTAMP_DIFF") return BindTimestampDiff(call);
  if (name == "TIMESTAMP_ADD") return BindTimestampShift(call, Op::kTimestampAdd);
  if (name == "TIMESTAMP_SUB") return BindTimestampShift(call, Op::kTimestampSub);
  if (IsPendingCommitTimestamp(call)) {
    Fail(PendingCommitTimestampMisplaced());
  } else {
    Fail(call.offset, "Function not found: " + call.text + " (or it is not modelled)");
  }
  return {};
}

Bound ExpressionBinder::BindCurrentTimestamp(const ast::Expression& call) {
  const std::vector<Bound> arguments = BindAll(call.operands);
  if (!arguments.empty()) FailSignature("function CURRENT_TIMESTAMP", call.offset, arguments);
  return Leaf(Op::kCurrentTimestamp, Type::kTimestamp, call.offset);
}

Bound ExpressionBinder::BindStartsWith(const ast::Expression& call) {
  std::vector<Bound> arguments = BindAll(call.operands);
  if (failed()) return {};
  const auto type = arguments.size() == 2 ? CommonType(arguments[0], arguments[1]) : std::nullopt;
  // Of two untyped NULLs the first signature is taken, which is that of STRING.
  const bool untyped = type && !arguments[0].type && !arguments[1].type;
  if (!untyped && type != Type::kString && type != Type::kBytes) {
    FailSignature("function STARTS_WITH", call.offset, arguments);
    return {};
  }
  Bound bound = Inner(Op::kStartsWith, Type::kBool, call.offset, std::move(arguments));
  bound.node.operand_type = untyped ? Type::kString : *type;
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
  Bound bound = Inner(Op::kTimestampDiff, Type::kInt64, call.offset, std::move(arguments));
  bound.node.part = *part;
  return bound;
}

// TIMESTAMP_ADD and TIMESTAMP_SUB.
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
  if (!Coerce(arguments[1], Type::kInt64)) {
    Fail(arguments[1].offset, "Interval value must be coercible to INT64 type");
    return {};
  }
  if (!Coerce(arguments[0], Type::kTimestamp)) {
    FailSignature("function " + name, call.offset, arguments);
    return {};
  }
  Bound bound = Inner(op, Type::kTimestamp, call.offset, std::move(arguments));
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

}  // namespace whorl::model
