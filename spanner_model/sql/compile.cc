#include "spanner_model/sql/compile.h"

#include <utility>

#include "spanner_model/sql/limits.h"
#include "spanner_model/sql/parser.h"
#include "spanner_model/sql/statement_binding.h"

namespace whorl::model {
namespace {

std::variant<ast::Statement, Status> ParseWithinLimits(std::string_view text) {
  auto statement = Parse(text);
  if (const auto* parsed = std::get_if<ast::Statement>(&statement)) {
    if (Status beyond = CheckLimits(*parsed); !beyond.ok()) return beyond;
  }
  return statement;
}

}  // namespace

std::variant<Plan, Status> Compile(const Schema& schema, std::string_view text,
                                   std::span<const Parameter> parameters) {
  auto statement = ParseWithinLimits(text);
  if (auto* error = std::get_if<Status>(&statement)) return std::move(*error);
  const StatementContext context{.schema = schema, .text = text, .parameters = parameters};
  auto plan = BindStatement(context, std::get<ast::Statement>(statement));
  if (std::holds_alternative<Plan>(plan)) return plan;
  // An error that does not depend on the type of an undeclared parameter is the better message.
  auto inferred = InferParameters(schema, text, parameters);
  if (auto* error = std::get_if<Status>(&inferred)) return std::move(*error);
  return plan;
}

std::variant<std::vector<Parameter>, Status> InferParameters(const Schema& schema,
                                                             std::string_view text,
                                                             std::span<const Parameter> declared) {
  auto statement = ParseWithinLimits(text);
  if (auto* error = std::get_if<Status>(&statement)) return std::move(*error);
  std::vector<InferredParameter> inferred;
  const StatementContext context{
      .schema = schema, .text = text, .parameters = declared, .inferred = &inferred};
  auto plan = BindStatement(context, std::get<ast::Statement>(statement));
  if (auto* error = std::get_if<Status>(&plan)) return std::move(*error);
  std::vector<Parameter> all(declared.begin(), declared.end());
  for (InferredParameter& parameter : inferred) {
    all.push_back(
        {.name = std::move(parameter.name), .type = parameter.type.value_or(Type::kInt64)});
  }
  return all;
}

}  // namespace whorl::model
