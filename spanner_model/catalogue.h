// What every call to a database shares and no call changes: the schema, the plans of the
// statements that are known ahead, and the options. Outside of any fingerprint.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/time.h"
#include "spanner_model/schema.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// After a statement wrote PENDING_COMMIT_TIMESTAMP(), what can the rest of its transaction read?
enum class PendingRule : uint8_t {
  kTable,   // nothing of the table, as Spanner's documentation says
  kColumn,  // all but the column, as the emulator does
};

struct Options {
  PendingRule pending_rule = PendingRule::kTable;
  // An active transaction without a call for this long may be aborted when it is in the way.
  Duration idle_limit = Seconds(10);
  // How far back versions can be read. 0: strong reads only.
  Duration version_retention;
  // RetryInfo of ABORTED replies; nothing: none is sent.
  std::optional<Duration> retry_delay;
};

class Catalogue {
 public:
  Catalogue(Schema schema, std::span<const Sql> statements, Options options);

  const Schema& schema() const { return schema_; }
  const Options& options() const { return options_; }
  // Null when the statement was not named ahead.
  const std::variant<Plan, Status>* FindPlan(const Sql& sql) const {
    if (sql.index() >= plans_.size() || !plans_[sql.index()]) return nullptr;
    return &*plans_[sql.index()];
  }

 private:
  Schema schema_;
  Options options_;
  std::vector<std::optional<std::variant<Plan, Status>>> plans_;  // by Sql::index()
};

}  // namespace whorl::model
