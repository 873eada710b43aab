#include "spanner_model/sql/expression_binder.h"

#include <algorithm>
#include <array>
#include <memory>
#include <variant>

#include "spanner_model/sql/cast.h"
#include "spanner_model/sql/compile.h"
#include "spanner_model/sql/source_error.h"
#include "spanner_model/sql/statement_binding.h"
#include "spanner_model/sql/timestamp_text.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

using ast::ExpressionKind;

constexpr std::string_view kZoneNotModelled =
    "A TIMESTAMP literal before 1967 on the clock of Los Angeles, or with the name of another time "
    "zone, is not modelled";

constexpr std::string_view kCorrelated =
    "A subquery that mentions the row outside of it is not modelled";

std::optional<Type> TypeOf(const Value& value) {
  constexpr auto kTypes = std::to_array<Type>(
      {Type::kBool, Type::kInt64, Type::kFloat64, Type::kString, Type::kBytes, Type::kTimestamp});
  static_assert(std::variant_size_v<Value> == kTypes.size() + 2,
                "Null, then the types in order, then arrays, which no literal is");
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
    case Op::kDivide:
      return "/";
    case Op::kConcat:
      return "||";
    case Op::kFunction:
      return "LIKE";
    case Op::kIn:
    case Op::kInArray:
      return "IN";
    case Op::kBetween:
      return "BETWEEN";
    case Op::kIsTrue:
      return "IS TRUE";
    case Op::kIsFalse:
      return "IS FALSE";
    default:
      return "";
  }
}

// Whether the type is one whose values whorl keeps, compares and passes on, and does not compute with.
bool IsKeptOnly(const std::optional<Type>& type) { return type && (*type > Type::kTimestamp); }

}  // namespace

ExpressionBinder::ExpressionBinder(const StatementContext& context, const Table* table,
                                   std::string qualifier)
    : context_(context),
      text_(context.text),
      parameters_(context.parameters),
      table_(table),
      qualifier_(std::move(qualifier)),
      inferred_(context.inferred) {}

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
                                     std::span<const Bound> operands) {
  for (const Bound& operand : operands) {
    if (!IsKeptOnly(operand.type)) continue;
    return Fail(offset, what + " of " + std::string(WordOf(*operand.type)) + " is not modelled");
  }
  std::string message = "No matching signature for " + what;
  if (operands.empty()) {
    message += " with no arguments";
  } else {
    message += operands.size() == 1 ? " for argument type: " : " for argument types: ";
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) message += ", ";
    message += operands[i].type ? WordOf(*operands[i].type) : "NULL";
  }
  Fail(offset, message);
}

bool ExpressionBinder::Qualifies(const std::string& qualifier, size_t offset) {
  if (qualifier.empty()) return true;
  if (table_ != nullptr && EqualIgnoringCase(qualifier, qualifier_)) return true;
  if (context_.outside != nullptr && context_.outside->IsOutside("", qualifier)) {
    Fail(offset, std::string(kCorrelated));
    return false;
  }
  Fail(offset, "Unrecognized name: " + qualifier);
  return false;
}

Bound ExpressionBinder::Bind(const ast::Expression& expression) {
  if (failed()) return {};
  for (size_t i = 0; i < groups_.size() && !inside_aggregate_; ++i) {
    if (!IsSame(expression, *groups_[i].expression)) continue;
    const Bound& key = groups_[i].bound;
    Bound bound = MakeLeaf(Op::kAggregate, key.type, expression.offset, static_cast<uint32_t>(i));
    bound.columns = key.columns;
    return bound;
  }
  switch (expression.kind) {
    case ExpressionKind::kLiteral: {
      Bound literal = MakeLeaf(Op::kLiteral, TypeOf(expression.value), expression.offset);
      literal.literal = expression.value;
      return literal;
    }
    case ExpressionKind::kTypedLiteral:
      return BindTypedLiteral(expression);
    case ExpressionKind::kArray:
      return BindArray(expression);
    case ExpressionKind::kSubquery:
      return BindSubquery(expression);
    case ExpressionKind::kName:
    case ExpressionKind::kQuotedName:
      return BindName(expression);
    case ExpressionKind::kParameter:
      return BindParameter(expression);
    case ExpressionKind::kOperator:
      return BindOperator(expression);
    case ExpressionKind::kCall:
      return BindCall(expression);
    case ExpressionKind::kCast:
      return BindCast(expression);
    case ExpressionKind::kInterval:
      Fail(expression.offset, "Unexpected INTERVAL expression");
      return {};
  }
  return {};
}

