// Defines the options of a server, apart from its sockets (server.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "spanner_model/catalogue.h"
#include "spanner_model/schema.h"
#include "spanner_model/server/statement_cache.h"

namespace whorl::server {

enum class CommitWait : uint8_t {
  kUntilSurelyPast,  // a commit becomes visible, and is answered, when TT.after(its timestamp)
  kNone,             // at once, as on the emulator
};

enum class SessionKinds : uint8_t {
  kBoth,
  kOnlyRegular,  // a client that asks for a multiplexed session gets a regular one
  // A client that asks for a regular session is refused, as by Spanner Omni (untried).
  kOnlyMultiplexed,
};

// A database that exists from the start, with its project and instance.
struct InitialDatabase {
  std::string name;  // projects/P/instances/I/databases/D
  std::vector<std::string> statements;
};

// A key at which a new split begins, whose commit timestamps do not depend on those of the split before.
struct NamedSplit {
  std::string table;  // its key is one STRING or INT64
  std::string key;
};

// A row that a commit has changed, when the commit is visible. References are good during the call.
struct ServedChange {
  const std::string& database;
  const model::Table& table;
  Timestamp commit;
  const std::optional<Row>& before;
  const std::optional<Row>& after;
};
class ChangeObserver {
 public:
  virtual ~ChangeObserver() = default;
  // Comes before the commit is answered, and those of a database in the order of their commits where it has one
  // split. Called with the server's lock held: must neither wait nor call the server.
  virtual void OnChange(const ServedChange& change) = 0;
};

struct BackendOptions {
  model::Options model = {.version_retention = Seconds(3600)};
  // Half the width of TrueTime's interval around the server's clock.
  Duration epsilon = Microseconds(100);
  CommitWait commit_wait = CommitWait::kUntilSurelyPast;
  // How far CURRENT_TIMESTAMP is ahead of the clock, in nanoseconds, as on a server whose own clock
  // is wrong while TrueTime's is not. May be changed at any time; null: not at all.
  std::shared_ptr<const std::atomic<int64_t>> current_timestamp_error;
  // The time from choosing a commit's timestamp until enough replicas have its write.
  Duration replication_latency;
  // At most about this many versions are kept besides the newest rows (some 300 bytes each, for a
  // table of locks); when there are more, reads reach back less far than the retention.
  size_t most_old_versions = 500'000;
  StatementCacheLimits statements;
  // The size of a stream's messages: gRPC's clients refuse more than 4 MiB.
  size_t stream_part_bytes = size_t{1} << 20;
  // At most this many bytes of the newest streams are kept for clients that resume them; a longer stream has
  // no resume tokens.
  size_t most_stream_bytes = size_t{64} << 20;
  std::vector<InitialDatabase> databases;
  std::vector<NamedSplit> splits;  // in each database; one whose table is not there has no effect
  SessionKinds sessions = SessionKinds::kBoth;
  std::shared_ptr<ChangeObserver> changes;  // null: nobody is told
};

// Behaves as the official emulator does: one lock for a database, pending columns, no commit wait.
inline BackendOptions EmulatorLike() {
  BackendOptions options;
  options.model.pending_rule = model::PendingRule::kColumn;
  options.model.concurrency = model::Concurrency::kEmulator;
  options.epsilon = {};
  options.commit_wait = CommitWait::kNone;
  return options;
}

}  // namespace whorl::server
