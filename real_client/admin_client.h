// Creates and drops instances, databases and tables through Spanner's admin services.
//
// The client polls long-running operations with growing pauses; no thread waits for them. Every
// method may be called from any thread; `done` is called once, on the client's own thread, and must
// not block.
// Deliberately left out: backups, access control, listing, and changes of instances.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "protocol/spanner/status.h"
#include "real_client/options.h"

namespace whorl::real_client {

class AdminClient {
 public:
  using Done = std::function<void(Status)>;

  // By default with the configuration of the emulator.
  struct Instance {
    std::string path;  // projects/P/instances/I
    std::string config = "emulator-config";
    int32_t processing_units = 100;
  };

  // `call_timeout` bounds each call with its resends; an operation that Spanner has begun is awaited
  // for as long as it takes. By default Spanner's published configuration of its admin services.
  explicit AdminClient(ConnectionOptions connection, Duration call_timeout = Seconds(3600));
  AdminClient(const AdminClient&) = delete;
  AdminClient& operator=(const AdminClient&) = delete;
  // Answers calls under way with CANCELLED and waits for their callbacks.
  // REQUIRES: not in a callback.
  ~AdminClient();

  void CreateInstance(const Instance& instance, Done done);
  // `ddl`: the CREATE statements of its tables.
  void CreateDatabase(const std::string& database, std::vector<std::string> ddl, Done done);
  void UpdateDdl(const std::string& database, std::vector<std::string> ddl, Done done);
  void GetDdl(const std::string& database,
              std::function<void(Status, std::vector<std::string>)> done);
  // Whether the database speaks PostgreSQL's dialect instead of GoogleSQL.
  void SpeaksPostgres(const std::string& database, std::function<void(Status, bool)> done);
  void DropDatabase(const std::string& database, Done done);

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

// Turns a call with a callback into one that blocks: calls `begin` with a callback, and waits for the status that it gets. REQUIRES: the callback is called
// once, from another thread or at once.
template <typename Begin>
Status AwaitStatus(const Begin& begin) {
  std::promise<Status> promise;
  begin([&promise](Status status) { promise.set_value(std::move(status)); });
  return promise.get_future().get();
}

}  // namespace whorl::real_client