Bound ExpressionBinder::BindTypedLiteral(const ast::Expression& expression) {
  if (expression.type != Type::kTimestamp) {
    const auto cast = CastValue(expression.text, Type::kString, expression.type);
    Bound literal = MakeLeaf(Op::kLiteral, expression.type, expression.offset);
    if (const auto* value = std::get_if<Value>(&cast)) {
      literal.literal = *value;
    } else {
      Fail(expression.offset, "Invalid " + std::string(WordOf(expression.type)) + " literal");
    }
    return literal;
  }
  const auto parsed = ParseTimestampText(expression.text);
  if (const auto* error = std::get_if<TimestampTextError>(&parsed)) {
    Fail(expression.offset, *error == TimestampTextError::kInvalid ? "Invalid TIMESTAMP literal"
                                                                   : std::string(kZoneNotModelled));
    return {};
  }
  Bound literal = MakeLeaf(Op::kLiteral, Type::kTimestamp, expression.offset);
  literal.literal = std::get<Timestamp>(parsed);
  return literal;
}

void ExpressionBinder::LookInto(std::span<const BoundOutput> outputs) {
  const bool is_same = outputs.data() == outputs_.data() && outputs.size() == outputs_.size();
  outputs_ = outputs;
  if (is_same) return;
  places_of_outputs_.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    places_of_outputs_[ToCapitals(outputs[i].name)].push_back(i);
  }
}

std::span<const size_t> ExpressionBinder::OutputsNamed(const std::string& name) {
  const auto found = places_of_outputs_.find(ToCapitals(name));
  if (found == places_of_outputs_.end()) return {};
  return found->second;
}

Bound ExpressionBinder::BindName(const ast::Expression& expression) {
  if (!Qualifies(expression.qualifier, expression.offset)) return {};
  if (expression.qualifier.empty() && !outputs_.empty()) {
    const std::span<const size_t> places = OutputsNamed(expression.text);
    if (places.size() > 1) {
      Fail(expression.offset, "Column name " + expression.text + " is ambiguous");
      return {};
    }
    if (!places.empty()) return outputs_[places.front()].bound;
  }
  if (const auto column = table_ != nullptr ? table_->FindColumn(expression.text) : std::nullopt) {
    if (aggregates_ != nullptr && !inside_aggregate_) {
      Fail(expression.offset, "SELECT list expression references column " + expression.text +
                                  " which is neither grouped nor aggregated");
    }
    Bound bound = MakeLeaf(Op::kColumn, table_->columns[*column].type, expression.offset, *column);
    bound.columns.Add(*column);
    return bound;
  }
  // CURRENT_TIMESTAMP is the only function that needs no parentheses.
  if (expression.kind == ExpressionKind::kName &&
      EqualIgnoringCase(expression.text, "CURRENT_TIMESTAMP")) {
    return MakeLeaf(Op::kCurrentTimestamp, Type::kTimestamp, expression.offset);
  }
  if (context_.outside != nullptr && context_.outside->IsOutside(expression.text, "")) {
    Fail(expression.offset, std::string(kCorrelated));
    return {};
  }
  const bool is_table = table_ != nullptr && EqualIgnoringCase(qualifier_, expression.text);
  Fail(expression.offset,
       is_table ? "A row as a value is not modelled" : "Unrecognized name: " + expression.text);
  return {};
}

Bound ExpressionBinder::TooManyParameters() {
  Fail(Error(Code::kInvalidArgument,
             "Number of parameters in query exceeds the maximum allowed limit of " +
                 std::to_string(kParametersMax) + "."));
  return {};
}

