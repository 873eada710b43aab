// Represents a bound expression, and evaluates it over one row.
//
// Invariants:
//   1. An Expression is immutable and shared by every evaluation. Its nodes stand in pre-order: the
//      root is nodes[0], a node's first operand follows it, and `next` leads to the next operand.
//   2. Types were checked by the binder: every operand of a node is NULL or of the type that the
//      node expects, so evaluation asks no types. This holds for parameters that passed
//      CheckParameters and for rows of the table that the expression was bound to.
//   3. Evaluation copies no stored value: the result is a column, a parameter, a literal, or, if it
//      was computed, the caller's scratch. Only nodes that compute a STRING or BYTES, or call a
//      function of functions.h, allocate.
//   4. A NULL operand makes the result NULL, except for AND, OR, NOT, IN and BETWEEN
//      (three-valued), IS, IF, COALESCE and NULLIF. All operands of AND and OR are evaluated, so
//      that an error in any of them shows, as on the emulator (the documentation promises no
//      order); IF and COALESCE evaluate no more than they need.
// Deliberately left out: subqueries that mention the row outside, bit operators and structs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"

namespace whorl::model {

enum class Op : uint8_t {
  kLiteral,    // index into literals
  kParameter,  // index into the statement's parameters
  kSubquery,   // likewise: the values of subqueries stand after the parameters
  kColumn,     // index into the row
  kAggregate,  // index into the row, which holds the values of a group, then the aggregates
  kCurrentTimestamp,
  kAnd,  // two operands or more
  kOr,   // two operands or more
  kNot,
  kIsNull,
  kIsNotNull,
  kIsTrue,   // never NULL
  kIsFalse,  // never NULL
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kBetween,  // (value, low, high)
  kIn,       // (value, one candidate or more)
  kInArray,  // (value, ARRAY of its type)
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,
  kConcat,            // one operand or more, all STRING or all BYTES
  kIf,                // (condition, then, else)
  kCoalesce,          // one operand or more; IFNULL too
  kNullIf,            // (value, value)
  kGreatest,          // one operand or more
  kLeast,             // one operand or more
  kCast,              // from operand_type to the Type that index is
  kSafeCast,          // the same, NULL instead of an error of the cast
  kFunction,          // index into ScalarFunctions()
  kTimestampDiff,     // (a, b), part
  kTimestampAdd,      // (timestamp, amount), part
  kTimestampSub,      // (timestamp, amount), part
  kStartsWith,        // (text, prefix), both STRING or both BYTES
  kArrayLength,       // (ARRAY)
  kMakeArray,         // as many operands as index, all of one type
  kInt64ToFloat64,    // implicit coercion
  kStringToTimestamp  // implicit coercion of a STRING parameter
};

enum class DatePart : uint8_t {
  kNanosecond,
  kMicrosecond,
  kMillisecond,
  kSecond,
  kMinute,
  kHour,
  kDay
};

struct ExpressionNode {
  Op op = Op::kLiteral;
  // The operands' type, for a comparison, IN, BETWEEN, arithmetic, NULLIF, a cast, a concatenation
  // and STARTS_WITH.
  Type operand_type = Type::kBool;
  DatePart part = DatePart::kNanosecond;
  uint32_t index = 0;
  uint32_t next = 0;  // the next operand of the same parent, 0 after the last
  WHORL_FIELDS(ExpressionNode, op, operand_type, part, index, next);
};

struct Expression {
  std::vector<ExpressionNode> nodes;
  std::vector<Value> literals;
  WHORL_FIELDS(Expression, nodes, literals);
};

// The inputs of one evaluation. `row` has the columns in the order of the table; it may be empty
// for an expression without columns (a key, a prefix, a value of INSERT).
struct EvaluationContext {
  std::span<const Value> parameters;
  std::span<const Value> row;
  Timestamp current_timestamp;  // fixed for the statement
};

// The value of the expression, or nullptr if evaluation failed; only then is `error` set (so that
// success builds no Status). The result is valid as long as the expression, the context's spans and
// `scratch` are; `scratch` may be overwritten in any case.
// REQUIRES: the expression is not empty; invariant 2.
const Value* Evaluate(const Expression& expression, const EvaluationContext& context,
                      Value& scratch, Status& error);

enum class Match : uint8_t { kNo, kYes, kError };

// Whether a WHERE keeps the row: only TRUE does, FALSE and NULL do not.
// REQUIRES: as above, and the expression is BOOL.
Match Matches(const Expression& filter, const EvaluationContext& context, Status& error);

// Whether the value has the type. REQUIRES: it is not NULL.
bool FitsType(Type type, const Value& value);

// Establishes invariant 2 for a statement that arrives: OK if there are as many values as
// parameters and each is NULL or has the declared type, otherwise INVALID_ARGUMENT.
Status CheckParameters(std::span<const Parameter> parameters, std::span<const Value> values);

}  // namespace whorl::model
