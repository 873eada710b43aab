// Combines DDL statements into one change of the schema.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/spanner/status.h"
#include "spanner_model/database.h"
#include "spanner_model/schema.h"
#include "spanner_model/server/options.h"
#include "spanner_model/splits.h"

namespace whorl::server {

struct SchemaChange {
  model::Schema schema;
  // Where table i of `schema` comes from; empty if it is new.
  std::vector<std::optional<model::TableOrigin>> kept;
};

// The places of the splits in the schema, sorted; without those whose table or key does not fit.
std::vector<model::SplitPoint> PlaceSplits(const model::Schema& schema,
                                           const std::vector<NamedSplit>& splits);

// The change that all statements make together, or the first error.
std::variant<SchemaChange, Status> PlanSchemaChange(const model::Schema& before,
                                                    const std::vector<std::string>& statements);

// The statements that create the schema, as GetDatabaseDdl prints them.
std::vector<std::string> PrintSchema(const model::Schema& schema);

}  // namespace whorl::server
