#include "spanner_model/server/schema_change.h"

#include <utility>

namespace whorl::server {
std::variant<SchemaChange, Status> PlanSchemaChange(const model::Schema& before,
                                                    const std::vector<std::string>& statements) {
  SchemaChange change = {.schema = before};
  for (uint32_t table = 0; table < before.tables.size(); ++table) change.kept.emplace_back(table);
  for (const std::string& statement : statements) {
    auto parsed = model::ParseDdl(statement);
    if (auto* error = std::get_if<Status>(&parsed)) return std::move(*error);
    auto applied = model::ApplyDdl(change.schema, std::get<model::DdlStatement>(parsed));
    if (auto* error = std::get_if<Status>(&applied)) return std::move(*error);
    auto& after = std::get<model::Schema>(applied);
    // One statement creates or drops one table, so a table of the same name is the same table.
    std::vector<std::optional<uint32_t>> kept;
    for (const model::Table& table : after.tables) {
      const auto was = change.schema.FindTable(table.name);
      kept.push_back(was ? change.kept[*was] : std::nullopt);
    }
    change = {.schema = std::move(after), .kept = std::move(kept)};
  }
  return change;
}

std::vector<std::string> PrintSchema(const model::Schema& schema) {
  std::vector<std::string> statements;
  for (const model::Table& table : schema.tables) statements.push_back(model::PrintDdl(table));
  return statements;
}

}  // namespace whorl::server
