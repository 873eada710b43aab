// A database with a protocol's table, behind gRPC: whorl's own server or the official emulator.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "real_client/options.h"
#include "spanner_model/server/server.h"
#include "tests/support/emulator_process.h"

namespace whorl {

inline constexpr const char* kLockDatabase =
    "projects/test-project/instances/test-instance/databases/locks";

class LockDatabase {
 public:
  virtual ~LockDatabase() = default;
  virtual real_client::ConnectionOptions Connection() const = 0;
  // Whorl's own; null for another one.
  virtual server::Server* server() { return nullptr; }
};

// In this process. `protocol`: whose table it has; empty: none.
std::unique_ptr<LockDatabase> ServeModel(std::string_view protocol);
// Null when there is no emulator.
std::unique_ptr<LockDatabase> StartEmulator(std::string_view protocol);

// Adds what ServeModel and StartEmulator do not: a row that the protocol needs from the start.
void InsertInitRow(const LockDatabase& database, std::string_view protocol);

}  // namespace whorl