Bound ExpressionBinder::BindParameter(const ast::Expression& expression) {
  const auto is_named = [&](const auto& parameter) {
    return EqualIgnoringCase(parameter.name, expression.text);
  };
  if (parameters_.size() > kParametersMax) return TooManyParameters();
  const auto declared = std::find_if(parameters_.begin(), parameters_.end(), is_named);
  auto index = static_cast<uint32_t>(declared - parameters_.begin());
  if (declared != parameters_.end()) {
    return MakeLeaf(Op::kParameter, declared->type, expression.offset, index);
  }
  if (inferred_ == nullptr) {
    Fail(Error(Code::kInvalidArgument, "Incomplete query parameters " + expression.text));
    return {};
  }
  const auto known = std::find_if(inferred_->begin(), inferred_->end(), is_named);
  index += static_cast<uint32_t>(known - inferred_->begin());
  if (known == inferred_->end()) {
    if (index >= kParametersMax) return TooManyParameters();
    inferred_->push_back({.name = expression.text, .type = std::nullopt});
  }
  return MakeLeaf(Op::kParameter, std::nullopt, expression.offset, index);
}

// REQUIRES: the parameter has no type (it was not declared).
void ExpressionBinder::Infer(Bound& parameter, Type type) {
  InferredParameter& inferred = (*inferred_)[parameter.node.index - parameters_.size()];
  if (inferred.type && *inferred.type != type) {
    Fail(parameter.offset,
         "Undeclared parameter '" + inferred.name + "' is used assuming different types (" +
             std::string(WordOf(*inferred.type)) + " vs " + std::string(WordOf(type)) + ")");
  }
  inferred.type = type;
  parameter.type = type;
}

void ExpressionBinder::DefaultToInt64(Bound& bound) {
  if (failed() || bound.type) return;
  Coerce(bound, Type::kInt64);
  bound.type = Type::kInt64;
}

std::vector<Bound> ExpressionBinder::BindAll(const std::vector<ast::Expression>& expressions) {
  std::vector<Bound> bound;
  bound.reserve(expressions.size());
  for (const ast::Expression& expression : expressions) bound.push_back(Bind(expression));
  return bound;
}

bool ExpressionBinder::CanCoerce(const Bound& bound, Type type) {
  if (!bound.type || *bound.type == type) return true;
  const bool literal = bound.node.op == Op::kLiteral;
  switch (*bound.type) {
    case Type::kInt64:
      return type == Type::kFloat64 || type == Type::kNumeric ||
             (type == Type::kFloat32 && literal);
    case Type::kFloat32:
      return type == Type::kFloat64;
    case Type::kFloat64:
      return literal && (type == Type::kFloat32 || type == Type::kNumeric);
    case Type::kNumeric:
      return type == Type::kFloat64;
    case Type::kString:
      return (type == Type::kTimestamp || type == Type::kDate) &&
             (literal || bound.node.op == Op::kParameter);
    case Type::kBool:
    case Type::kBytes:
    case Type::kTimestamp:
    case Type::kDate:
    case Type::kJson:
    case Type::kBoolArray:
    case Type::kInt64Array:
    case Type::kFloat64Array:
    case Type::kStringArray:
    case Type::kBytesArray:
    case Type::kTimestampArray:
    case Type::kDateArray:
    case Type::kNumericArray:
    case Type::kJsonArray:
    case Type::kFloat32Array:
      break;
  }
  return false;
}

