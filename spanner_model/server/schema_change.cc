#include "spanner_model/server/schema_change.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

namespace whorl::server {
namespace {

// Where the columns of `after` come from, given where those of `before` come from. One statement adds or
// drops one column, so a column of the same name is the same column.
model::TableOrigin OriginOf(const model::Table& after, const model::Table& before,
                            const model::TableOrigin& of_before) {
  model::TableOrigin origin = {.table = of_before.table};
  for (const model::Column& column : after.columns) {
    const auto was = before.FindColumn(column.name);
    origin.columns.push_back(was ? of_before.columns[*was] : std::nullopt);
  }
  return origin;
}

}  // namespace

std::variant<SchemaChange, Status> PlanSchemaChange(const model::Schema& before,
                                                    const std::vector<std::string>& statements) {
  SchemaChange change = {.schema = before};
  for (uint32_t table = 0; table < before.tables.size(); ++table) {
    model::TableOrigin& origin = change.kept.emplace_back().emplace();
    origin.table = table;
    for (uint32_t column = 0; column < before.tables[table].columns.size(); ++column) {
      origin.columns.emplace_back(column);
    }
  }
  for (const std::string& statement : statements) {
    auto parsed = model::ParseDdl(statement);
    if (auto* error = std::get_if<Status>(&parsed)) return std::move(*error);
    auto applied = model::ApplyDdl(change.schema, std::get<model::DdlStatement>(parsed));
    if (auto* error = std::get_if<Status>(&applied)) return std::move(*error);
    auto& after = std::get<model::Schema>(applied);
    // Likewise, a table of the same name is the same table.
    std::vector<std::optional<model::TableOrigin>> kept;
    for (const model::Table& table : after.tables) {
      const auto was = change.schema.FindTable(table.name);
      const bool is_new = !was || !change.kept[*was];
      kept.push_back(
          is_new ? std::nullopt
                 : std::optional(OriginOf(table, change.schema.tables[*was], *change.kept[*was])));
    }
    change = {.schema = std::move(after), .kept = std::move(kept)};
  }
  return change;
}

std::vector<model::SplitPoint> PlaceSplits(const model::Schema& schema,
                                           const std::vector<NamedSplit>& splits) {
  std::vector<model::SplitPoint> points;
  for (const NamedSplit& split : splits) {
    const auto index = schema.FindTable(split.table);
    if (!index || schema.tables[*index].key.size() != 1) continue;
    const model::Table& table = schema.tables[*index];
    const Type type = table.columns[table.key[0]].type;
    if (type == Type::kString) {
      points.push_back({.table = *index, .key = {split.key}});
    } else if (type == Type::kInt64) {
      int64_t number = 0;
      const char* const end = split.key.data() + split.key.size();
      const auto read = std::from_chars(split.key.data(), end, number);
      if (read.ec != std::errc() || read.ptr != end) continue;
      points.push_back({.table = *index, .key = {number}});
    }
  }
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return a.table != b.table ? a.table < b.table : model::CompareKeys(a.key, b.key) < 0;
  });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

std::vector<std::string> PrintSchema(const model::Schema& schema) {
  std::vector<std::string> statements;
  for (const model::Table& table : schema.tables) statements.push_back(model::PrintDdl(table));
  for (const model::Index& index : schema.indexes) statements.push_back(model::PrintDdl(index));
  return statements;
}

}  // namespace whorl::server
