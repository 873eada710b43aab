// A database with a protocol's table, behind gRPC: whorl's own server or the official emulator.
#pragma once

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
  // Whorl's own; null for another one.
  virtual server::Server* server() { return nullptr; }
  // The reply to the next Commit never comes. False: nothing here does that.
  virtual bool LoseNextCommitReply() { return false; }
  // Of all clients. False: nothing here does that.
  virtual bool DeleteSessions() { return false; }
};

// In this process. `protocol`: whose table it has; empty: none. `ddl`: of more tables.
std::unique_ptr<LockDatabase> ServeModel(std::string_view protocol,
                                         std::vector<std::string> ddl = {});
// Null when there is no emulator.
std::unique_ptr<LockDatabase> StartEmulator(std::string_view protocol);

// A database that is there already, with the tables it needs; by Application Default Credentials,
// or where SPANNER_EMULATOR_HOST says.
std::unique_ptr<LockDatabase> NameDatabase(const std::string& path);

// Adds what ServeModel and StartEmulator do not: a row that the protocol needs from the start.
void InsertInitRow(const LockDatabase& database, std::string_view protocol);

}  // namespace whorl