bool ExpressionBinder::Coerce(Bound& bound, Type type) {
  if (failed()) return true;
  if (!CanCoerce(bound, type)) return false;
  if (bound.type == type) return true;
  const bool literal = bound.node.op == Op::kLiteral;
  if (!bound.type) {
    if (bound.node.op == Op::kParameter) Infer(bound, type);
    return true;
  }
  if (literal && IsNull(bound.literal)) {  // one that was settled to be an INT64
    bound.type = type;
    return true;
  }
  if (bound.type == Type::kInt64 && type == Type::kFloat64) {
    if (literal) {
      bound.literal = Float64(static_cast<double>(std::get<int64_t>(bound.literal)));
      bound.type = type;
    } else {
      Wrap(bound, Op::kInt64ToFloat64, type);
    }
    return true;
  }
  if (type != Type::kTimestamp) {
    CoerceByCast(bound, type);
    return true;
  }
  if (!literal) {
    Wrap(bound, Op::kStringToTimestamp, type);
    return true;
  }
  const auto& text = std::get<std::string>(bound.literal);
  const auto parsed = ParseTimestampText(text);
  if (const auto* timestamp = std::get_if<Timestamp>(&parsed)) {
    bound.literal = *timestamp;
    bound.type = type;
  } else if (std::get<TimestampTextError>(parsed) == TimestampTextError::kInvalid) {
    Fail(bound.offset, "Could not cast literal \"" + text + "\" to type TIMESTAMP");
  } else {
    Fail(bound.offset, std::string(kZoneNotModelled));
  }
  return true;
}

// REQUIRES: CanCoerce(bound, type), and both have a type.
void ExpressionBinder::CoerceByCast(Bound& bound, Type type) {
  if (bound.node.op != Op::kLiteral) return WrapInCast(bound, type);
  auto cast = CastValue(bound.literal, *bound.type, type);
  if (auto* value = std::get_if<Value>(&cast)) {
    bound.literal = std::move(*value);
    bound.type = type;
    return;
  }
  const auto* text = std::get_if<std::string>(&bound.literal);
  Fail(bound.offset, "Could not cast literal " +
                         (text != nullptr ? '"' + *text + '"' : FormatValue(bound.literal)) +
                         " to type " + std::string(WordOf(type)));
}

bool ExpressionBinder::CoerceAll(std::span<Bound> operands, Type type) {
  if (!std::all_of(operands.begin(), operands.end(),
                   [&](const Bound& operand) { return CanCoerce(operand, type); })) {
    return false;
  }
  for (Bound& operand : operands) Coerce(operand, type);
  return true;
}

void ExpressionBinder::RefuseNullLiterals(std::string_view op, const std::vector<Bound>& operands) {
  for (const Bound& operand : operands) {
    if (operand.node.op != Op::kLiteral || operand.type) continue;
    Fail(operand.offset, "Operands of " + std::string(op) + " cannot be literal NULL");
  }
}

Bound ExpressionBinder::BindOperator(const ast::Expression& expression) {
  std::vector<Bound> operands = BindAll(expression.operands);
  if (failed()) return {};
  switch (expression.op) {
    case Op::kAnd:
    case Op::kOr:
    case Op::kIsTrue:
    case Op::kIsFalse:
    case Op::kIn:
    case Op::kInArray:
    case Op::kBetween:
    case Op::kIsNull:
    case Op::kIsNotNull:
      break;
    default:
      RefuseNullLiterals(Spell(expression.op), operands);
      break;
  }
  switch (expression.op) {
    case Op::kAnd:
    case Op::kOr:
    case Op::kNot:
    case Op::kIsTrue:
    case Op::kIsFalse:
      return BindLogical(expression, std::move(operands));
    case Op::kIsNull:
    case Op::kIsNotNull:
      DefaultToInt64(operands.front());
      return MakeInner(expression.op, Type::kBool, expression.offset, std::move(operands));
    case Op::kInArray:
      return BindInArray(expression, std::move(operands));
    case Op::kFunction:
      return BindFunction("LIKE", "operator LIKE", expression.offset, std::move(operands));
    case Op::kConcat:
      return BindConcatenation("operator ||", expression.offset, std::move(operands));
    case Op::kAdd:
    case Op::kSubtract:
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kNegate:
      return BindArithmetic(expression, std::move(operands));
    default:
      return BindComparison(expression, std::move(operands));
  }
}

Bound ExpressionBinder::BindLogical(const ast::Expression& expression,
                                    std::vector<Bound> operands) {
  if (!CoerceAll(operands, Type::kBool)) {
    FailSignature("operator " + std::string(Spell(expression.op)), expression.offset, operands);
    return {};
  }
  return MakeInner(expression.op, Type::kBool, expression.offset, std::move(operands));
}

