// Resolves names and types of expressions and inserts implicit coercions.
//
// Invariants:
//   1. What Bind returns obeys expression.h: every operand has the type that its parent expects,
//      with a coercion node put in where GoogleSQL coerces (INT64 to FLOAT64; the text of a STRING
//      literal or parameter to TIMESTAMP). A literal is coerced at once.
//   2. The first error stays, in Spanner's words.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "spanner_model/schema.h"
#include "spanner_model/sql/ast.h"
#include "spanner_model/sql/bound.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// A parameter that the text mentions and does not declare, with the type at which it is used.
struct InferredParameter {
  std::string name;  // in the case of its first mention
  std::optional<Type> type;
};

struct StatementContext;

// An output of a query, which ORDER BY may name.
struct BoundOutput {
  std::string name;
  Bound bound;
};

// An expression of GROUP BY.
struct GroupKey {
  const ast::Expression* expression = nullptr;
  Bound bound;
};

class ExpressionBinder {
 public:
  // Columns are looked up in `table`; nullptr if none may be mentioned (VALUES).
  // REQUIRES: the arguments outlive this.
  // `qualifier` is the word that may stand before a column's name and a dot.
  ExpressionBinder(const StatementContext& context, const Table* table, std::string qualifier);
  // From now on, aggregates are added to `aggregates`, and columns may occur only inside of them.
  void AggregateInto(std::vector<Aggregate>* aggregates) { aggregates_ = aggregates; }
  // From now on, these expressions mean the group's values, which stand before the aggregates.
  // REQUIRES: AggregateInto was called, and no aggregate is bound yet, or there are none.
  void GroupBy(std::span<const GroupKey> keys) { groups_ = keys; }
  // From now on, a name may mean one of the outputs, which hide columns.
  void LookInto(std::span<const BoundOutput> outputs);

  // Whether `qualifier` may stand before the name of a column; fails if not. Empty may.
  bool Qualifies(const std::string& qualifier, size_t offset);

  bool failed() const { return error_.has_value(); }
  Status TakeError() { return std::move(*error_); }
  void Fail(size_t offset, const std::string& message);
  void Fail(Status status);

  // The result is meaningless once failed().
  Bound Bind(const ast::Expression& expression);

  // Coerces `bound` to the type. False if GoogleSQL would need a CAST for that; true also if
  // failed(), which the text of an invalid timestamp causes.
  bool Coerce(Bound& bound, Type type);

  // Makes an expression without a type INT64, as in a result.
  void DefaultToInt64(Bound& bound);

 private:
  Bound BindTypedLiteral(const ast::Expression& expression);
  Bound BindName(const ast::Expression& expression);
  std::span<const size_t> OutputsNamed(const std::string& name);
  Bound BindParameter(const ast::Expression& expression);
  Bound TooManyParameters();
  Bound BindOperator(const ast::Expression& expression);
  Bound BindLogical(const ast::Expression& expression, std::vector<Bound> operands);
  Bound BindArithmetic(const ast::Expression& expression, std::vector<Bound> operands);
  Bound BindComparison(const ast::Expression& expression, std::vector<Bound> operands);
  Bound BindConcatenation(const std::string& what, size_t offset, std::vector<Bound> operands);
  Bound BindCast(const ast::Expression& cast);
  Bound BindArray(const ast::Expression& array);
  Bound BindInArray(const ast::Expression& expression, std::vector<Bound> operands);
  Bound BindSubquery(const ast::Expression& subquery);
  bool IsOutside(const std::string& name, const std::string& qualifier) const;

  // call_binder.cc.
  Bound BindCall(const ast::Expression& call);
  Bound BindArrayLength(const ast::Expression& call);
  Bound BindCurrentTimestamp(const ast::Expression& call);
  Bound BindStartsWith(const ast::Expression& call);
  Bound BindTimestampDiff(const ast::Expression& call);
  Bound BindTimestampAdd(const ast::Expression& call);
  Bound BindTimestampSub(const ast::Expression& call);
  Bound BindTimestampShift(const ast::Expression& call, Op op);
  void CastText(Bound& constant, Type type);
  Bound BindIf(const ast::Expression& call);
  Bound BindCoalesce(const ast::Expression& call);
  Bound BindIfNull(const ast::Expression& call);
  Bound BindNullIf(const ast::Expression& call);
  Bound BindGreatest(const ast::Expression& call);
  Bound BindLeast(const ast::Expression& call);
  Bound BindConcat(const ast::Expression& call);
  Bound BindOfOneType(const ast::Expression& call, Op op, std::vector<Bound> arguments);
  Bound BindFunction(const std::string& name, const std::string& what, size_t offset,
                     std::vector<Bound> arguments);
  Bound BindAggregate(const ast::Expression& call);

  std::vector<Bound> BindAll(const std::vector<ast::Expression>& expressions);
  static bool CanCoerce(const Bound& bound, Type type);
  bool CoerceAll(std::span<Bound> operands, Type type);
  void CoerceByCast(Bound& bound, Type type);
  void Infer(Bound& parameter, Type type);
  std::optional<DatePart> FindDatePart(const std::string& name, const std::string& function,
                                       size_t offset);
  void RefuseNullLiterals(std::string_view op, const std::vector<Bound>& operands);
  void FailSignature(const std::string& what, size_t offset, std::span<const Bound> operands);

  const StatementContext& context_;
  std::string_view text_;
  std::span<const Parameter> parameters_;
  const Table* table_;
  std::string qualifier_;
  std::span<const GroupKey> groups_;
  std::span<const BoundOutput> outputs_;
  std::map<std::string, std::vector<size_t>> places_of_outputs_;  // by the name in capitals
  std::vector<InferredParameter>* inferred_ = nullptr;
  std::vector<Aggregate>* aggregates_ = nullptr;
  bool inside_aggregate_ = false;
  std::optional<Status> error_;
};

// Spanner's error for a PENDING_COMMIT_TIMESTAMP() that is not the whole value of a column.
Status PendingCommitTimestampMisplaced();

// Whether the expression is a call of PENDING_COMMIT_TIMESTAMP, with any arguments.
bool IsPendingCommitTimestamp(const ast::Expression& expression);

// Whether the expression contains an aggregate.
bool HasAggregate(const ast::Expression& expression);

}  // namespace whorl::model
