#include "tests/differential/expressions.h"

#include <array>

#include "tests/differential/values.h"

namespace whorl::differential {
namespace {

std::string Function(const std::string& name, const std::vector<std::string>& arguments) {
  std::string text = name + "(";
  for (size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? "" : ", ") + arguments[i];
  return text + ")";
}

std::string Operator(const std::string& left, const std::string& op, const std::string& right) {
  return "(" + left + " " + op + " " + right + ")";
}

std::string Cast(const std::string& what, Type type) {
  return "CAST(" + what + " AS " + std::string(WordOf(type)) + ")";
}

constexpr std::array kComparisons = {"=", "!=", "<>", "<", "<=", ">", ">="};
constexpr std::array kWholeParts = {"MICROSECOND", "MILLISECOND", "SECOND",
                                    "MINUTE",      "HOUR",        "DAY"};

}  // namespace

std::string ExpressionMaker::Write(const Value& value, Type type) {
  const auto* timestamp = std::get_if<whorl::Timestamp>(&value);
  const bool placeholder = timestamp != nullptr && FindCommitTime(*timestamp).has_value();
  if (!placeholder && draw_.Percent(60)) return Literal(value, type);
  const std::string name = "p" + std::to_string(call_.inputs.size());
  call_.inputs.push_back({.name = name, .type = type, .value = value});
  return "@" + name;
}

Value ExpressionMaker::DrawStored(Type type) {
  if (type == Type::kTimestamp && !commits_.empty() && draw_.OneIn(3)) {
    return CommitTimeOf({.operation = draw_.Of(commits_), .plus_microseconds = 0});
  }
  return DrawValue(draw_, type);
}

std::string ExpressionMaker::Constant(Type type) {
  if (draw_.OneIn(12)) return Write(Null{}, type);
  return Write(DrawStored(type), type);
}

std::string ExpressionMaker::Leaf(Type type) {
  if (table_ != nullptr && draw_.Percent(60)) {
    std::vector<std::string> fitting;
    for (const model::Column& column : table_->columns) {
      if (column.type == type) fitting.push_back(column.name);
    }
    if (!fitting.empty()) return draw_.Of(fitting);
  }
  if (draw_.OneIn(25)) return "NULL";
  return Constant(type);
}

std::string ExpressionMaker::Make(Type type, int depth, Failing failing) {
  const bool wrong = failing == Failing::kMay && draw_.OneIn(60);
  // Not TIMESTAMP: other types computed from it would differ between two runs.
  if (wrong) return MakeTyped(static_cast<Type>(draw_.Below(5)), depth, failing);
  return MakeTyped(type, depth, failing);
}

std::string ExpressionMaker::MakeTyped(Type type, int depth, Failing failing) {
  if (depth <= 0 || draw_.OneIn(4)) return Leaf(type);
  if (draw_.OneIn(6)) return OfAnyType(type, depth - 1, failing);
  switch (type) {
    case Type::kBool:
      return Bool(depth - 1, failing);
    case Type::kInt64:
      return Int64(depth - 1, failing);
    case Type::kFloat64:
      return Float64(depth - 1, failing);
    case Type::kString:
      return String(depth - 1, failing);
    case Type::kBytes:
      return Bytes(depth - 1, failing);
    case Type::kTimestamp:
      return Timestamp(depth - 1, failing);
    default:  // not drawn
      return "";
  }
}

std::string ExpressionMaker::OfAnyType(Type type, int depth, Failing failing) {
  const std::string one = Make(type, depth, failing);
  const std::string other = Make(type, depth, failing);
  switch (draw_.Below(6)) {
    case 0:
      return Function("IF", {Make(Type::kBool, depth, failing), one, other});
    case 1:
      return Function("COALESCE", {one, other});
    case 2:
      return Function("IFNULL", {one, other});
    case 3:
      return Function("NULLIF", {one, other});
    case 4:
      return Function("GREATEST", {one, other});
    default:
      return Function("LEAST", {one, other, Leaf(type)});
  }
}

std::string ExpressionMaker::Comparison(int depth, Failing failing) {
  const Type type = DrawType(draw_);
  const std::string left = Make(type, depth, failing);
  const std::string negated = draw_.OneIn(3) ? " NOT" : "";
  switch (draw_.Below(11)) {
    case 10:
      return "(" + left + negated + " IN UNNEST([" + Make(type, depth, failing) + ", " +
             Constant(type) + "]))";
    case 9:
      return Subquery(type, left, negated, depth);
    case 8:
      // A comparison with the same result at any time.
      return Operator("CURRENT_TIMESTAMP()",
                      draw_.OneIn(2) ? ">" : "<=", "TIMESTAMP '2020-01-01T00:00:00Z'");
    case 0:
      return "(" + left + negated + " IN (" + Make(type, depth, failing) + ", " + Constant(type) +
             "))";
    case 1:
      return "(" + left + negated + " BETWEEN " + Make(type, depth, failing) + " AND " +
             Constant(type) + ")";
    case 2:
      return "(" + left + " IS" + negated + " NULL)";
    default:
      return Operator(left, draw_.Of(kComparisons), Make(type, depth, failing));
  }
}

// A subquery that does not mention the row outside: its names mean its own table. Its expressions do not
// fail, since it is open whether Spanner runs a subquery that IF or COALESCE does not need.
std::string ExpressionMaker::Subquery(Type type, const std::string& left,
                                      const std::string& negated, int depth) {
  if (table_ == nullptr) return Operator(left, "=", "(SELECT " + Constant(type) + ")");
  const std::string from =
      " FROM " + table_->name + " WHERE " + Make(Type::kBool, std::min(depth, 1), Failing::kNever);
  switch (draw_.Below(3)) {
    case 0:
      return "(" + left + negated + " IN (SELECT " + Leaf(type) + from + "))";
    case 1:
      return Operator(left, "=", "(SELECT " + Leaf(type) + from + " ORDER BY 1 LIMIT 1)");
    default:
      return "(NOT EXISTS(SELECT 1" + from + "))";
  }
}

std::string ExpressionMaker::Bool(int depth, Failing failing) {
  const Type text = draw_.Percent(70) ? Type::kString : Type::kBytes;
  switch (draw_.Below(10)) {
    case 0:
      return Operator(Make(Type::kBool, depth, failing), "AND", Make(Type::kBool, depth, failing));
    case 1:
      return Operator(Make(Type::kBool, depth, failing), "OR", Make(Type::kBool, depth, failing));
    case 2:
      return "(NOT " + Make(Type::kBool, depth, failing) + ")";
    case 3:
      return "(" + Make(Type::kBool, depth, failing) + (draw_.OneIn(2) ? " IS" : " IS NOT") +
             (draw_.OneIn(2) ? " TRUE)" : " FALSE)");
    case 4:
      return Operator(Make(text, depth, failing), draw_.OneIn(3) ? "NOT LIKE" : "LIKE",
                      Literal(DrawValue(draw_, text), text));
    case 5:
      return Function(draw_.OneIn(2) ? "STARTS_WITH" : "ENDS_WITH",
                      {Make(text, depth, failing), Make(text, depth, failing)});
    default:
      return Comparison(depth, failing);
  }
}

std::string ExpressionMaker::Int64(int depth, Failing failing) {
  const Type text = draw_.Percent(70) ? Type::kString : Type::kBytes;
  constexpr std::array kUnix = {"UNIX_SECONDS", "UNIX_MILLIS", "UNIX_MICROS"};
  constexpr std::array kSums = {"+", "-", "*"};
  switch (failing == Failing::kNever ? draw_.Below(5) : draw_.Below(11)) {
    case 0:
      return Function(draw_.OneIn(2) ? "LENGTH" : "BYTE_LENGTH", {Make(text, depth, failing)});
    case 1:
      return Function("STRPOS", {Make(text, depth, failing), Make(text, depth, failing)});
    case 2:
      return Cast(Make(Type::kBool, depth, failing), Type::kInt64);
    case 3:
      return Function("TIMESTAMP_DIFF",
                      {FixedTimestamp(), FixedTimestamp(), draw_.Of(kWholeParts)});
    case 4:
      return Function(draw_.Of(kUnix), {FixedTimestamp()});
    case 5:
      return Function("MOD",
                      {Make(Type::kInt64, depth, failing), Make(Type::kInt64, depth, failing)});
    case 6:
      return Function("ABS", {Make(Type::kInt64, depth, failing)});
    case 7: {
      const std::string cast =
          Cast(Make(draw_.OneIn(2) ? Type::kString : Type::kFloat64, depth, failing), Type::kInt64);
      return draw_.OneIn(3) ? cast : "SAFE_" + cast;
    }
    case 8:
      return "(-" + Make(Type::kInt64, depth, failing) + ")";
    default:
      return Operator(Make(Type::kInt64, depth, failing), draw_.Of(kSums),
                      Make(Type::kInt64, depth, failing));
  }
}

std::string ExpressionMaker::Float64(int depth, Failing failing) {
  constexpr std::array kOperators = {"+", "-", "*", "/"};
  switch (failing == Failing::kNever ? draw_.Below(2) : draw_.Below(6)) {
    case 0:
      return Cast(Make(Type::kInt64, depth, failing), Type::kFloat64);
    case 1:
      return Function("ABS", {Make(Type::kFloat64, depth, failing)});
    case 2:
      return "SAFE_" + Cast(Make(Type::kString, depth, failing), Type::kFloat64);
    case 3:
      return Operator(Make(Type::kInt64, depth, failing), "/", Make(Type::kInt64, depth, failing));
    default:
      return Operator(Make(Type::kFloat64, depth, failing), draw_.Of(kOperators),
                      Make(Type::kFloat64, depth, failing));
  }
}

std::string ExpressionMaker::String(int depth, Failing failing) {
  constexpr std::array kPrinted = {Type::kInt64, Type::kFloat64, Type::kBool};
  switch (failing == Failing::kNever ? draw_.Below(5) : draw_.Below(7)) {
    case 0:
      return Operator(Make(Type::kString, depth, failing), "||",
                      Make(Type::kString, depth, failing));
    case 1:
      return Function("CONCAT", {Make(Type::kString, depth, failing), Leaf(Type::kString)});
    case 2:
      return Cast(Make(draw_.Of(kPrinted), depth, failing), Type::kString);
    case 3:
      // ASCII letters only: others are not modelled.
      return Function(draw_.OneIn(2) ? "LOWER" : "UPPER",
                      {Function("IF", {Make(Type::kBool, depth, failing), "'aB1'", "''"})});
    case 4:
      return Function("SUBSTR",
                      {Make(Type::kString, depth, failing), std::to_string(draw_.Between(-3, 3))});
    case 5:
      return Function("SUBSTR",
                      {Make(Type::kString, depth, failing), Make(Type::kInt64, depth, failing),
                       std::to_string(draw_.Between(-1, 3))});
    default:
      return "SAFE_" + Cast(Make(Type::kBytes, depth, failing), Type::kString);
  }
}

std::string ExpressionMaker::Bytes(int depth, Failing failing) {
  switch (draw_.Below(3)) {
    case 0:
      return Operator(Make(Type::kBytes, depth, failing), "||", Make(Type::kBytes, depth, failing));
    case 1:
      return Cast(Make(Type::kString, depth, failing), Type::kBytes);
    default:
      return Function("SUBSTR",
                      {Make(Type::kBytes, depth, failing), std::to_string(draw_.Between(-3, 3)),
                       std::to_string(draw_.Between(0, 2))});
  }
}

std::string ExpressionMaker::FixedTimestamp() {
  // Whole microseconds, since the emulator's TIMESTAMP_DIFF drops nanoseconds.
  Value value = DrawValue(draw_, Type::kTimestamp);
  while (std::get<whorl::Timestamp>(value).nanos() % 1000 != 0) {
    value = DrawValue(draw_, Type::kTimestamp);
  }
  return Write(value, Type::kTimestamp);
}

std::string ExpressionMaker::Timestamp(int depth, Failing failing) {
  if (failing == Failing::kNever) return Leaf(Type::kTimestamp);
  switch (draw_.Below(4)) {
    case 0:
      // Whole microseconds: the emulator drops the rest.
      return Function(
          draw_.OneIn(2) ? "TIMESTAMP_ADD" : "TIMESTAMP_SUB",
          {"TIMESTAMP '2020-02-29T12:34:56.123456Z'",
           "INTERVAL " + Make(Type::kInt64, depth, failing) + " " + draw_.Of(kWholeParts)});
    case 1:
      return Function("TIMESTAMP_MICROS", {Make(Type::kInt64, depth, failing)});
    case 2:
      return "SAFE_" + Cast(Make(Type::kString, 0, failing), Type::kTimestamp);
    default:
      return Leaf(Type::kTimestamp);
  }
}

}  // namespace whorl::differential
