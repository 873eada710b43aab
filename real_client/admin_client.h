// Makes and removes instances, databases and tables, through Spanner's admin services.
//
// Operations that take long are waited for, by asking for them again and again after growing
// pauses, without any thread that waits. Every method may be called from any thread; `done` is
// called once, on the client's own thread, and must not block.
// Deliberately left out: backups, access control, listing, and changing of instances.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "protocol/spanner/status.h"
#include "real_client/options.h"

namespace whorl::real_client {

class AdminClient {
 public:
  using Done = std::function<void(Status)>;

  // The instance configuration is that of the emulator unless said otherwise.
  struct Instance {
    std::string path;  // projects/P/instances/I
    std::string config = "emulator-config";
    int32_t processing_units = 100;
  };

  explicit AdminClient(ConnectionOptions connection);
  AdminClient(const AdminClient&) = delete;
  AdminClient& operator=(const AdminClient&) = delete;
  // Answers what is under way with CANCELLED, and waits for these callbacks.
  // REQUIRES: not in a callback.
  ~AdminClient();

  void CreateInstance(const Instance& instance, Done done);
  // With its tables: CREATE statements.
  void CreateDatabase(const std::string& database, std::vector<std::string> ddl, Done done);
  void UpdateDdl(const std::string& database, std::vector<std::string> ddl, Done done);
  void GetDdl(const std::string& database,
              std::function<void(Status, std::vector<std::string>)> done);
  void DropDatabase(const std::string& database, Done done);

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace whorl::real_client
