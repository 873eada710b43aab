// What every call to a database shares and no call changes: the schema, the plans of statements,
// the splits and the options. Outside of any fingerprint.
//
// Plans are found in two ways: statements of a configuration are named ahead and interned, and
// found by their index; a server, which hears any text, borrows it, asks for its plan with Know,
// and gives it back with Forget. Any other statement is compiled at each use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "protocol/spanner/sql.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/time.h"
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
  kSpanner,   // locks by row and column, wound-wait
  kEmulator,  // one lock for the database; who comes while it is held is ABORTED. Transactions of a
              // session shut out the older ones, as the emulator does, too
};

struct Options {
  PendingRule pending_rule = PendingRule::kTable;
  Concurrency concurrency = Concurrency::kSpanner;
  // An active transaction without a call for this long may be aborted when it is in the way.
  Duration idle_limit = Seconds(10);
  // How far back versions can be read. 0: only as far as a transaction that is under way reads.
  Duration version_retention;
  // RetryInfo of ABORTED replies; nothing: none is sent.
  std::optional<Duration> retry_delay;
  // How far the replica that answers reads of bounded staleness lags behind the leader.
  Duration replica_lag;
  // Sessions without a call for this long are gone. (Spanner: 1 h, and 28 days when multiplexed.)
  Duration session_idle_limit = Seconds(3600);
  Duration multiplexed_idle_limit = Seconds(28 * 24 * 3600);
  // Calls name the places of their process's transactions (CallName), also on sessions that have
  // names: who begins in a place does not ask for the outcome of the one before in it.
  bool calls_name_places = false;
  // Where the key space is cut: each split has a leader, with its own clocks.
  std::vector<SplitPoint> split_points;  // sorted
};

using CompiledStatement = std::variant<Plan, Status>;

class Catalogue {
 public:
  Catalogue(Schema schema, std::span<const Sql> statements, Options options);

  const Schema& schema() const { return schema_; }
  const Options& options() const { return options_; }
  uint32_t split_count() const { return static_cast<uint32_t>(options_.split_points.size() + 1); }

  // Null when the statement was not named ahead.
  const CompiledStatement* FindPlan(const Sql& sql) const {
    if (sql.index() == SqlText::kNotInterned) return FindBorrowed(sql);
    if (sql.index() >= plans_.size() || !plans_[sql.index()]) return nullptr;
    return &*plans_[sql.index()];
  }

  // Compiles a borrowed statement, unless it is known. REQUIRES: Forget comes before its text goes.
  void Know(const Sql& sql);
  void Forget(const Sql& sql);

  // From now on another schema. REQUIRES: no statement was named ahead. What was borrowed has to be
  // made known again.
  void SetSchema(Schema schema);

 private:
  const CompiledStatement* FindBorrowed(const Sql& sql) const;

  Schema schema_;
  Options options_;
  std::vector<std::optional<CompiledStatement>> plans_;       // by Sql::index()
  std::map<const std::string*, CompiledStatement> borrowed_;  // by the text's place; never iterated
};

}  // namespace whorl::model
