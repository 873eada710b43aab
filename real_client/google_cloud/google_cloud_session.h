// One session of google-cloud-cpp, and the transaction that runs in it: the calls of whorl's
// vocabulary by the library's public interface. They block.
//
// Invariants:
//   1. The library sends each call once. It has no retries, and each call ends two seconds after
//      the policy's timeout, by the channel's service configuration: the library has no deadlines.
//   2. A connection of the library has one session and one user at a time. Whoever waits in the
//      library's own pool for a session that another thread is creating waits for ever when that
//      fails (google-cloud-cpp v1.29.0, session_pool.cc: a failure wakes nobody).
// What the library adds by itself: when the statement that carries the begin fails, it sends a
// BeginTransaction and the statement once more.
#pragma once

#include <google/cloud/completion_queue.h>
#include <google/cloud/options.h>
#include <google/cloud/spanner/client.h>
#include <google/cloud/spanner/transaction.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "protocol/spanner/rpc.h"
#include "protocol/spanner/status.h"
#include "real_client/options.h"

namespace whorl::real_client {

// Connections to one database. They share one background thread, which keeps sessions alive, and
// `channels` TCP connections.
class GoogleCloudConnector {
 public:
  // Nothing is sent or looked for yet. REQUIRES: `options.database` names a database.
  explicit GoogleCloudConnector(const ClientOptions& options);
  GoogleCloudConnector(const GoogleCloudConnector&) = delete;
  GoogleCloudConnector& operator=(const GoogleCloudConnector&) = delete;
  // REQUIRES: its connections are gone.
  ~GoogleCloudConnector();

  // The connection of this number, which is made when it is asked for first; so are credentials,
  // for which the machine's metadata server may be asked. From any thread.
  Status Connect(size_t number, std::shared_ptr<google::cloud::spanner::Connection>& out);

 private:
  const google::cloud::spanner::Database database_;
  const ConnectionOptions connection_;
  google::cloud::CompletionQueue queue_;
  google::cloud::Options options_;  // of all connections
  std::mutex mutex_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;  // guarded by mutex_
  std::thread background_;
};

class GoogleCloudSession {
 public:
  // REQUIRES: `connector` outlives it.
  GoogleCloudSession(GoogleCloudConnector& connector, size_t number)
      : connector_(connector), number_(number) {}

  // Blocks, for those times at most. As a transaction id it gives out a word of its own:
  // the library shows none. A BeginReadWrite that names a transaction before it goes on with the
  // age of the one that ran here last. Statements, BeginTransaction, Commit and Rollback only.
  Response Do(const Request& request);
  // Whether Spanner may hold a transaction that nobody has committed or rolled back.
  bool is_open() const { return open_; }
  // Forgets the transaction and its age: what begins next is another one's.
  void Forget();

 private:
  Status Connect();
  void Begin(const BeginReadWrite& options);
  Response Call(const ExecuteSql& call);
  Response Call(const BeginTransaction& call);
  Response Call(const Commit& call);
  Response Call(const Rollback& call);
  template <typename Other>
  Response Call(const Other& call);
  Response InTransaction(const Statement& statement);

  GoogleCloudConnector& connector_;
  size_t number_;
  std::optional<google::cloud::spanner::Client> client_;
  std::optional<google::cloud::spanner::Transaction> transaction_;
  bool open_ = false;
};

// Whether the library can ask for transactions that lock nothing before they commit.
bool GoogleCloudCanBeOptimistic();

}  // namespace whorl::real_client
