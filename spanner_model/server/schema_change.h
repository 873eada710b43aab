// DDL statements as one change of the schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/spanner/status.h"
#include "spanner_model/schema.h"

namespace whorl::server {

struct SchemaChange {
  model::Schema schema;
  // Table i of `schema` is table kept[i] of the old one, or new.
  std::vector<std::optional<uint32_t>> kept;
};

// The change that all statements make together, or the first error.
std::variant<SchemaChange, Status> PlanSchemaChange(const model::Schema& before,
                                                    const std::vector<std::string>& statements);

// The statements that create the schema, as GetDatabaseDdl prints them.
std::vector<std::string> PrintSchema(const model::Schema& schema);

}  // namespace whorl::server