// Computes in INT64, unless an operand is FLOAT64 or the operator is a division.
Bound ExpressionBinder::BindArithmetic(const ast::Expression& expression,
                                       std::vector<Bound> operands) {
  const bool has_float = std::any_of(operands.begin(), operands.end(), [](const Bound& operand) {
    return operand.type == Type::kFloat64;
  });
  const Type type = has_float || expression.op == Op::kDivide ? Type::kFloat64 : Type::kInt64;
  const bool kept_only = std::any_of(operands.begin(), operands.end(),
                                     [](const Bound& operand) { return IsKeptOnly(operand.type); });
  if (kept_only || !CoerceAll(operands, type)) {
    FailSignature("operator " + std::string(Spell(expression.op)), expression.offset, operands);
    return {};
  }
  if (expression.op == Op::kAdd && operands.size() == 1) return std::move(operands.front());
  Bound bound = MakeInner(expression.op, type, expression.offset, std::move(operands));
  bound.node.operand_type = type;
  return bound;
}

// Binds a comparison, IN or BETWEEN.
Bound ExpressionBinder::BindComparison(const ast::Expression& expression,
                                       std::vector<Bound> operands) {
  const auto type = CommonType(operands);
  const bool comparable = type && !IsArray(*type) && *type != Type::kJson;
  if (type && !comparable) {
    Fail(expression.offset,
         "A comparison is not defined for arguments of type " + std::string(WordOf(*type)));
    return {};
  }
  if (!type || !CoerceAll(operands, *type)) {
    FailSignature("operator " + std::string(Spell(expression.op)), expression.offset, operands);
    return {};
  }
  Bound bound = MakeInner(expression.op, Type::kBool, expression.offset, std::move(operands));
  bound.node.operand_type = *type;
  return bound;
}

// The operands are all STRING (the default if none has a type) or all BYTES.
Bound ExpressionBinder::BindConcatenation(const std::string& what, size_t offset,
                                          std::vector<Bound> operands) {
  const bool bytes = std::any_of(operands.begin(), operands.end(),
                                 [](const Bound& operand) { return operand.type == Type::kBytes; });
  const Type type = bytes ? Type::kBytes : Type::kString;
  if (operands.empty() || !CoerceAll(operands, type)) {
    FailSignature(what, offset, operands);
    return {};
  }
  Bound bound = MakeInner(Op::kConcat, type, offset, std::move(operands));
  bound.node.operand_type = type;
  return bound;
}

Bound ExpressionBinder::BindCast(const ast::Expression& cast) {
  std::vector<Bound> operands = BindAll(cast.operands);
  if (failed()) return {};
  Bound& operand = operands.front();
  // An untyped NULL or parameter gets the type to which it is cast.
  if (!operand.type) Coerce(operand, cast.type);
  // A cast to its own type leaves a parameter a parameter, which may be coerced.
  if (operand.node.op == Op::kParameter && operand.type == cast.type) return std::move(operand);
  const Type from = operand.type.value_or(cast.type);
  if (!CanCast(from, cast.type) && (IsKeptOnly(from) || IsKeptOnly(cast.type))) {
    Fail(operand.offset, "A cast from " + std::string(WordOf(from)) + " to " +
                             std::string(WordOf(cast.type)) + " is not modelled");
    return {};
  }
  if (!CanCast(from, cast.type)) {
    Fail(operand.offset, "Invalid cast from " + std::string(WordOf(from)) + " to " +
                             std::string(WordOf(cast.type)));
    return {};
  }
  Bound bound = MakeInner(cast.op, cast.type, cast.offset, std::move(operands));
  bound.node.operand_type = from;
  bound.node.index = static_cast<uint32_t>(cast.type);
  return bound;
}

Bound ExpressionBinder::BindArray(const ast::Expression& array) {
  std::vector<Bound> elements = BindAll(array.operands);
  if (failed()) return {};
  const auto type = array.typed ? std::optional(array.type) : CommonType(elements);
  if (type && IsArray(*type)) {
    Fail(array.offset, "Cannot construct array with element type " + std::string(WordOf(*type)) +
                           " because nested arrays are not supported");
    return {};
  }
  if (!type || !CoerceAll(elements, *type)) {
    Fail(array.offset, "Array elements of these types are not modelled");
    return {};
  }
  const auto count = static_cast<uint32_t>(elements.size());
  Bound bound = MakeInner(Op::kMakeArray, ArrayOf(*type), array.offset, std::move(elements));
  bound.node.index = count;
  return bound;
}

