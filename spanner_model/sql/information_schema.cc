#include "spanner_model/sql/information_schema.h"

#include <cstdint>
#include <string>
#include <utility>

#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

// The catalog and the schema of every user's table have empty names.
const std::string kUnnamed;

Value Word(std::string_view text) { return std::string(text); }
Value YesOrNo(bool yes) { return Word(yes ? "YES" : "NO"); }

std::vector<Row> Schemata(const Schema& /*schema*/) {
  return {{kUnnamed, kUnnamed, int64_t{0}, kUnnamed}};
}

std::vector<Row> Tables(const Schema& schema) {
  std::vector<Row> rows;
  for (const Table& table : schema.tables) {
    rows.push_back({kUnnamed, kUnnamed, table.name, Null{}, Null{}, Word("BASE TABLE"),
                    Word("COMMITTED"), Word("IN PARENT"), Null{}});
  }
  return rows;
}

std::vector<Row> Columns(const Schema& schema) {
  std::vector<Row> rows;
  for (const Table& table : schema.tables) {
    int64_t position = 0;
    for (const Column& column : table.columns) {
      rows.push_back({kUnnamed, kUnnamed, table.name, column.name, ++position, Null{}, Null{},
                      YesOrNo(!column.not_null), PrintType(column), Word("NEVER"), Null{}, Null{},
                      Word("COMMITTED"), Word("NO"), Null{}, Null{}, Null{}, Null{}, Null{}});
    }
  }
  return rows;
}

std::vector<Row> ColumnOptions(const Schema& schema) {
  std::vector<Row> rows;
  for (const Table& table : schema.tables) {
    for (const Column& column : table.columns) {
      if (!column.allow_commit_timestamp && !column.denies_commit_timestamp) continue;
      rows.push_back({kUnnamed, kUnnamed, table.name, column.name, Word("allow_commit_timestamp"),
                      Word("BOOL"), Word(column.allow_commit_timestamp ? "TRUE" : "FALSE")});
    }
  }
  return rows;
}

std::vector<Row> Indexes(const Schema& schema) {
  std::vector<Row> rows;
  for (const Table& table : schema.tables) {
    rows.push_back({kUnnamed, kUnnamed, table.name, Word("PRIMARY_KEY"), Word("PRIMARY_KEY"),
                    kUnnamed, true, false, Null{}, false});
  }
  for (const Index& index : schema.indexes) {
    rows.push_back({kUnnamed, kUnnamed, index.table, index.name, Word("INDEX"), kUnnamed, false,
                    index.null_filtered, Word("READ_WRITE"), false});
  }
  return rows;
}

Row IndexColumnRow(const Table& table, const std::string& index, std::string_view kind,
                   const Column& column, Value position, Value ordering) {
  return {kUnnamed,
          kUnnamed,
          table.name,
          index,
          Word(kind),
          column.name,
          std::move(position),
          std::move(ordering),
          YesOrNo(!column.not_null),
          PrintType(column)};
}

std::vector<Row> IndexColumns(const Schema& schema) {
  std::vector<Row> rows;
  for (const Table& table : schema.tables) {
    int64_t position = 0;
    for (const uint32_t key : table.key) {
      rows.push_back(IndexColumnRow(table, "PRIMARY_KEY", "PRIMARY_KEY", table.columns[key],
                                    ++position, Word("ASC")));
    }
  }
  for (const Index& index : schema.indexes) {
    const Table& table = schema.tables[*schema.FindTable(index.table)];
    int64_t position = 0;
    for (const IndexColumn& one : index.columns) {
      rows.push_back(IndexColumnRow(table, index.name, "INDEX",
                                    table.columns[*table.FindColumn(one.name)], ++position,
                                    Word(one.descending ? "DESC" : "ASC")));
    }
    for (const std::string& name : index.stored) {
      rows.push_back(IndexColumnRow(table, index.name, "INDEX",
                                    table.columns[*table.FindColumn(name)], Null{}, Null{}));
    }
  }
  return rows;
}

std::vector<Row> DatabaseOptions(const Schema& /*schema*/) {
  return {
      {kUnnamed, kUnnamed, Word("database_dialect"), Word("STRING"), Word("GOOGLE_STANDARD_SQL")}};
}

struct SystemTableRow {
  std::string_view name;
  // The columns; all are STRING, except those that begin with # (INT64) or ? (BOOL).
  std::vector<std::string_view> columns;
  std::vector<Row> (*rows)(const Schema& schema);
};

const std::vector<SystemTableRow>& SystemTables() {
  static const std::vector<SystemTableRow> tables = {
      {"SCHEMATA",
       {"CATALOG_NAME", "SCHEMA_NAME", "#EFFECTIVE_TIMESTAMP", "SCHEMA_OWNER"},
       Schemata},
      {"TABLES",
       {"TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "PARENT_TABLE_NAME", "ON_DELETE_ACTION",
        "TABLE_TYPE", "SPANNER_STATE", "INTERLEAVE_TYPE", "ROW_DELETION_POLICY_EXPRESSION"},
       Tables},
      {"COLUMNS",
       {"TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME", "#ORDINAL_POSITION",
        "COLUMN_DEFAULT", "DATA_TYPE", "IS_NULLABLE", "SPANNER_TYPE", "IS_GENERATED",
        "GENERATION_EXPRESSION", "IS_STORED", "SPANNER_STATE", "IS_IDENTITY", "IDENTITY_GENERATION",
        "IDENTITY_KIND", "IDENTITY_START_WITH_COUNTER", "IDENTITY_SKIP_RANGE_MIN",
        "IDENTITY_SKIP_RANGE_MAX"},
       Columns},
      {"COLUMN_OPTIONS",
       {"TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME", "OPTION_NAME", "OPTION_TYPE",
        "OPTION_VALUE"},
       ColumnOptions},
      {"INDEXES",
       {"TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "INDEX_NAME", "INDEX_TYPE",
        "PARENT_TABLE_NAME", "?IS_UNIQUE", "?IS_NULL_FILTERED", "INDEX_STATE",
        "?SPANNER_IS_MANAGED"},
       Indexes},
      {"INDEX_COLUMNS",
       {"TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "INDEX_NAME", "INDEX_TYPE", "COLUMN_NAME",
        "#ORDINAL_POSITION", "COLUMN_ORDERING", "IS_NULLABLE", "SPANNER_TYPE"},
       IndexColumns},
      {"DATABASE_OPTIONS",
       {"CATALOG_NAME", "SCHEMA_NAME", "OPTION_NAME", "OPTION_TYPE", "OPTION_VALUE"},
       DatabaseOptions},
  };
  return tables;
}

}  // namespace

std::optional<SystemTable> FindSystemTable(const Schema& schema, std::string_view schema_name,
                                           std::string_view table_name) {
  if (!EqualIgnoringCase(schema_name, "INFORMATION_SCHEMA")) return std::nullopt;
  for (const SystemTableRow& known : SystemTables()) {
    if (!EqualIgnoringCase(known.name, table_name)) continue;
    SystemTable found = {.table = {.name = std::string(known.name)}, .rows = known.rows(schema)};
    for (std::string_view name : known.columns) {
      Column column;
      if (name.starts_with('#')) column.type = Type::kInt64;
      if (name.starts_with('?')) column.type = Type::kBool;
      if (column.type != Type::kString) name.remove_prefix(1);
      column.name = name;
      found.table.columns.push_back(std::move(column));
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace whorl::model
