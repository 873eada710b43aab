// What all calls to a database share and no call changes: the schema, the plans of statements, the
// splits and the options. It is not part of any fingerprint.
//
// A plan is found in one of two ways. Statements known when the catalogue is made are interned and
// found by their index. A server, which receives any text, registers a statement with Register and
// removes it with Unregister. Any other statement is compiled at each use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "spanner_model/schema.h"
#include "spanner_model/splits.h"
#include "spanner_model/sql/plan.h"

namespace whorl::model {

// After a statement wrote PENDING_COMMIT_TIMESTAMP(), what can the rest of its transaction read?
enum class PendingRule : uint8_t {
  kTable,   // nothing of the table, as Spanner's documentation says
  kColumn,  // all but the column, as the emulator does
};

enum class Concurrency : uint8_t {
  kSpanner,  // locks by row and column, wound-wait
  // One lock for the database; a transaction that needs it while another holds it is ABORTED. A
  // session can use its newest transaction only.
  kEmulator,
};

struct Options {
  PendingRule pending_rule = PendingRule::kTable;
  Concurrency concurrency = Concurrency::kSpanner;
  // An active transaction without a call for this long may be aborted when it blocks
  // another.
  Duration idle_limit = Seconds(10);
  // How far back versions can be read. With 0, only as far as an open transaction reads.
  Duration version_retention;
  // The delay in the RetryInfo of ABORTED replies. Without a value, no RetryInfo is sent.
  std::optional<Duration> retry_delay;
  // How far the replica that answers bounded-staleness reads lags behind the leader.
  Duration replica_lag;
  // Sessions without a call for this long expire. (Spanner: 1 h, multiplexed ones 28 days.)
  Duration session_idle_limit = Seconds(3600);
  Duration multiplexed_idle_limit = Seconds(28 * 24 * 3600);
  // Calls on named sessions, too, say in which place (process, lock, request) of their client a
  // transaction runs. A begin in a place shows that its client no longer needs the outcome of the
  // transaction that ran there before.
  bool calls_name_places = false;
  // Of transactions that do not say. REQUIRES: not kUnspecified.
  Isolation default_isolation = Isolation::kSerializable;
  // Where the key space is divided; each split has a leader with its own clocks.
  std::vector<SplitPoint> split_points;  // sorted
};

using CompiledStatement = std::variant<Plan, Status>;

class Catalogue {
 public:
  Catalogue(Schema schema, std::span<const Sql> statements, Options options);

  const Schema& schema() const { return schema_; }
  const Options& options() const { return options_; }
  uint32_t split_count() const { return static_cast<uint32_t>(options_.split_points.size() + 1); }

  // Null if the statement was neither interned in this catalogue nor registered by Register.
  const CompiledStatement* FindPlan(const Sql& sql) const {
    if (sql.index() == SqlText::kNotInterned) return FindRegistered(sql);
    if (sql.index() >= plans_.size() || !plans_[sql.index()]) return nullptr;
    return &*plans_[sql.index()];
  }

  // Compiles and keeps a statement that is not interned, unless it is kept already. `planned`, if not null,
  // is its plan for this schema, and is taken.
  // REQUIRES: Unregister is called before the statement's text is destroyed.
  void Register(const Sql& sql, CompiledStatement* planned = nullptr);
  void Unregister(const Sql& sql);

  // Replaces the schema and the splits, and drops the plans that Register kept.
  // REQUIRES: the catalogue was made without statements.
  void SetSchema(Schema schema, std::vector<SplitPoint> split_points);

 private:
  const CompiledStatement* FindRegistered(const Sql& sql) const;

  Schema schema_;
  Options options_;
  std::vector<std::optional<CompiledStatement>> plans_;  // by Sql::index()
  // By the text's address; never iterated.
  std::map<const std::string*, CompiledStatement> registered_;
};

}  // namespace whorl::model
