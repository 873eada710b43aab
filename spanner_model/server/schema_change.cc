#include "spanner_model/server/schema_change.h"

#include <utility>

namespace whorl::server {
namespace {

std::variant<model::Schema, Status> Apply(const model::Schema& before,
                                          const std::string& statement) {
  auto parsed = model::ParseCreateTable(statement);
  if (auto* error = std::get_if<Status>(&parsed)) return std::move(*error);
  auto& table = std::get<model::Table>(parsed);
  if (before.FindTable(table.name)) {
    return Error(Code::kFailedPrecondition, "Duplicate name in schema: " + table.name + ".");
  }
  model::Schema after = before;
  after.tables.push_back(std::move(table));
  return after;
}

}  // namespace

std::variant<SchemaChange, Status> PlanSchemaChange(const model::Schema& before,
                                                    const std::vector<std::string>& statements) {
  SchemaChange change = {.schema = before};
  for (uint32_t table = 0; table < before.tables.size(); ++table) change.kept.emplace_back(table);
  for (const std::string& statement : statements) {
    auto applied = Apply(change.schema, statement);
    if (auto* error = std::get_if<Status>(&applied)) return std::move(*error);
    auto& after = std::get<model::Schema>(applied);
    // One statement makes or drops one table, so that what has a table's name is that table.
    std::vector<std::optional<uint32_t>> kept;
    for (const model::Table& table : after.tables) {
      const auto was = change.schema.FindTable(table.name);
      kept.push_back(was ? change.kept[*was] : std::nullopt);
    }
    change = {.schema = std::move(after), .kept = std::move(kept)};
  }
  return change;
}

// Until the schema can be printed.
std::vector<std::string> PrintSchema(const model::Schema& schema) {
  std::vector<std::string> statements;
  for (const model::Table& table : schema.tables) {
    statements.push_back("CREATE TABLE " + table.name);
  }
  return statements;
}

}  // namespace whorl::server
