#include "spanner_model/sql/expression.h"

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "spanner_model/sql/timestamp_functions.h"
#include "spanner_model/sql/timestamp_text.h"

namespace whorl::model {
namespace {

// SQL's three truth values, and an evaluation that failed.
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
  // The most frequent comparison of all, that of a key, needs no order.
  if (op == Op::kEqual) return left == right;
  return Holds(op, left <=> right);
}

// REQUIRES: neither is NULL, both are of the node's operand type.
bool CompareBy(const Node& node, const Value& left, const Value& right) {
  switch (node.operand_type) {
    case Type::kBool:
      return Holds(node.op, std::get<bool>(left) <=> std::get<bool>(right));
    case Type::kInt64:
      return Holds(node.op, std::get<int64_t>(left) <=> std::get<int64_t>(right));
    case Type::kFloat64:
      return Holds(node.op, std::get<Float64>(left).value() <=> std::get<Float64>(right).value());
    case Type::kString:
      return CompareTexts(node.op, std::get<std::string>(left), std::get<std::string>(right));
    case Type::kBytes:
      return CompareTexts(node.op, std::get<Bytes>(left).data, std::get<Bytes>(right).data);
    case Type::kTimestamp:
      return Holds(node.op, std::get<Timestamp>(left) <=> std::get<Timestamp>(right));
  }
  return false;
}

std::string_view TextOf(const Node& node, const Value& value) {
  if (node.operand_type == Type::kString) return std::get<std::string>(value);
  return std::get<Bytes>(value).data;
}

// One evaluation. A node's operands are evaluated one after the other into the same scratch, so
// what the first one left there is copied out before the second: a few bytes, since only scalars
// are ever computed.
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
      default:
        return FromTruth(EvaluateTruth(at));
    }
  }

  // REQUIRES: the node is BOOL.
  Truth EvaluateTruth(uint32_t at) {
    const Node& node = nodes_[at];
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
      case Op::kEqual:
      case Op::kNotEqual:
      case Op::kLess:
      case Op::kLessOrEqual:
      case Op::kGreater:
      case Op::kGreaterOrEqual:
        return Compare(at);
      case Op::kStartsWith:
        return StartsWith(at);
      default:
        return ToTruth(Evaluate(at));
    }
  }

 private:
  static uint32_t First(uint32_t at) { return at + 1; }
  uint32_t Second(uint32_t at) const { return nodes_[at + 1].next; }

  // The stored value of a literal, parameter or column; nullptr for what has to be computed.
  const Value* Leaf(const Node& node) const {
    switch (node.op) {
      case Op::kLiteral:
        return &literals_[node.index];
      case Op::kParameter:
        return &context_.parameters[node.index];
      case Op::kColumn:
        return &context_.row[node.index];
      default:
        return nullptr;
    }
  }

  template <typename T>
  const Value* Keep(T value) {
    // A scratch that is used again mostly holds the type already: nothing to destroy.
    if (T* held = std::get_if<T>(&scratch_)) {
      *held = value;
    } else {
      scratch_.emplace<T>(value);
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

  // AND, which FALSE decides, or OR, which TRUE does; else one NULL makes the result NULL.
  Truth Junction(uint32_t at, Truth decides) {
    Truth result = Not(decides);
    for (uint32_t operand = First(at); operand != 0; operand = nodes_[operand].next) {
      const Truth truth = EvaluateTruth(operand);
      if (truth == decides || truth == Truth::kError) return truth;
      if (truth == Truth::kNull) result = Truth::kNull;
    }
    return result;
  }

  Truth Compare(uint32_t at) {
    const Value* left = Leaf(nodes_[First(at)]);
    const Value* right = Leaf(nodes_[Second(at)]);
    if (left == nullptr || right == nullptr) return CompareComputed(at);
    if (IsNull(*left) || IsNull(*right)) return Truth::kNull;
    return FromBool(CompareBy(nodes_[at], *left, *right));
  }

  Truth CompareComputed(uint32_t at) {
    const Value* left = Evaluate(First(at));
    if (left == nullptr) return Truth::kError;
    if (left != &scratch_) return CompareWithSecond(at, *left);
    const Value kept = scratch_;
    return CompareWithSecond(at, kept);
  }

  Truth CompareWithSecond(uint32_t at, const Value& left) {
    const Value* right = Evaluate(Second(at));
    if (right == nullptr) return Truth::kError;
    if (IsNull(left) || IsNull(*right)) return Truth::kNull;
    return FromBool(CompareBy(nodes_[at], left, *right));
  }

  Truth StartsWith(uint32_t at) {
    // Texts are never computed, so both are stored and nothing is overwritten.
    const Value* text = Evaluate(First(at));
    const Value* prefix = Evaluate(Second(at));
    if (text == nullptr || prefix == nullptr) return Truth::kError;
    if (IsNull(*text) || IsNull(*prefix)) return Truth::kNull;
    return FromBool(TextOf(nodes_[at], *text).starts_with(TextOf(nodes_[at], *prefix)));
  }

  const Value* Arithmetic(uint32_t at) {
    const Value* value = Evaluate(First(at));
    if (value == nullptr) return nullptr;
    const bool null = IsNull(*value);
    const int64_t left = null ? 0 : std::get<int64_t>(*value);
    value = Evaluate(Second(at));
    if (value == nullptr) return nullptr;
    if (null || IsNull(*value)) return KeepNull();
    const int64_t right = std::get<int64_t>(*value);
    int64_t result = 0;
    bool overflow = false;
    const char* sign = " * ";
    switch (nodes_[at].op) {
      case Op::kAdd:
        overflow = __builtin_add_overflow(left, right, &result);
        sign = " + ";
        break;
      case Op::kSubtract:
        overflow = __builtin_sub_overflow(left, right, &result);
        sign = " - ";
        break;
      default:
        overflow = __builtin_mul_overflow(left, right, &result);
        break;
    }
    if (!overflow) return Keep(result);
    return Fail(Error(Code::kOutOfRange,
                      "int64 overflow: " + std::to_string(left) + sign + std::to_string(right)));
  }

  const Value* Negate(uint32_t at) {
    const Value* value = Evaluate(First(at));
    if (value == nullptr || IsNull(*value)) return value;
    const int64_t operand = std::get<int64_t>(*value);
    int64_t result = 0;
    if (!__builtin_sub_overflow(int64_t{0}, operand, &result)) return Keep(result);
    return Fail(Error(Code::kOutOfRange, "int64 overflow: -(" + std::to_string(operand) + ")"));
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
    const auto& text = std::get<std::string>(*value);
    const auto parsed = ParseTimestampText(text);
    if (const auto* timestamp = std::get_if<Timestamp>(&parsed)) return Keep(*timestamp);
    const bool invalid = std::get<TimestampTextError>(parsed) == TimestampTextError::kInvalid;
    return Fail(Error(Code::kOutOfRange,
                      "Invalid timestamp: '" + text + "'" +
                          (invalid ? "" : " (without Z, UTC or an offset it is not modelled)")));
  }

  const Node* nodes_;
  const Value* literals_;
  const EvaluationContext& context_;
  Value& scratch_;
  Status& error_;
};

// Whether a parameter of the type may hold the value.
bool Fits(Type type, const Value& value) {
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
  }
  return false;
}

}  // namespace

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
    if (!IsNull(values[i]) && !Fits(parameters[i].type, values[i])) {
      return Error(Code::kInvalidArgument, "Invalid value for bind parameter " +
                                               parameters[i].name + ": Expected " +
                                               std::string(TypeName(parameters[i].type)) + ".");
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
