#include "spanner_model/sql/compile.h"

#include <utility>

#include "spanner_model/sql/binder.h"
#include "spanner_model/sql/parser.h"

namespace whorl::model {

std::variant<Plan, Status> Compile(const Schema& schema, std::string_view text,
                                   std::span<const Parameter> parameters) {
  auto statement = Parse(text);
  if (auto* error = std::get_if<Status>(&statement)) return std::move(*error);
  return BindStatement(schema, text, parameters, std::get<ast::Statement>(statement));
}

}  // namespace whorl::model
