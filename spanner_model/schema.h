// Tables as the database and the SQL binder see them, and the CREATE TABLE text that makes them.
//
// Invariants:
//   1. A Schema is an immutable value: plans hold indexes of its tables and columns, so it does not
//      change under them.
//   2. Names keep the case in which they were written and are looked up without regard to it, as
//      GoogleSQL does (ASCII letters; identifiers have no others). No two columns of a table, and
//      no two tables of a schema, have names that differ in case only.
//   3. A table has at most kMaxColumns columns, so that a set of columns is one word, and every
//      entry of `key` is the index of one of them.
// Deliberately left out: interleaving, secondary and foreign keys, DEFAULT, generated columns,
// descending keys, row deletion policies, ALTER TABLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"

namespace whorl::model {

inline constexpr size_t kMaxColumns = 64;

struct Column {
  std::string name;
  Type type = Type::kString;
  bool not_null = false;
  bool allow_commit_timestamp = false;
  // Characters of a STRING(n), bytes of a BYTES(n); nothing for MAX and for other types.
  std::optional<int64_t> max_length;
  WHORL_FIELDS(Column, name, type, not_null, allow_commit_timestamp, max_length);
};

struct Table {
  std::string name;
  std::vector<Column> columns;
  std::vector<uint32_t> key;  // indexes into columns, in the order of PRIMARY KEY (...)

  std::optional<uint32_t> FindColumn(std::string_view column_name) const;
  bool IsKey(uint32_t column) const;
  WHORL_FIELDS(Table, name, columns, key);
};

struct Schema {
  std::vector<Table> tables;

  std::optional<uint32_t> FindTable(std::string_view table_name) const;
  WHORL_FIELDS(Schema, tables);
};

// The table of one CREATE TABLE statement (a trailing semicolon is allowed), or INVALID_ARGUMENT
// with `Error parsing Spanner DDL statement: ...` that names the line and column.
std::variant<Table, Status> ParseCreateTable(std::string_view text);

}  // namespace whorl::model
