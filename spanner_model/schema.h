// Defines tables as the database and the SQL binder see them, and the DDL that changes them.
//
// Invariants:
//   1. A Schema is an immutable value, since plans hold indexes of its tables and columns.
//   2. Names keep the case in which they were written and are looked up without regard to it, as
//      GoogleSQL does (ASCII letters; identifiers have no others). No two columns of a table, and
//      no two tables of a schema, have names that differ in case only.
//   3. A table has at most kMaxColumns columns, so that a set of columns is one word, and every
//      entry of `key` is the index of one of them.
//   4. An index is a name: it changes no result and no lock, since no statement here reads by one.
// Deliberately left out: interleaving, foreign keys, UNIQUE indexes, DEFAULT, generated columns,
// descending and empty keys, row deletion policies, ALTER COLUMN.
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
// Spanner's limits for the length of a STRING, in characters, and of a BYTES, also with MAX.
inline constexpr int64_t kMaxStringLength = 2'621'440;
inline constexpr int64_t kMaxBytesLength = 10'485'760;

struct Column {
  std::string name;
  Type type = Type::kString;
  bool not_null = false;
  bool allow_commit_timestamp = false;
  // The n of STRING(n), in characters, or BYTES(n); empty for MAX and for other types.
  std::optional<int64_t> max_length;
  // OPTIONS (allow_commit_timestamp = false) was written, which PrintDdl repeats.
  bool denies_commit_timestamp = false;
  WHORL_FIELDS(Column, name, type, not_null, allow_commit_timestamp, max_length,
               denies_commit_timestamp);
};

struct Table {
  std::string name;
  std::vector<Column> columns;
  std::vector<uint32_t> key;  // indexes into columns, in the order of PRIMARY KEY (...)

  std::optional<uint32_t> FindColumn(std::string_view column_name) const;
  bool IsKey(uint32_t column) const;
  WHORL_FIELDS(Table, name, columns, key);
};

struct IndexColumn {
  std::string name;
  bool descending = false;
  WHORL_FIELDS(IndexColumn, name, descending);
};

struct Index {
  std::string name;
  std::string table;
  std::vector<IndexColumn> columns;
  std::vector<std::string> stored;  // STORING
  bool null_filtered = false;
  WHORL_FIELDS(Index, name, table, columns, stored, null_filtered);
};

struct Schema {
  std::vector<Table> tables;
  std::vector<Index> indexes = {};

  std::optional<uint32_t> FindTable(std::string_view table_name) const;
  WHORL_FIELDS(Schema, tables, indexes);
};

struct CreateTable {
  Table table;
  bool if_not_exists = false;
  WHORL_FIELDS(CreateTable, table, if_not_exists);
};
struct DropTable {
  std::string name;
  bool if_exists = false;
  WHORL_FIELDS(DropTable, name, if_exists);
};
struct AddColumn {
  std::string table;
  Column column;
  bool if_not_exists = false;
  WHORL_FIELDS(AddColumn, table, column, if_not_exists);
};
struct DropColumn {
  std::string table;
  std::string column;
  WHORL_FIELDS(DropColumn, table, column);
};
struct CreateIndex {
  Index index;
  bool if_not_exists = false;
  WHORL_FIELDS(CreateIndex, index, if_not_exists);
};
struct DropIndex {
  std::string name;
  bool if_exists = false;
  WHORL_FIELDS(DropIndex, name, if_exists);
};
using DdlStatement =
    std::variant<CreateTable, DropTable, AddColumn, DropColumn, CreateIndex, DropIndex>;

// Parses one statement without a semicolon. INVALID_ARGUMENT with `Error parsing Spanner DDL
// statement: ...`, line and column, or with the part that is not modelled; FAILED_PRECONDITION for
// a table that contradicts itself.
std::variant<DdlStatement, Status> ParseDdl(std::string_view text);

// The table of one CREATE TABLE statement; a trailing semicolon is allowed. Errors as above.
std::variant<Table, Status> ParseCreateTable(std::string_view text);

// The schema after the statement. What is new is added last; what stands after a dropped table or column
// moves up by one, which changes its index. FAILED_PRECONDITION if the name exists already (case is
// ignored) or something else uses what is dropped, NOT_FOUND if there is nothing of the name (case
// counts, as on the emulator).
std::variant<Schema, Status> ApplyDdl(Schema schema, const DdlStatement& statement);

// The CREATE statements as Spanner's GetDatabaseDdl prints them.
std::string PrintDdl(const Table& table);
std::string PrintDdl(const Index& index);

// The type of a column as DDL writes it: STRING(MAX), ARRAY<INT64>.
std::string PrintType(const Column& column);

}  // namespace whorl::model
