// Plans the statements of a request before the server's lock is taken: a text of a million characters takes
// long to plan, and no other call should wait for it. Counts their mutations, too.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/spanner/mutation.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "spanner_model/catalogue.h"
#include "spanner_model/schema.h"
#include "spanner_model/server/statement_cache.h"
#include "spanner_model/sql/plan.h"
#include "wire/requests.h"

namespace whorl::server {

// What a decoder asks about a schema.
class SchemaDirectory : public wire::Directory {
 public:
  // REQUIRES: `schema` outlives this.
  explicit SchemaDirectory(const model::Schema& schema) : schema_(schema) {}
  std::optional<Type> ColumnType(std::string_view table, std::string_view column) const override;
  std::optional<std::vector<Type>> KeyTypes(std::string_view table) const override;

 protected:
  const model::Schema& schema() const { return schema_; }

 private:
  const model::Table* FindTable(std::string_view name) const;
  const model::Schema& schema_;
};

// The types of the undeclared parameters of a text, by name; nullopt for a text that does not compile.
std::optional<std::vector<Parameter>> InferUndeclared(const model::Schema& schema,
                                                      std::string_view text,
                                                      const std::vector<Parameter>& declared);
// A key for what depends on a text and its declared parameters.
std::string TextKey(std::string_view text, const std::vector<Parameter>& declared);

struct PlannedRequest {
  std::shared_ptr<const model::Schema> schema;            // the plans are right for this one alone
  std::map<std::string, model::CompiledStatement> plans;  // by TextKey
  std::map<std::string, std::optional<std::vector<Parameter>>> inferred;  // by TextKey
};

// Shorter requests are planned under the lock: a few milliseconds at most.
inline constexpr size_t kLongRequest = 10'000;  // bytes

// Plans what decoding the request asks for. REQUIRES: Proto is a request that has statements.
template <typename Proto, typename Call>
std::unique_ptr<PlannedRequest> PlanRequest(const google::protobuf::Message& request,
                                            std::shared_ptr<const model::Schema> schema);

// Mutations are counted as Spanner's documentation does, except those of indexes, which the model does not
// have. The most in a commit (cloud.google.com/spanner/quotas, 2026-11).
inline constexpr int64_t kMutationsMax = 80'000;

// Of one row of the plan's DML: each column that it affects is one, and so is a deletion.
int64_t MutationsOfRow(const model::Schema& schema, const model::Plan& plan);
// A deletion of a key or of a range is one; each column of a row is one otherwise.
int64_t CountMutations(const std::vector<Mutation>& mutations);
// Spanner's words, shortened.
Status TooManyMutations();

}  // namespace whorl::server
