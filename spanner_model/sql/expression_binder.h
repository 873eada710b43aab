// Names, types and implicit coercions of expressions.
//
// Invariants:
//   1. What Bind returns obeys expression.h: every operand has the type that its parent expects,
//      with a coercion node put in where GoogleSQL coerces (INT64 to FLOAT64; the text of a STRING
//      literal or parameter to TIMESTAMP). A literal is coerced at once.
//   2. The first error stays, in Spanner's words.
#pragma once

#include <cstddef>
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

namespace whorl::model {

class ExpressionBinder {
 public:
  // `table` is where names are looked up, nullptr where no column may be mentioned (VALUES).
  // REQUIRES: all of it outlives this.
  ExpressionBinder(std::string_view text, std::span<const Parameter> parameters, const Table* table)
      : text_(text), parameters_(parameters), table_(table) {}

  bool failed() const { return error_.has_value(); }
  Status TakeError() { return std::move(*error_); }
  void Fail(size_t offset, const std::string& message);
  void Fail(Status status);

  // What it returns is of no use once failed().
  Bound Bind(const ast::Expression& expression);

  // Makes `bound` of the type, if GoogleSQL would without a CAST. False when it would not; true
  // when failed(), which a bad text of a timestamp causes.
  bool Coerce(Bound& bound, Type type);

 private:
  Bound BindTimestampLiteral(const ast::Expression& expression);
  Bound BindName(const ast::Expression& expression);
  Bound BindParameter(const ast::Expression& expression);
  Bound BindOperator(const ast::Expression& expression);
  Bound BindComparison(const ast::Expression& expression);
  Bound BindCall(const ast::Expression& call);
  Bound BindCurrentTimestamp(const ast::Expression& call);
  Bound BindStartsWith(const ast::Expression& call);
  Bound BindTimestampDiff(const ast::Expression& call);
  Bound BindTimestampShift(const ast::Expression& call, Op op);

  std::vector<Bound> BindAll(const std::vector<ast::Expression>& expressions);
  bool CoerceAll(std::vector<Bound>& operands, Type type);
  std::optional<DatePart> FindDatePart(const std::string& name, const std::string& function,
                                       size_t offset);
  void FailSignature(const std::string& what, size_t offset, const std::vector<Bound>& operands);

  std::string_view text_;
  std::span<const Parameter> parameters_;
  const Table* table_;
  std::optional<Status> error_;
};

// Spanner's text for a PENDING_COMMIT_TIMESTAMP() that is not the whole value of a column.
Status PendingCommitTimestampMisplaced();

// PENDING_COMMIT_TIMESTAMP(), whatever its arguments.
bool IsPendingCommitTimestamp(const ast::Expression& expression);

}  // namespace whorl::model
