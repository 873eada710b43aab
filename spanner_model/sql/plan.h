// Represents a statement that is bound to a schema, for the database to execute.
//
// Invariants:
//   1. A Plan is immutable and refers to tables and columns by index into the Schema that it was
//      compiled against; it holds no pointers and no state of a run.
//   2. `access` only narrows the search: `filter` holds the whole WHERE and is evaluated for every
//      row found, so treating every access as kAll gives the same rows.
//   3. `reads` holds every column that an expression of the statement mentions, key columns
//      included. It does not hold what only the access path reads (the existence of a row), nor a
//      column that THEN RETURN only returns as the statement wrote it.
// Deliberately left out: joins, and subqueries that mention the row outside.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/mutation.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "spanner_model/sql/expression.h"

namespace whorl::model {

// Column indexes of one table, as bits (Schema keeps them below 64).
class ColumnSet {
 public:
  constexpr ColumnSet() = default;
  constexpr void Add(uint32_t column) { bits_ |= uint64_t{1} << column; }
  constexpr void AddAll(ColumnSet other) { bits_ |= other.bits_; }
  constexpr ColumnSet Without(ColumnSet other) const {
    ColumnSet rest;
    rest.bits_ = bits_ & ~other.bits_;
    return rest;
  }
  constexpr bool Contains(uint32_t column) const { return (bits_ >> column & 1) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(ColumnSet, ColumnSet) = default;

 private:
  uint64_t bits_ = 0;
};

// The part of the table in which the statement's rows can be.
//   kAll     anywhere in the table
//   kKey     WHERE holds `key column = expression` for every column of the key
//   kPrefix  WHERE holds STARTS_WITH(key column, expression) and the key is that STRING alone
//   kNothing there is no table: a SELECT without FROM
//   kGiven   the rows stand in the plan: those of INFORMATION_SCHEMA
// The expressions mention no columns and have the type of their key column. If one is NULL, no row
// can match.
enum class AccessKind : uint8_t { kAll, kKey, kPrefix, kNothing, kGiven };

struct Access {
  AccessKind kind = AccessKind::kAll;
  std::vector<Expression> key;  // kKey: one for each column of the table's key, in its order
  Expression prefix;            // kPrefix
  bool is_filter = false;  // kKey: the row with this key matches, so nothing else has to be tested
  WHORL_FIELDS(Access, kind, key, prefix, is_filter);
};

struct Output {
  std::string name;  // the alias, else the column's name as written, else empty
  Type type = Type::kInt64;
  Expression expression;
  WHORL_FIELDS(Output, name, type, expression);
};

struct Assignment {
  uint32_t column = 0;
  // The value is PENDING_COMMIT_TIMESTAMP(), and `expression` is empty.
  bool pending_commit_timestamp = false;
  Expression expression;
  WHORL_FIELDS(Assignment, column, pending_commit_timestamp, expression);
};

enum class AggregateKind : uint8_t { kCountRows, kCount, kMin, kMax, kSum };

struct Aggregate {
  AggregateKind kind = AggregateKind::kCountRows;
  Expression argument;  // empty for kCountRows
  WHORL_FIELDS(Aggregate, kind, argument);
};

struct OrderKey {
  Expression expression;
  bool descending = false;
  WHORL_FIELDS(OrderKey, expression, descending);
};

// What a statement takes from a subquery: whether it has rows, the value of its only row (NULL without
// one), or all values. Subqueries run before the statement, in their order; one may use the values of
// those before it.
enum class SubqueryUse : uint8_t { kExists, kValue, kArray };

struct SelectPlan;
struct Subquery {
  SubqueryUse use = SubqueryUse::kExists;
  std::shared_ptr<const SelectPlan> plan;
  WHORL_FIELDS(Subquery, use, plan);
};

// A grouped query has one row for each group, or one row if there are no groups: outputs, `having` and
// `order` are expressions over the group's values and the aggregates (Op::kAggregate) instead of over
// rows of the table. DISTINCT groups by all outputs.
struct SelectPlan {
  uint32_t table = 0;  // meaningless if access is kNothing or kGiven
  Access access;
  std::optional<Expression> filter;
  bool is_grouped = false;
  std::vector<Expression> groups;  // over rows of the table
  std::vector<Aggregate> aggregates;
  std::optional<Expression> having;
  std::vector<Output> outputs;
  std::vector<OrderKey> order;
  std::optional<Expression> limit;   // an INT64 without columns
  std::optional<Expression> offset;  // likewise
  ColumnSet reads;
  std::vector<Row> given;            // for kGiven
  std::vector<Subquery> subqueries;  // of the whole statement, unless this is one
  WHORL_FIELDS(SelectPlan, table, access, filter, is_grouped, groups, aggregates, having, outputs,
               order, limit, offset, reads, given, subqueries);
};

// INSERT of a row whose key exists: fails, updates the row, or skips it.
enum class InsertMode : uint8_t { kInsert, kInsertOrUpdate, kInsertOrIgnore };

struct InsertPlan {
  InsertMode mode = InsertMode::kInsert;
  uint32_t table = 0;
  std::vector<uint32_t> columns;              // as the statement lists them
  std::vector<std::vector<Assignment>> rows;  // each in the order of `columns`; or
  std::optional<SelectPlan> source;           // whose outputs are in that order
  std::vector<Output> returning;              // over the row as written
  // Columns that THEN RETURN returns from a row that INSERT OR UPDATE updates; VALUES reads none.
  ColumnSet reads;
  ColumnSet writes;
  std::vector<Subquery> subqueries;
  WHORL_FIELDS(InsertPlan, mode, table, columns, rows, source, returning, reads, writes,
               subqueries);
};

// The expressions of all assignments see the row as it was before the statement.
struct UpdatePlan {
  uint32_t table = 0;
  Access access;
  Expression filter;
  std::vector<Assignment> assignments;
  std::vector<Output> returning;  // over the row as written
  ColumnSet reads;
  ColumnSet writes;
  std::vector<Subquery> subqueries;
  WHORL_FIELDS(UpdatePlan, table, access, filter, assignments, returning, reads, writes,
               subqueries);
};

struct DeletePlan {
  uint32_t table = 0;
  Access access;
  Expression filter;
  std::vector<Output> returning;  // over the row as it was
  ColumnSet reads;
  std::vector<Subquery> subqueries;
  WHORL_FIELDS(DeletePlan, table, access, filter, returning, reads, subqueries);
};

using Plan = std::variant<SelectPlan, InsertPlan, UpdatePlan, DeletePlan>;

// The outputs that make a row of the result: those of the query or of THEN RETURN; none for other
// DML.
const std::vector<Output>& OutputsOf(const Plan& plan);

// INVALID_ARGUMENT: the column holds a PENDING_COMMIT_TIMESTAMP() and may not be read.
Status PendingColumnError(const std::string& column);

struct ResultColumn {
  std::string name;
  Type type = Type::kInt64;
  WHORL_FIELDS(ResultColumn, name, type);
};
std::vector<ResultColumn> ResultColumns(const Plan& plan);

}  // namespace whorl::model
