#include "spanner_model/server/planned_request.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "spanner_model/sql/compile.h"
#include "spanner_model/sql/words.h"

namespace whorl::server {

namespace {

namespace v1 = ::google::spanner::v1;

class Planner final : public SchemaDirectory {
 public:
  explicit Planner(PlannedRequest& planned) : SchemaDirectory(*planned.schema), planned_(planned) {}

  Sql FindSql(std::string_view text, std::vector<Parameter> parameters) override {
    std::string key = TextKey(text, parameters);
    if (!planned_.plans.contains(key)) {
      planned_.plans.emplace(std::move(key), model::Compile(schema(), text, parameters));
    }
    texts_.push_back(std::make_shared<const SqlText>(MakeSqlText(text, std::move(parameters))));
    return Sql::Borrow(*texts_.back());
  }

  std::optional<std::vector<Parameter>> InferParameters(
      std::string_view sql, const std::vector<Parameter>& declared) const override {
    std::string key = TextKey(sql, declared);
    const auto found = planned_.inferred.find(key);
    if (found != planned_.inferred.end()) return found->second;
    return planned_.inferred.emplace(std::move(key), InferUndeclared(schema(), sql, declared))
        .first->second;
  }

 private:
  PlannedRequest& planned_;
  std::vector<HeldStatement> texts_;
};

}  // namespace

const model::Table* SchemaDirectory::FindTable(std::string_view name) const {
  const auto index = schema_.FindTable(name);
  return index ? &schema_.tables[*index] : nullptr;
}

std::optional<Type> SchemaDirectory::ColumnType(std::string_view table,
                                                std::string_view column) const {
  const model::Table* found = FindTable(table);
  if (found == nullptr) return std::nullopt;
  const auto index = found->FindColumn(column);
  return index ? std::optional(found->columns[*index].type) : std::nullopt;
}

std::optional<std::vector<Type>> SchemaDirectory::KeyTypes(std::string_view table) const {
  const model::Table* found = FindTable(table);
  if (found == nullptr) return std::nullopt;
  std::vector<Type> types;
  for (const uint32_t column : found->key) types.push_back(found->columns[column].type);
  return types;
}

std::optional<std::vector<Parameter>> InferUndeclared(const model::Schema& schema,
                                                      std::string_view text,
                                                      const std::vector<Parameter>& declared) {
  auto all = model::InferParameters(schema, text, declared);
  const auto* parameters = std::get_if<std::vector<Parameter>>(&all);
  if (parameters == nullptr) return std::nullopt;
  // The declared ones stand first.
  std::vector<Parameter> undeclared(
      parameters->begin() + static_cast<std::ptrdiff_t>(declared.size()), parameters->end());
  // By name, as Spanner lists them.
  std::ranges::sort(undeclared, {}, &Parameter::name);
  return undeclared;
}

std::string TextKey(std::string_view text, const std::vector<Parameter>& declared) {
  std::string key(text);
  for (const Parameter& parameter : declared) {
    key += '\0' + parameter.name + ' ' + std::string(WordOf(parameter.type));
  }
  return key;
}

template <typename Proto, typename Call>
std::unique_ptr<PlannedRequest> PlanRequest(const google::protobuf::Message& request,
                                            std::shared_ptr<const model::Schema> schema) {
  auto planned = std::make_unique<PlannedRequest>();
  planned->schema = std::move(schema);
  Planner planner(*planned);
  Call decoded;
  // The server decodes it again, and says what is wrong with it.
  (void)wire::Decode(static_cast<const Proto&>(request), planner, decoded);
  return planned;
}

template std::unique_ptr<PlannedRequest> PlanRequest<v1::ExecuteSqlRequest, ExecuteSql>(
    const google::protobuf::Message&, std::shared_ptr<const model::Schema>);
template std::unique_ptr<PlannedRequest> PlanRequest<v1::ExecuteBatchDmlRequest, ExecuteBatchDml>(
    const google::protobuf::Message&, std::shared_ptr<const model::Schema>);

int64_t MutationsOfRow(const model::Schema& schema, const model::Plan& plan) {
  if (const auto* insert = std::get_if<model::InsertPlan>(&plan)) {
    return static_cast<int64_t>(insert->columns.size());
  }
  if (const auto* update = std::get_if<model::UpdatePlan>(&plan)) {
    model::ColumnSet affected = update->writes;
    for (const uint32_t column : schema.tables[update->table].key) affected.Add(column);
    return std::popcount(affected.bits());
  }
  return std::holds_alternative<model::DeletePlan>(plan) ? 1 : 0;
}

int64_t CountMutations(const std::vector<Mutation>& mutations) {
  int64_t count = 0;
  for (const Mutation& mutation : mutations) {
    if (mutation.kind == MutationKind::kDelete) {
      count += std::ssize(mutation.keys.keys) + std::ssize(mutation.keys.spans) +
               (mutation.keys.all ? 1 : 0);
    } else {
      count += std::ssize(mutation.columns) * std::ssize(mutation.rows);
    }
  }
  return count;
}

Status TooManyMutations() {
  return Error(
      Code::kInvalidArgument,
      "The transaction contains too many mutations. Insert and update operations count with "
      "the multiplicity of the number of columns they affect; a delete counts as one. "
      "(Maximum number: " +
          std::to_string(kMutationsMax) + ")");
}

}  // namespace whorl::server
