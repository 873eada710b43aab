#include "spanner_model/schema.h"

#include <algorithm>

#include "spanner_model/sql/lexer.h"
#include "spanner_model/sql/words.h"

namespace whorl::model {
namespace {

template <typename T>
std::optional<uint32_t> FindByName(const std::vector<T>& all, std::string_view name) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (EqualIgnoringCase(all[i].name, name)) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

// The name as DDL writes it, in backquotes if it would be a keyword.
std::string Quoted(const std::string& name) {
  return IsReserved(ToCapitals(name)) ? "`" + name + "`" : name;
}

std::string PrintType(const Column& column) {
  std::string text(WordOf(column.type));
  if (column.type != Type::kString && column.type != Type::kBytes) return text;
  return text + "(" + (column.max_length ? std::to_string(*column.max_length) : "MAX") + ")";
}

std::string PrintColumn(const Column& column) {
  std::string text = "  " + Quoted(column.name) + " " + PrintType(column);
  if (column.not_null) text += " NOT NULL";
  if (column.allow_commit_timestamp || column.denies_commit_timestamp) {
    text += std::string(" OPTIONS (\n    allow_commit_timestamp = ") +
            (column.allow_commit_timestamp ? "true" : "false") + "\n  )";
  }
  return text + ",\n";
}

}  // namespace

std::optional<uint32_t> Table::FindColumn(std::string_view column_name) const {
  return FindByName(columns, column_name);
}

bool Table::IsKey(uint32_t column) const {
  return std::find(key.begin(), key.end(), column) != key.end();
}

std::optional<uint32_t> Schema::FindTable(std::string_view table_name) const {
  return FindByName(tables, table_name);
}

std::variant<Schema, Status> ApplyDdl(Schema schema, const DdlStatement& statement) {
  if (const auto* create = std::get_if<CreateTable>(&statement)) {
    if (!schema.FindTable(create->table.name)) {
      schema.tables.push_back(create->table);
    } else if (!create->if_not_exists) {
      return Error(Code::kFailedPrecondition,
                   "Duplicate name in schema: " + create->table.name + ".");
    }
    return schema;
  }
  const auto& drop = std::get<DropTable>(statement);
  const auto table = std::find_if(schema.tables.begin(), schema.tables.end(),
                                  [&](const Table& other) { return other.name == drop.name; });
  if (table != schema.tables.end()) {
    schema.tables.erase(table);
  } else if (!drop.if_exists) {
    return Error(Code::kNotFound, "Table not found: " + drop.name);
  }
  return schema;
}

std::string PrintDdl(const Table& table) {
  std::string text = "CREATE TABLE " + Quoted(table.name) + " (\n";
  for (const Column& column : table.columns) text += PrintColumn(column);
  text += ") PRIMARY KEY(";
  for (size_t i = 0; i < table.key.size(); ++i) {
    if (i > 0) text += ", ";
    text += Quoted(table.columns[table.key[i]].name);
  }
  return text + ")";
}

}  // namespace whorl::model
