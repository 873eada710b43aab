// Provides what the tests of SQL share: the protocols' tables, and functions that compile and evaluate.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "spanner_model/schema.h"
#include "spanner_model/sql/compile.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

inline constexpr std::string_view kLockTable =
    "CREATE TABLE locktable (name STRING(MAX) NOT NULL, "
    "heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true), "
    "token TIMESTAMP OPTIONS (allow_commit_timestamp=true), writer STRING(MAX),) "
    "PRIMARY KEY (name)";
inline constexpr std::string_view kElectionTable =
    "CREATE TABLE LeaderElection (anchor INT64 NOT NULL, service_id STRING(MAX), "
    "last_seen_active TIMESTAMP) PRIMARY KEY (anchor)";
inline constexpr std::string_view kFencedTable =
    "CREATE TABLE fenced (name STRING(MAX) NOT NULL, "
    "heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true), "
    "token TIMESTAMP OPTIONS (allow_commit_timestamp=true), writer STRING(MAX), "
    "lease_ms INT64, attempt STRING(MAX)) PRIMARY KEY (name)";
// A column of every type, and a key of two.
inline constexpr std::string_view kTypesTable =
    "CREATE TABLE types (k1 INT64 NOT NULL, k2 STRING(16) NOT NULL, b BOOL, i INT64, f FLOAT64, "
    "s STRING(MAX), y BYTES(MAX), t TIMESTAMP OPTIONS (allow_commit_timestamp=null)) "
    "PRIMARY KEY (k1, k2 ASC);";

inline Table ParsedTable(std::string_view text) {
  auto table = ParseCreateTable(text);
  if (const auto* error = std::get_if<Status>(&table)) {
    ADD_FAILURE() << FormatStatus(*error);
    return {};
  }
  return std::get<Table>(std::move(table));
}

inline const Schema& TestSchema() {
  static const Schema& schema = *new Schema{{ParsedTable(kLockTable), ParsedTable(kElectionTable),
                                             ParsedTable(kFencedTable), ParsedTable(kTypesTable)}};
  return schema;
}

inline std::variant<Plan, Status> TryCompile(std::string_view text,
                                             const std::vector<Parameter>& parameters = {}) {
  return Compile(TestSchema(), text, parameters);
}

// The plan of the statement. Fails unless it has this kind.
template <typename PlanKind>
PlanKind Compiled(std::string_view text, const std::vector<Parameter>& parameters = {}) {
  auto plan = TryCompile(text, parameters);
  if (const auto* error = std::get_if<Status>(&plan)) {
    ADD_FAILURE() << text << "\n" << FormatStatus(*error);
    return {};
  }
  auto* kind = std::get_if<PlanKind>(&std::get<Plan>(plan));
  if (kind == nullptr) {
    ADD_FAILURE() << "a plan of another kind: " << text;
    return {};
  }
  return std::move(*kind);
}

// The error of the statement. Fails if it compiles.
inline Status CompileError(std::string_view text, const std::vector<Parameter>& parameters = {}) {
  auto plan = TryCompile(text, parameters);
  if (auto* error = std::get_if<Status>(&plan)) return std::move(*error);
  ADD_FAILURE() << "compiles: " << text;
  return {};
}

// The value of an expression, or the error of its evaluation.
struct Evaluated {
  Value value;
  Status error;
};

inline Evaluated Evaluate(const Expression& expression, const EvaluationContext& context) {
  Evaluated result;
  Value scratch;
  const Value* value = Evaluate(expression, context, scratch, result.error);
  if (value != nullptr) result.value = *value;
  EXPECT_EQ(value == nullptr, !result.error.ok());
  return result;
}

inline Timestamp At(std::string_view rfc3339) {
  const auto timestamp = ParseRfc3339(rfc3339);
  EXPECT_TRUE(timestamp) << rfc3339;
  return timestamp.value_or(Timestamp());
}

// Evaluates an expression as the only output of a query on `types`, with CURRENT_TIMESTAMP at
// 2026-01-01T00:00:00Z, over a row of NULLs unless one is given.
inline Evaluated EvaluateText(const std::string& text,
                              const std::vector<Parameter>& parameters = {}, const Row& values = {},
                              const Row& row = Row(8)) {
  const auto plan = Compiled<SelectPlan>("SELECT " + text + " FROM types", parameters);
  if (plan.outputs.size() != 1) return {};
  return Evaluate(
      plan.outputs[0].expression,
      {.parameters = values, .row = row, .current_timestamp = At("2026-01-01T00:00:00Z")});
}

// The same as text: the value in FormatValue's form, or the status.
inline std::string Show(const std::string& text, const std::vector<Parameter>& parameters = {},
                        const Row& values = {}, const Row& row = Row(8)) {
  const Evaluated result = EvaluateText(text, parameters, values, row);
  return result.error.ok() ? FormatValue(result.value) : FormatStatus(result.error);
}

}  // namespace whorl::model
