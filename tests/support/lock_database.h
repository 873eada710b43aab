// Provides a database with a protocol's table, behind gRPC: whorl's own server or the official
// emulator.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "live/emulator_process.h"
#include "real_client/options.h"
#include "spanner_model/server/server.h"

namespace whorl {

inline constexpr const char* kLockDatabase =
    "projects/test-project/instances/test-instance/databases/locks";

class LockDatabase {
 public:
  virtual ~LockDatabase() = default;
  virtual real_client::ConnectionOptions Connection() const = 0;
  virtual std::string path() const { return kLockDatabase; }
  // Null unless the database is served by whorl's own server.
  virtual server::Server* server() { return nullptr; }
  // The process that serves the database, if it is a child of this one; -1 if not.
  virtual pid_t process() { return -1; }
  // Loses the reply to the next Commit. False if this database cannot do that.
  virtual bool LoseNextCommitReply() { return false; }
  // Fails the next Commit with FAILED_PRECONDITION; it has no effect. False if this database cannot do that.
  virtual bool RefuseNextCommit() { return false; }
  // Deletes the sessions of all clients. False if this database cannot do that.
  virtual bool DeleteSessions() { return false; }
};

// Serves the model in this process, with the table of `protocol` (none if empty) and the tables of
// `ddl`.
std::unique_ptr<LockDatabase> ServeModel(std::string_view protocol,
                                         std::vector<std::string> ddl = {});
// Null if there is no emulator. It aborts open transactions as it does by default: one that a killed or
// stopped process left open would keep all others from it for good. `more`: further options of its command
// line.
std::unique_ptr<LockDatabase> StartEmulator(std::string_view protocol,
                                            const std::vector<std::string>& more = {});

// An existing database with the tables it needs, reached with Application Default Credentials or at
// SPANNER_EMULATOR_HOST.
std::unique_ptr<LockDatabase> NameDatabase(const std::string& path);

// The database behind the fault proxy, so that replies can be lost and Commits refused with any server.
// REQUIRES: `database` speaks plaintext.
std::unique_ptr<LockDatabase> BehindProxy(std::unique_ptr<LockDatabase> database);

// Inserts the row that a protocol needs from the start, which ServeModel and StartEmulator do not.
void InsertInitRow(const LockDatabase& database, std::string_view protocol);

}  // namespace whorl
