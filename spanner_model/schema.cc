#include "spanner_model/schema.h"

#include <algorithm>
#include <utility>
#include <variant>

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

std::string PrintColumn(const Column& column) {
  std::string text = "  " + Quoted(column.name) + " " + PrintType(column);
  if (column.not_null) text += " NOT NULL";
  if (column.allow_commit_timestamp || column.denies_commit_timestamp) {
    text += std::string(" OPTIONS (\n    allow_commit_timestamp = ") +
            (column.allow_commit_timestamp ? "true" : "false") + "\n  )";
  }
  return text + ",\n";
}

bool Uses(const Index& index, const std::string& column) {
  return std::any_of(index.columns.begin(), index.columns.end(),
                     [&](const IndexColumn& one) { return one.name == column; }) ||
         std::find(index.stored.begin(), index.stored.end(), column) != index.stored.end();
}

// The one whose name is this, with its case, or null.
template <typename T>
T* FindExactly(std::vector<T>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const T& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// Applies one statement, or sets `status`.
struct DdlApplier {
  Schema schema;
  Status status = {};

  void Fail(Code code, std::string message) { status = Error(code, std::move(message)); }
  bool IsTaken(const std::string& name) const {
    return schema.FindTable(name) || FindByName(schema.indexes, name);
  }
  // Names count with their case here.
  Table* FindTable(const std::string& name) {
    Table* table = FindExactly(schema.tables, name);
    if (table == nullptr) Fail(Code::kNotFound, "Table not found: " + name);
    return table;
  }

  void operator()(const CreateTable& create) {
    if (!IsTaken(create.table.name)) {
      schema.tables.push_back(create.table);
    } else if (!create.if_not_exists) {
      Fail(Code::kFailedPrecondition, "Duplicate name in schema: " + create.table.name + ".");
    }
  }
  void operator()(const DropTable& drop) {
    const Table* table = FindTable(drop.name);
    if (table == nullptr) {
      if (drop.if_exists) status = {};
      return;
    }
    for (const Index& index : schema.indexes) {
      if (index.table != drop.name) continue;
      return Fail(Code::kFailedPrecondition,
                  "Cannot drop table " + drop.name + " with indices: " + index.name + ".");
    }
    schema.tables.erase(schema.tables.begin() + (table - schema.tables.data()));
  }
  void operator()(const AddColumn& add) {
    Table* table = FindTable(add.table);
    if (table == nullptr) return;
    if (table->FindColumn(add.column.name)) {
      if (add.if_not_exists) return;
      return Fail(Code::kFailedPrecondition,
                  "Duplicate column name " + add.table + "." + add.column.name + ".");
    }
    if (add.column.not_null) {
      return Fail(Code::kUnimplemented, "Cannot add NOT NULL column " + add.table + "." +
                                            add.column.name + " to existing table " + add.table +
                                            ".");
    }
    if (table->columns.size() == kMaxColumns) {
      return Fail(Code::kInvalidArgument, "A table of more than " + std::to_string(kMaxColumns) +
                                              " columns is not modelled");
    }
    table->columns.push_back(add.column);
  }
  void operator()(const DropColumn& drop) {
    Table* table = FindTable(drop.table);
    if (table == nullptr) return;
    const Column* column = FindExactly(table->columns, drop.column);
    if (column == nullptr) {
      return Fail(Code::kNotFound, "Column not found in table " + drop.table + ": " + drop.column);
    }
    const auto place = static_cast<uint32_t>(column - table->columns.data());
    if (table->IsKey(place)) {
      return Fail(Code::kInvalidArgument,
                  "Cannot drop key column `" + drop.column + "` from table `" + drop.table + "`.");
    }
    for (const Index& index : schema.indexes) {
      if (index.table != drop.table || !Uses(index, drop.column)) continue;
      return Fail(Code::kFailedPrecondition,
                  "Cannot drop column `" + drop.column + "` from table `" + drop.table +
                      "` because it is used by index `" + index.name + "`.");
    }
    table->columns.erase(table->columns.begin() + place);
    for (uint32_t& key : table->key) {
      if (key > place) --key;
    }
  }
  // Whether the table has the column, and the index does not name it already; fails if not.
  bool CanIndex(Table& table, const Index& index, const std::string& name,
                const std::vector<std::string>& named) {
    if (FindExactly(table.columns, name) == nullptr) {
      Fail(Code::kInvalidArgument, "Index " + index.name + " specifies key column " + name +
                                       " which does not exist in table " + index.table + ".");
      return false;
    }
    if (std::ranges::find(named, name) == named.end()) return true;
    Fail(Code::kInvalidArgument,
         "Index " + index.name + " specifies key column " + name + " twice.");
    return false;
  }
  void operator()(const CreateIndex& create) {
    const Index& index = create.index;
    if (IsTaken(index.name)) {
      if (create.if_not_exists) return;
      return Fail(Code::kFailedPrecondition, "Duplicate name in schema: " + index.name + ".");
    }
    Table* table = FindTable(index.table);
    if (table == nullptr) return;
    std::vector<std::string> names;
    for (const IndexColumn& column : index.columns) {
      if (!CanIndex(*table, index, column.name, names)) return;
      const Type type = FindExactly(table->columns, column.name)->type;
      if (IsArray(type) || type == Type::kJson) {
        return Fail(Code::kFailedPrecondition,
                    "Cannot reference " + std::string(IsArray(type) ? "ARRAY" : "JSON") + " " +
                        column.name + " in the creation of index " + index.name + ".");
      }
      names.push_back(column.name);
    }
    for (const std::string& name : index.stored) {
      if (std::ranges::any_of(index.columns, [&](const auto& key) { return key.name == name; })) {
        return Fail(Code::kInvalidArgument, "Index " + index.name + " specifies stored column " +
                                                name + " already specified as primary key.");
      }
      if (!CanIndex(*table, index, name, names)) return;
      const auto* column = FindExactly(table->columns, name);
      if (table->IsKey(static_cast<uint32_t>(column - table->columns.data()))) {
        return Fail(Code::kFailedPrecondition, "Index " + index.name + " specifies stored column " +
                                                   name + " which is a key of table " +
                                                   index.table + ".");
      }
      names.push_back(name);
    }
    schema.indexes.push_back(index);
  }
  void operator()(const DropIndex& drop) {
    const Index* index = FindExactly(schema.indexes, drop.name);
    if (index != nullptr) {
      schema.indexes.erase(schema.indexes.begin() + (index - schema.indexes.data()));
    } else if (!drop.if_exists) {
      Fail(Code::kNotFound, "Index not found: " + drop.name);
    }
  }
};

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
  DdlApplier applier{.schema = std::move(schema)};
  std::visit([&](const auto& one) { applier(one); }, statement);
  if (!applier.status.ok()) return std::move(applier.status);
  return std::move(applier.schema);
}

std::string PrintType(const Column& column) {
  const Type element = IsArray(column.type) ? ElementOf(column.type) : column.type;
  std::string text(WordOf(element));
  if (element == Type::kString || element == Type::kBytes) {
    text += "(" + (column.max_length ? std::to_string(*column.max_length) : "MAX") + ")";
  }
  return IsArray(column.type) ? "ARRAY<" + text + ">" : text;
}

std::string PrintDdl(const Index& index) {
  std::string text = std::string("CREATE ") + (index.null_filtered ? "NULL_FILTERED " : "") +
                     "INDEX " + Quoted(index.name) + " ON " + Quoted(index.table) + "(";
  for (size_t i = 0; i < index.columns.size(); ++i) {
    if (i > 0) text += ", ";
    text += Quoted(index.columns[i].name) + (index.columns[i].descending ? " DESC" : "");
  }
  text += ")";
  for (size_t i = 0; i < index.stored.size(); ++i) {
    text += (i == 0 ? " STORING (" : ", ") + Quoted(index.stored[i]);
  }
  return index.stored.empty() ? text : text + ")";
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
