#include "spanner_model/sql/expression.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "spanner_model/sql/cast.h"
#include "spanner_model/sql/functions.h"
#include "spanner_model/sql/timestamp_text.h"

namespace whorl::model {
namespace {

// SQL's three truth values, and a failed evaluation.
enum class Truth : uint8_t { kFalse, kTrue, kNull, kError };

Truth FromBool(bool value) { return value ? Truth::kTrue : Truth::kFalse; }

bool Holds(Op op, std::partial_ordering order) {
  switch (op) {
    case Op::kEqual:
      return order == 0;
    case Op::kNotEqual:
      return order != 0;  // NaN != NaN holds, as in IEEE 754
    case Op::kLess:
      return order < 0;
    case Op::kLessOrEqual:
      return order <= 0;
    case Op::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

bool CompareTexts(Op op, std::string_view left, std::string_view right) {
  // The most frequent comparison, that of a key, needs no order.
  if (op == Op::kEqual) return left == right;
  return Holds(op, left <=> right);
}

// REQUIRES: neither is NULL, both have the type.
bool CompareBy(Op op, Type type, const Value& left, const Value& right) {
  switch (type) {
    case Type::kBool:
      return Holds(op, std::get<bool>(left) <=> std::get<bool>(right));
    case Type::kInt64:
      return Holds(op, std::get<int64_t>(left) <=> std::get<int64_t>(right));
    case Type::kFloat64:
      return Holds(op, std::get<Float64>(left).value() <=> std::get<Float64>(right).value());
    case Type::kString:
      return CompareTexts(op, std::get<std::string>(left), std::get<std::string>(right));
    case Type::kBytes:
      return CompareTexts(op, std::get<Bytes>(left).data, std::get<Bytes>(right).data);
    case Type::kTimestamp:
      return Holds(op, std::get<Timestamp>(left) <=> std::get<Timestamp>(right));
    case Type::kDate:  // its text has the order of its days
      return CompareTexts(op, std::get<std::string>(left), std::get<std::string>(right));
    case Type::kNumeric:
      return Holds(op, CompareNumerics(std::get<std::string>(left), std::get<std::string>(right)));
    case Type::kFloat32:
      return CompareBy(op, Type::kFloat64, left, right);
    // The binder refuses to compare these.
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

Truth CompareNullable(Op op, Type type, const Value& left, const Value& right) {
  if (IsNull(left) || IsNull(right)) return Truth::kNull;
  return FromBool(CompareBy(op, type, left, right));
}

std::string_view TextOf(const ExpressionNode& node, const Value& value) {
  if (node.operand_type == Type::kString) return std::get<std::string>(value);
  return std::get<Bytes>(value).data;
}

// One evaluation. All operands of a node are evaluated into the same scratch, so the value of the
// first is moved out before the second is evaluated.
class Evaluator {
 public:
  Evaluator(const Expression& expression, const EvaluationContext& context, Value& scratch,
            Status& error)
      : nodes_(expression.nodes.data()),
        literals_(expression.literals.data()),
        context_(context),
        scratch_(scratch),
        error_(error) {}

  const Value* Evaluate(uint32_t at) {
    if (const Value* leaf = Leaf(nodes_[at])) return leaf;
    switch (nodes_[at].op) {
      case Op::kCurrentTimestamp:
        return Keep(context_.current_timestamp);
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kMultiply:
      case Op::kDivide:
        return Arithmetic(at);
      case Op::kNegate:
        return Negate(at);
      case Op::kTimestampDiff:
        return Diff(at);
      case Op::kTimestampAdd:
        return Shift(at, Direction::kForward);
      case Op::kTimestampSub:
        return Shift(at, Direction::kBackward);
      case Op::kInt64ToFloat64:
        return ToFloat64(at);
      case Op::kStringToTimestamp:
        return ToTimestamp(at);
      case Op::kConcat:
        return Concat(at);
      case Op::kIf:
        return If(at);
      case Op::kCoalesce:
        return Coalesce(at);
      case Op::kNullIf:
        return NullIf(at);
      case Op::kGreatest:
        return FindExtreme(at, Extreme::kGreatest);
      case Op::kLeast:
        return FindExtreme(at, Extreme::kLeast);
      case Op::kCast:
      case Op::kSafeCast:
        return Cast(at);
      case Op::kFunction:
        return Call(at);
      case Op::kArrayLength: {
        const Value* array = Evaluate(First(at));
        if (array == nullptr || IsNull(*array)) return array;
        return Keep(static_cast<int64_t>(std::get<Array>(*array).elements.size()));
      }
      case Op::kMakeArray:
        return MakeArray(at);
      // Leaves were answered above; the others are BOOL.
      case Op::kLiteral:
      case Op::kParameter:
      case Op::kSubquery:
      case Op::kColumn:
      case Op::kAggregate:
      case Op::kAnd:
      case Op::kOr:
      case Op::kNot:
      case Op::kIsNull:
      case Op::kIsNotNull:
      case Op::kIsTrue:
      case Op::kIsFalse:
      case Op::kEqual:
      case Op::kNotEqual:
      case Op::kLess:
      case Op::kLessOrEqual:
      case Op::kGreater:
      case Op::kGreaterOrEqual:
      case Op::kBetween:
      case Op::kIn:
      case Op::kInArray:
      case Op::kStartsWith:
        break;
    }
    return FromTruth(EvaluateTruth(at));
  }

  // REQUIRES: the node is BOOL.
  Truth EvaluateTruth(uint32_t at) {
    const ExpressionNode& node = nodes_[at];
    switch (node.op) {
      case Op::kAnd:
        return Junction(at, Truth::kFalse);
      case Op::kOr:
        return Junction(at, Truth::kTrue);
      case Op::kNot:
        return Not(EvaluateTruth(First(at)));
      case Op::kIsNull:
      case Op::kIsNotNull: {
        const Value* value = Evaluate(First(at));
        if (value == nullptr) return Truth::kError;
        return FromBool(IsNull(*value) == (node.op == Op::kIsNull));
      }
      case Op::kIsTrue:
      case Op::kIsFalse: {
        const Truth truth = EvaluateTruth(First(at));
        if (truth == Truth::kError) return truth;
        return FromBool(truth == (node.op == Op::kIsTrue ? Truth::kTrue : Truth::kFalse));
      }
      case Op::kEqual:
      case Op::kNotEqual:
      case Op::kLess:
      case Op::kLessOrEqual:
      case Op::kGreater:
      case Op::kGreaterOrEqual:
        return Compare(at);
      case Op::kBetween:
        return Between(at);
      case Op::kIn:
        return In(at);
      case Op::kInArray:
        return InArray(at);
      case Op::kStartsWith:
        return StartsWith(at);
      case Op::kLiteral:
      case Op::kParameter:
      case Op::kSubquery:
      case Op::kColumn:
      case Op::kAggregate:
      case Op::kCurrentTimestamp:
      case Op::kAdd:
      case Op::kSubtract:
      case Op::kMultiply:
      case Op::kDivide:
      case Op::kNegate:
      case Op::kConcat:
      case Op::kIf:
      case Op::kCoalesce:
      case Op::kNullIf:
      case Op::kGreatest:
      case Op::kLeast:
      case Op::kCast:
      case Op::kSafeCast:
      case Op::kFunction:
      case Op::kTimestampDiff:
      case Op::kTimestampAdd:
      case Op::kTimestampSub:
      case Op::kArrayLength:
      case Op::kMakeArray:
      case Op::kInt64ToFloat64:
      case Op::kStringToTimestamp:
        break;
    }
    return ToTruth(Evaluate(at));
  }

 private:
  static uint32_t First(uint32_t at) { return at + 1; }
  uint32_t Second(uint32_t at) const { return nodes_[at + 1].next; }

  // The stored value of a literal, parameter or column; nullptr for other nodes.
  const Value* Leaf(const ExpressionNode& node) const {
    switch (node.op) {
      case Op::kLiteral:
        return &literals_[node.index];
      case Op::kParameter:
      case Op::kSubquery:
        return &context_.parameters[node.index];
      case Op::kColumn:
      case Op::kAggregate:
        return &context_.row[node.index];
      default:
        return nullptr;
    }
  }

  template <typename T>
  const Value* Keep(T value) {
    // The scratch mostly holds this type already, so that no other value has to be destroyed.
    if (T* held = std::get_if<T>(&scratch_)) {
      *held = std::move(value);
    } else {
      scratch_.emplace<T>(std::move(value));
    }
    return &scratch_;
  }
  const Value* KeepNull() { return Keep(Null{}); }
  const Value* Fail(Status status) {
    error_ = std::move(status);
    return nullptr;
  }

  static Truth ToTruth(const Value* value) {
    if (value == nullptr) return Truth::kError;
    return IsNull(*value) ? Truth::kNull : FromBool(std::get<bool>(*value));
  }
  const Value* FromTruth(Truth truth) {
    if (truth == Truth::kError) return nullptr;
    return truth == Truth::kNull ? KeepNull() : Keep(truth == Truth::kTrue);
  }
  static Truth Not(Truth truth) {
    if (truth == Truth::kTrue) return Truth::kFalse;
    return truth == Truth::kFalse ? Truth::kTrue : truth;
  }

  // The value of the operand, safe from the evaluation of the next one.
  const Value* EvaluateAside(uint32_t at, Value& kept) {
    const Value* value = Evaluate(at);
    if (value != &scratch_) return value;
    kept = std::move(scratch_);
    return &kept;
  }

  // Both operands; the second is null when one of them failed.
  struct Two {
    const Value* left = nullptr;
    const Value* right = nullptr;
    bool HasNull() const { return IsNull(*left) || IsNull(*right); }
  };
  Two EvaluateBoth(uint32_t at, Value& kept) {
    Two two;
    two.left = EvaluateAside(First(at), kept);
    if (two.left != nullptr) two.right = Evaluate(Second(at));
    return two;
  }

  // AND, which FALSE decides, or OR, which TRUE decides; otherwise one NULL makes the result NULL.
  Truth Junction(uint32_t at, Truth decides) {
    Truth result = Not(decides);
    for (uint32_t operand = First(at); operand != 0; operand = nodes_[operand].next) {
      const Truth truth = EvaluateTruth(operand);
      if (truth == Truth::kError) return truth;
      if (truth == decides || (truth == Truth::kNull && result != decides)) result = truth;
    }
    return result;
  }

  Truth Compare(uint32_t at) {
    const ExpressionNode& node = nodes_[at];
    const Value* left = Leaf(nodes_[First(at)]);
    const Value* right = Leaf(nodes_[Second(at)]);
    if (left != nullptr && right != nullptr) {
      return CompareNullable(node.op, node.operand_type, *left, *right);
    }
    Value kept;
    const Two two = EvaluateBoth(at, kept);
    if (two.right == nullptr) return Truth::kError;
    return CompareNullable(node.op, node.operand_type, *two.left, *two.right);
  }

  Truth Between(uint32_t at) {
    const Type type = nodes_[at].operand_type;
    Value kept;
    const Two two = EvaluateBoth(at, kept);
    if (two.right == nullptr) return Truth::kError;
    const Truth above = CompareNullable(Op::kGreaterOrEqual, type, *two.left, *two.right);
    const Value* high = Evaluate(nodes_[Second(at)].next);
    if (high == nullptr) return Truth::kError;
    const Truth below = CompareNullable(Op::kLessOrEqual, type, *two.left, *high);
    if (above == Truth::kFalse || below == Truth::kFalse) return Truth::kFalse;
    return above == Truth::kNull ? above : below;
  }

  // An OR of comparisons. All of them are evaluated.
  Truth In(uint32_t at) {
    Value kept;
    const Value* value = EvaluateAside(First(at), kept);
    if (value == nullptr) return Truth::kError;
    Truth result = Truth::kFalse;
    for (uint32_t candidate = Second(at); candidate != 0; candidate = nodes_[candidate].next) {
      const Value* other = Evaluate(candidate);
      if (other == nullptr) return Truth::kError;
      const Truth equal = CompareNullable(Op::kEqual, nodes_[at].operand_type, *value, *other);
      if (equal == Truth::kTrue || (equal == Truth::kNull && result != Truth::kTrue)) {
        result = equal;
      }
    }
    return result;
  }

  // An OR of comparisons with the elements; FALSE of a NULL array.
  Truth InArray(uint32_t at) {
    Value kept;
    const Two two = EvaluateBoth(at, kept);
    if (two.right == nullptr) return Truth::kError;
    if (IsNull(*two.right)) return Truth::kFalse;
    Truth result = Truth::kFalse;
    for (const Value& element : std::get<Array>(*two.right).elements) {
      const Truth equal = CompareNullable(Op::kEqual, nodes_[at].operand_type, *two.left, element);
      if (equal == Truth::kTrue) return equal;
      if (equal == Truth::kNull) result = equal;
    }
    return result;
  }

  const Value* MakeArray(uint32_t at) {
    Array array;
    // `index` is the number of operands: without any, the next node is another's.
    uint32_t operand = First(at);
    for (uint32_t i = 0; i < nodes_[at].index; ++i, operand = nodes_[operand].next) {
      const Value* value = Evaluate(operand);
      if (value == nullptr) return nullptr;
      array.elements.push_back(*value);
    }
    return Keep(std::move(array));
  }

  Truth StartsWith(uint32_t at) {
    Value kept;
    const Two two = EvaluateBoth(at, kept);
    if (two.right == nullptr) return Truth::kError;
    if (two.HasNull()) return Truth::kNull;
    return FromBool(TextOf(nodes_[at], *two.left).starts_with(TextOf(nodes_[at], *two.right)));
  }

  const Value* Arithmetic(uint32_t at) {
    Value kept;
    const Two two = EvaluateBoth(at, kept);
    if (two.right == nullptr) return nullptr;
    if (two.HasNull()) return KeepNull();
    const Op op = nodes_[at].op;
    if (nodes_[at].operand_type == Type::kFloat64) {
      const double left = std::get<Float64>(*two.left).value();
      const double right = std::get<Float64>(*two.right).value();
      if (const auto result = ComputeFloat64(op, left, right)) return Keep(Float64(*result));
      return Fail(Float64Error(op, left, right));
    }
    const int64_t left = std::get<int64_t>(*two.left);
    const int64_t right = std::get<int64_t>(*two.right);
    if (const auto result = ComputeInt64(op, left, right)) return Keep(*result);
    return Fail(Int64Overflow(op, left, right));
  }

  const Value* Negate(uint32_t at) {
    const Value* value = Evaluate(First(at));
    if (value == nullptr || IsNull(*value)) return value;
    if (nodes_[at].operand_type == Type::kFloat64) {
      return Keep(Float64(-std::get<Float64>(*value).value()));
    }
    const int64_t operand = std::get<int64_t>(*value);
    if (const auto result = ComputeInt64(Op::kSubtract, 0, operand)) return Keep(*result);
    return Fail(NegationOverflow(operand));
  }

  const Value* Concat(uint32_t at) {
    std::string text;
    bool null = false;
    for (uint32_t operand = First(at); operand != 0; operand = nodes_[operand].next) {
      const Value* value = Evaluate(operand);
      if (value == nullptr) return nullptr;
      null = null || IsNull(*value);
      if (!null) text += TextOf(nodes_[at], *value);
    }
    if (null) return KeepNull();
    if (nodes_[at].operand_type == Type::kBytes) return Keep(Bytes{std::move(text)});
    return Keep(std::move(text));
  }

  const Value* If(uint32_t at) {
    const Truth condition = EvaluateTruth(First(at));
    if (condition == Truth::kError) return nullptr;
    const uint32_t then = Second(at);
    return Evaluate(condition == Truth::kTrue ? then : nodes_[then].next);
  }

  const Value* Coalesce(uint32_t at) {
    for (uint32_t operand = First(at); operand != 0; operand = nodes_[operand].next) {
      const Value* value = Evaluate(operand);
      if (value == nullptr || !IsNull(*value)) return value;
    }
    return KeepNull();
  }

  const Value* NullIf(uint32_t at) {
    Value kept;
    const Two two = EvaluateBoth(at, kept);
    if (two.right == nullptr) return nullptr;
    const Type type = nodes_[at].operand_type;
    if (CompareNullable(Op::kEqual, type, *two.left, *two.right) == Truth::kTrue) {
      return KeepNull();
    }
    if (two.left != &kept) kept = *two.left;
    scratch_ = std::move(kept);
    return &scratch_;
  }

  const Value* FindExtreme(uint32_t at, Extreme extreme) {
    std::optional<Value> best;
    bool null = false;
    for (uint32_t operand = First(at); operand != 0; operand = nodes_[operand].next) {
      const Value* value = Evaluate(operand);
      if (value == nullptr) return nullptr;
      null = null || IsNull(*value);
      if (!null && (!best || Surpasses(extreme, *value, *best))) best = *value;
    }
    if (null) return KeepNull();
    scratch_ = std::move(*best);
    return &scratch_;
  }

  const Value* Cast(uint32_t at) {
    const ExpressionNode& node = nodes_[at];
    const Value* value = Evaluate(First(at));
    if (value == nullptr || IsNull(*value)) return value;
    auto result = CastValue(*value, node.operand_type, static_cast<Type>(node.index));
    if (auto* error = std::get_if<Status>(&result)) {
      if (node.op == Op::kSafeCast && error->code == Code::kOutOfRange) return KeepNull();
      return Fail(std::move(*error));
    }
    scratch_ = std::get<Value>(std::move(result));
    return &scratch_;
  }

  const Value* Call(uint32_t at) {
    std::array<Value, kMaxArguments> arguments;
    size_t count = 0;
    bool null = false;
    for (uint32_t operand = First(at); operand != 0; operand = nodes_[operand].next) {
      const Value* value = Evaluate(operand);
      if (value == nullptr) return nullptr;
      null = null || IsNull(*value);
      arguments[count++] = *value;
    }
    if (null) return KeepNull();
    Status status = ScalarFunctions()[nodes_[at].index].apply({arguments.data(), count}, scratch_);
    return status.ok() ? &scratch_ : Fail(std::move(status));
  }

  const Value* Diff(uint32_t at) {
    const Value* value = Evaluate(First(at));
    if (value == nullptr) return nullptr;
    const bool null = IsNull(*value);
    const Timestamp left = null ? Timestamp() : std::get<Timestamp>(*value);
    value = Evaluate(Second(at));
    if (value == nullptr) return nullptr;
    if (null || IsNull(*value)) return KeepNull();
    const Timestamp right = std::get<Timestamp>(*value);
    if (const auto diff = TimestampDiff(left, right, nodes_[at].part)) return Keep(*diff);
    return Fail(TimestampDiffOverflow(left, right, nodes_[at].part));
  }

  const Value* Shift(uint32_t at, Direction direction) {
    const Value* value = Evaluate(First(at));
    if (value == nullptr) return nullptr;
    const bool null = IsNull(*value);
    const Timestamp timestamp = null ? Timestamp() : std::get<Timestamp>(*value);
    value = Evaluate(Second(at));
    if (value == nullptr) return nullptr;
    if (null || IsNull(*value)) return KeepNull();
    const int64_t amount = std::get<int64_t>(*value);
    const DatePart part = nodes_[at].part;
    if (const auto shifted = TimestampShift(timestamp, amount, part, direction)) {
      return Keep(*shifted);
    }
    return Fail(TimestampShiftOverflow(timestamp, amount, part, direction));
  }

  const Value* ToFloat64(uint32_t at) {
    const Value* value = Evaluate(First(at));
    if (value == nullptr || IsNull(*value)) return value;
    return Keep(Float64(static_cast<double>(std::get<int64_t>(*value))));
  }

  const Value* ToTimestamp(uint32_t at) {
    const Value* value = Evaluate(First(at));
    if (value == nullptr || IsNull(*value)) return value;
    auto timestamp = TimestampOf(std::get<std::string>(*value));
    if (auto* error = std::get_if<Status>(&timestamp)) return Fail(std::move(*error));
    return Keep(std::get<Timestamp>(std::get<Value>(timestamp)));
  }

  const ExpressionNode* nodes_;
  const Value* literals_;
  const EvaluationContext& context_;
  Value& scratch_;
  Status& error_;
};

}  // namespace

bool FitsType(Type type, const Value& value) {
  switch (type) {
    case Type::kBool:
      return std::holds_alternative<bool>(value);
    case Type::kInt64:
      return std::holds_alternative<int64_t>(value);
    case Type::kFloat64:
      return std::holds_alternative<Float64>(value);
    case Type::kString:
      return std::holds_alternative<std::string>(value);
    case Type::kBytes:
      return std::holds_alternative<Bytes>(value);
    case Type::kTimestamp:
      return std::holds_alternative<Timestamp>(value);
    case Type::kDate:
    case Type::kNumeric:
    case Type::kJson:
      return std::holds_alternative<std::string>(value);
    case Type::kFloat32:
      return std::holds_alternative<Float64>(value);
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
  const auto* array = std::get_if<Array>(&value);
  return array != nullptr &&
         std::all_of(array->elements.begin(), array->elements.end(), [&](const Value& element) {
           return IsNull(element) || FitsType(ElementOf(type), element);
         });
}

const Value* Evaluate(const Expression& expression, const EvaluationContext& context,
                      Value& scratch, Status& error) {
  return Evaluator(expression, context, scratch, error).Evaluate(0);
}

Match Matches(const Expression& filter, const EvaluationContext& context, Status& error) {
  Value scratch;
  switch (Evaluator(filter, context, scratch, error).EvaluateTruth(0)) {
    case Truth::kTrue:
      return Match::kYes;
    case Truth::kFalse:
    case Truth::kNull:
      return Match::kNo;
    case Truth::kError:
      return Match::kError;
  }
  return Match::kError;
}

Status CheckParameters(std::span<const Parameter> parameters, std::span<const Value> values) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i >= values.size()) {
      return Error(Code::kInvalidArgument, "Incomplete query parameters " + parameters[i].name);
    }
    if (!IsNull(values[i]) && !FitsType(parameters[i].type, values[i])) {
      return Error(Code::kInvalidArgument, "Invalid value for bind parameter " +
                                               parameters[i].name + ": Expected " +
                                               std::string(WordOf(parameters[i].type)) + ".");
    }
  }
  if (values.size() > parameters.size()) {
    return Error(Code::kInvalidArgument, "There are " + std::to_string(values.size()) +
                                             " values for " + std::to_string(parameters.size()) +
                                             " parameters");
  }
  return {};
}

}  // namespace whorl::model
