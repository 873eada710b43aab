// Properties of any text of SQL, however wrong: it compiles or is refused with a message, and a
// compiled statement can be evaluated over any row of its table. Shared by the fuzz target and the
// test that mutates statements.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spanner_model/schema.h"
#include "spanner_model/sql/compile.h"
#include "spanner_model/sql/expression.h"

namespace whorl::model {

enum class Compilation : uint8_t { kRefused, kCompiled };

namespace any_text_internal {

// CHECKs for the fuzz target, which runs without GoogleTest.
inline void Require(bool holds, const char* what, std::string_view text) {
  if (holds) return;
  std::cerr << what << ": " << text << "\n";
  std::abort();
}

inline const Schema& SeedSchema() {
  static const Schema& schema = *new Schema{{
      std::get<Table>(ParseCreateTable(
          "CREATE TABLE locktable (name STRING(MAX) NOT NULL, "
          "heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true), "
          "token TIMESTAMP OPTIONS (allow_commit_timestamp=true), writer STRING(MAX), "
          "lease_ms INT64, attempt STRING(MAX)) PRIMARY KEY (name)")),
      std::get<Table>(ParseCreateTable(
          "CREATE TABLE LeaderElection (anchor INT64 NOT NULL, service_id STRING(MAX), "
          "last_seen_active TIMESTAMP) PRIMARY KEY (anchor)")),
  }};
  return schema;
}

inline const std::vector<Parameter>& SeedParameters() {
  static const auto& parameters = *new std::vector<Parameter>{
      {"name", Type::kString},    {"id", Type::kString},      {"token", Type::kTimestamp},
      {"prefix", Type::kString},  {"me", Type::kString},      {"timeout", Type::kInt64},
      {"lease_ms", Type::kInt64}, {"attempt", Type::kString}, {"seen", Type::kTimestamp},
      {"ratio", Type::kFloat64},  {"flag", Type::kBool},      {"data", Type::kBytes}};
  return parameters;
}

inline Value SampleOf(Type type) {
  switch (type) {
    case Type::kBool:
      return true;
    case Type::kInt64:
      return int64_t{5};
    case Type::kFloat64:
      return Float64(0.5);
    case Type::kString:
      return std::string("2026-01-01T00:00:00Z");
    case Type::kBytes:
      return Bytes{"\xff"};
    case Type::kTimestamp:
      return Timestamp::FromUnixNanos(1'767'225'600'000'000'001);
    case Type::kDate:
      return std::string("2026-01-01");
    case Type::kNumeric:
      return std::string("-1.5");
    case Type::kJson:
      return std::string("{}");
    case Type::kFloat32:
      return Float64(0.25);
    default:
      return Array{.elements = {SampleOf(ElementOf(type)), Null{}}};
  }
}

// Whether the value is NULL or has the type.
inline bool IsOf(const Value& value, Type type) { return IsNull(value) || FitsType(type, value); }

// A row of the table with a sample in every column, or NULL.
inline Row RowOf(uint32_t table, bool filled) {
  Row row;
  for (const Column& column : SeedSchema().tables[table].columns) {
    row.push_back(filled ? SampleOf(column.type) : Value());
  }
  return row;
}

class Exercise {
 public:
  Exercise(std::string_view text, Row row, Row parameters)
      : text_(text), row_(std::move(row)), parameters_(std::move(parameters)) {}

  void operator()(const SelectPlan& plan) {
    if (plan.access.kind == AccessKind::kGiven) {
      row_ = plan.given.empty() ? Row() : plan.given.front();
      if (plan.given.empty()) return;
    } else if (plan.access.kind != AccessKind::kNothing) {
      Look(plan.table, plan.access, plan.filter ? &*plan.filter : nullptr);
    }
    // Aggregates over no rows: a count is 0, the others are NULL.
    Row aggregates;
    for (const Aggregate& aggregate : plan.aggregates) {
      const bool counts =
          aggregate.kind == AggregateKind::kCountRows || aggregate.kind == AggregateKind::kCount;
      aggregates.push_back(counts ? Value(int64_t{0}) : Value());
      if (!aggregate.argument.nodes.empty()) Evaluated(aggregate.argument, std::nullopt, row_);
    }
    Return(plan.outputs, plan.aggregates.empty() ? row_ : aggregates);
    for (const OrderKey& key : plan.order) Evaluated(key.expression, std::nullopt, row_);
    if (plan.limit) Evaluated(*plan.limit, Type::kInt64, {});
    if (plan.offset) Evaluated(*plan.offset, Type::kInt64, {});
  }
  void operator()(const InsertPlan& plan) {
    if (plan.source) {
      Require(plan.source->outputs.size() == plan.columns.size(), "a query of another width",
              text_);
      const bool filled = !row_.empty() && !IsNull(row_.front());
      Exercise(text_, RowOf(plan.source->table, filled), parameters_)(*plan.source);
    }
    Return(plan.returning, row_);
    for (const auto& row : plan.rows) {
      Require(row.size() == plan.columns.size(), "a row of another width", text_);
      // VALUES mentions no columns, so it needs no row.
      Assign(plan.table, row, {});
    }
  }
  void operator()(const UpdatePlan& plan) {
    Look(plan.table, plan.access, &plan.filter);
    Assign(plan.table, plan.assignments, row_);
    Return(plan.returning, row_);
  }
  void operator()(const DeletePlan& plan) {
    Look(plan.table, plan.access, &plan.filter);
    Return(plan.returning, row_);
  }

