// Makes the tables of INFORMATION_SCHEMA that tools ask for: SCHEMATA, TABLES, COLUMNS, COLUMN_OPTIONS, INDEXES,
// INDEX_COLUMNS and DATABASE_OPTIONS. They list the tables of the database, not those of
// INFORMATION_SCHEMA itself. Columns and values are those of the official emulator.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "protocol/spanner/mutation.h"
#include "spanner_model/schema.h"

namespace whorl::model {

struct SystemTable {
  Table table;
  std::vector<Row> rows;
};

// Empty if there is no such schema or table, or it is not modelled.
std::optional<SystemTable> FindSystemTable(const Schema& schema, std::string_view schema_name,
                                           std::string_view table_name);

}  // namespace whorl::model
