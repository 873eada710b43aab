// What the database executes: a statement bound to a schema.
//
// Invariants:
//   1. A Plan is immutable and refers to tables and columns by index into the Schema that it was
//      compiled against; it holds no pointers, and nothing of a run.
//   2. `access` only narrows where to look: the whole WHERE is in `filter` and is still evaluated
//      for every row found, so treating every access as kAll gives the same rows.
//   3. `reads` holds every column that some expression of the statement mentions, key columns
//      included; what an access path alone reads (the existence of a row) is not in it.
// Deliberately left out: ORDER BY, LIMIT, joins, aggregates, THEN RETURN, INSERT OR UPDATE.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/value.h"
#include "spanner_model/sql/expression.h"

namespace whorl::model {

// Column indexes of one table, as bits (Schema keeps them below 64).
class ColumnSet {
 public:
  constexpr ColumnSet() = default;
  constexpr void Add(uint32_t column) { bits_ |= uint64_t{1} << column; }
  constexpr void AddAll(ColumnSet other) { bits_ |= other.bits_; }
  constexpr bool Contains(uint32_t column) const { return (bits_ >> column & 1) != 0; }
  constexpr bool Intersects(ColumnSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(ColumnSet, ColumnSet) = default;

 private:
  uint64_t bits_ = 0;
};

// Where the rows of a statement can be.
//   kAll     anywhere in the table
//   kKey     WHERE holds `key column = expression` for every column of the key
//   kPrefix  WHERE holds STARTS_WITH(key column, expression) and the key is that STRING alone
// The expressions mention no columns and have the type of their key column; one that is NULL means
// that no row can match.
enum class AccessKind : uint8_t { kAll, kKey, kPrefix };

struct Access {
  AccessKind kind = AccessKind::kAll;
  std::vector<Expression> key;  // kKey: one for each column of the table's key, in its order
  Expression prefix;            // kPrefix
  WHORL_FIELDS(Access, kind, key, prefix);
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

struct SelectPlan {
  uint32_t table = 0;
  Access access;
  std::optional<Expression> filter;
  std::vector<Output> outputs;
  ColumnSet reads;
  WHORL_FIELDS(SelectPlan, table, access, filter, outputs, reads);
};

struct InsertPlan {
  uint32_t table = 0;
  std::vector<uint32_t> columns;              // as the statement lists them
  std::vector<std::vector<Assignment>> rows;  // each in the order of `columns`
  ColumnSet reads;                            // empty: VALUES cannot mention columns
  ColumnSet writes;
  WHORL_FIELDS(InsertPlan, table, columns, rows, reads, writes);
};

// The expressions of all assignments see the row as it was before the statement.
struct UpdatePlan {
  uint32_t table = 0;
  Access access;
  Expression filter;
  std::vector<Assignment> assignments;
  ColumnSet reads;
  ColumnSet writes;
  WHORL_FIELDS(UpdatePlan, table, access, filter, assignments, reads, writes);
};

struct DeletePlan {
  uint32_t table = 0;
  Access access;
  Expression filter;
  ColumnSet reads;
  WHORL_FIELDS(DeletePlan, table, access, filter, reads);
};

using Plan = std::variant<SelectPlan, InsertPlan, UpdatePlan, DeletePlan>;

}  // namespace whorl::model