// The value and the elements get a common type; an array itself is not coerced.
Bound ExpressionBinder::BindInArray(const ast::Expression& expression,
                                    std::vector<Bound> operands) {
  Bound& value = operands[0];
  Bound& array = operands[1];
  if (!array.type && array.node.op == Op::kParameter && value.type && !IsArray(*value.type)) {
    Infer(array, ArrayOf(*value.type));
  }
  if (array.type && !IsArray(*array.type)) {
    Fail(array.offset, "Second argument of IN UNNEST must be an array but was " +
                           std::string(WordOf(*array.type)));
    return {};
  }
  const bool is_subquery = array.node.op == Op::kSubquery;
  if (is_subquery) DefaultToInt64(value);  // NULL is an INT64 there
  if (is_subquery && array.type == Type::kInt64Array && value.type == Type::kFloat64) {
    CoerceByCast(array, Type::kFloat64Array);
  }
  if (failed()) return {};
  const Type element = array.type ? ElementOf(*array.type) : value.type.value_or(Type::kInt64);
  if (!Coerce(value, element) || element == Type::kJson) {
    const std::string of_value(value.type ? WordOf(*value.type) : "NULL");
    Fail(expression.offset,
         is_subquery ? "Cannot execute IN subquery with uncomparable types " + of_value + " and " +
                           std::string(WordOf(element))
                     : "No matching signature for operator IN UNNEST for argument types: " +
                           of_value + ", " + std::string(WordOf(ArrayOf(element))));
    return {};
  }
  if (failed()) return {};
  Bound bound = MakeInner(Op::kInArray, Type::kBool, expression.offset, std::move(operands));
  bound.node.operand_type = element;
  return bound;
}

// Whether a name, or the word before its dot, means something here or further outside.
bool ExpressionBinder::IsOutside(const std::string& name, const std::string& qualifier) const {
  if (table_ != nullptr && name.empty() && EqualIgnoringCase(qualifier, qualifier_)) return true;
  if (table_ != nullptr && !name.empty() && table_->FindColumn(name)) return true;
  return context_.outside != nullptr && context_.outside->IsOutside(name, qualifier);
}

// The subquery is bound as a statement of its own, whose value stands after the parameters.
Bound ExpressionBinder::BindSubquery(const ast::Expression& subquery) {
  StatementContext inside = context_;
  inside.outside = this;
  auto bound_query = BindSelect(inside, *subquery.query);
  if (auto* error = std::get_if<Status>(&bound_query)) {
    Fail(std::move(*error));
    return {};
  }
  auto& plan = std::get<SelectPlan>(bound_query);
  SubqueryUse use = SubqueryUse::kExists;
  Type type = Type::kBool;
  if (subquery.op != Op::kIsTrue) {
    const bool value = subquery.op == Op::kSubquery;
    if (plan.outputs.size() != 1) {
      Fail(subquery.offset, value ? "Scalar subquery cannot have more than one column unless using "
                                    "SELECT AS STRUCT to build STRUCT values"
                                  : "Subquery of type IN must have only one output column");
      return {};
    }
    type = plan.outputs.front().type;
    if (!value && IsArray(type)) {
      Fail(subquery.offset, "An array in an array is not modelled");
      return {};
    }
    use = value ? SubqueryUse::kValue : SubqueryUse::kArray;
    if (!value) type = ArrayOf(type);
  }
  const size_t index = parameters_.size() + context_.subqueries->size();
  context_.subqueries->push_back(
      {.use = use, .plan = std::make_shared<const SelectPlan>(std::move(plan))});
  Bound bound = MakeLeaf(Op::kSubquery, type, subquery.offset, static_cast<uint32_t>(index));
  bound.has_subquery = true;
  return bound;
}

}  // namespace whorl::model