 private:
  void Look(uint32_t table_index, const Access& access, const Expression* filter) {
    const Table& table = SeedSchema().tables[table_index];
    if (access.kind == AccessKind::kKey) {
      Require(access.key.size() == table.key.size(), "a key of another width", text_);
      for (size_t i = 0; i < access.key.size(); ++i) {
        Evaluated(access.key[i], table.columns[table.key[i]].type, {});
      }
    }
    if (access.kind == AccessKind::kPrefix) Evaluated(access.prefix, Type::kString, {});
    if (filter == nullptr) return;
    Status error;
    const Match match = Matches(*filter, Context(row_), error);
    Require((match == Match::kError) == !error.ok(), "an error without a status", text_);
  }
  void Assign(uint32_t table, const std::vector<Assignment>& assignments, const Row& row) {
    for (const Assignment& assignment : assignments) {
      if (assignment.pending_commit_timestamp) continue;
      Evaluated(assignment.expression, SeedSchema().tables[table].columns[assignment.column].type,
                row);
    }
  }
  void Return(const std::vector<Output>& outputs, const Row& row) {
    for (const Output& output : outputs) Evaluated(output.expression, output.type, row);
  }
  void Evaluated(const Expression& expression, std::optional<Type> type, const Row& row) {
    Value scratch;
    Status error;
    const Value* value = Evaluate(expression, Context(row), scratch, error);
    Require((value == nullptr) == !error.ok(), "an error without a status", text_);
    Require(value == nullptr || !type || IsOf(*value, *type), "a value of another type", text_);
  }
  EvaluationContext Context(const Row& row) const {
    return {.parameters = parameters_,
            .row = row,
            .current_timestamp = Timestamp::FromUnixNanos(1'767'225'600'000'000'000)};
  }

  std::string_view text_;
  Row row_;
  Row parameters_;
};

}  // namespace any_text_internal

// Aborts if a property does not hold.
inline Compilation CompileAndEvaluate(std::string_view text) {
  namespace internal = any_text_internal;
  const Schema& schema = internal::SeedSchema();
  const std::vector<Parameter>& parameters = internal::SeedParameters();
  const auto compiled = Compile(schema, text, parameters);
  // Inference has to accept any text, too, and to find the types of undeclared parameters.
  const auto inferred = InferParameters(schema, text, {});
  if (const auto* all = std::get_if<std::vector<Parameter>>(&inferred)) {
    internal::Require(std::holds_alternative<Plan>(Compile(schema, text, *all)),
                      "does not compile with the types inferred", text);
  }
  if (const auto* error = std::get_if<Status>(&compiled)) {
    internal::Require(!error->ok() && !error->message.empty(), "refused without a reason", text);
    return Compilation::kRefused;
  }
  const Plan& plan = std::get<Plan>(compiled);
  const auto& subqueries =
      std::visit([](const auto& kind) -> const auto& { return kind.subqueries; }, plan);
  const uint32_t table = std::visit([](const auto& kind) { return kind.table; }, plan);
  Row given;
  for (const Parameter& parameter : parameters) given.push_back(internal::SampleOf(parameter.type));
  Row nothing(parameters.size());
  for (const Subquery& subquery : subqueries) {
    const uint32_t read = subquery.plan->table;
    internal::Exercise(text, internal::RowOf(read, false), nothing)(*subquery.plan);
    internal::Exercise(text, internal::RowOf(read, true), given)(*subquery.plan);
    const Type type = subquery.plan->outputs.front().type;
    const bool exists = subquery.use == SubqueryUse::kExists;
    const bool value = subquery.use == SubqueryUse::kValue;
    nothing.push_back(exists ? Value(false) : (value ? Value() : Value(Array())));
    given.push_back(exists ? Value(true) : internal::SampleOf(value ? type : ArrayOf(type)));
  }
  std::visit(internal::Exercise(text, internal::RowOf(table, false), nothing), plan);
  std::visit(internal::Exercise(text, internal::RowOf(table, true), given), plan);
  return Compilation::kCompiled;
}

}  // namespace whorl::model
