// Wraps one session of google-cloud-cpp and the transaction that runs in it: makes the calls of
// whorl's vocabulary through the library's public interface. They block.
//
// Invariants:
//   1. The library sends each call once, without retries. The channel's service configuration ends
//      each call two seconds after the policy's timeout, since the library has no deadlines.
//   2. A connection of the library has one session and one user at a time. In the library's own
//      pool, a thread that waits for a session that another thread fails to create would wait for
//      ever (google-cloud-cpp v1.29.0, session_pool.cc: a failure wakes no waiter).
// The library adds calls by itself: if the statement that carries the begin fails, it sends a
// BeginTransaction and the statement again.
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
  // Sends nothing and looks for no credentials yet. REQUIRES: `options.database` names a database.
  explicit GoogleCloudConnector(const ClientOptions& options);
  GoogleCloudConnector(const GoogleCloudConnector&) = delete;
  GoogleCloudConnector& operator=(const GoogleCloudConnector&) = delete;
  // REQUIRES: its connections are destroyed.
  ~GoogleCloudConnector();

  // The connection with this number. The first call for it opens it and finds the credentials,
  // which may contact the machine's metadata server. Callable from any thread.
  Status Connect(size_t number, std::shared_ptr<google::cloud::spanner::Connection>& out);

 private:
  const google::cloud::spanner::Database database_;
  const ConnectionOptions connection_;
  google::cloud::CompletionQueue queue_;
  google::cloud::Options options_;  // shared by all connections
  std::mutex mutex_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;  // guarded by mutex_
  std::thread background_;
};

class GoogleCloudSession {
 public:
  // REQUIRES: `connector` outlives it.
  GoogleCloudSession(GoogleCloudConnector& connector, size_t number)
      : connector_(connector), number_(number) {}

  // Blocks, for the times of invariant 1 at most. Accepts statements, BeginTransaction, Commit and
  // Rollback only. The transaction ids that it returns are its own, since the library shows none. A
  // BeginReadWrite that names a previous transaction inherits the age of the last one on this
  // session.
  Response Do(const Request& request);
  // Whether Spanner may hold a transaction that was neither committed nor rolled back.
  bool is_open() const { return open_; }
  // Forgets the transaction and its age, so that the next one does not inherit them.
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

// Whether the library supports transactions that lock nothing before they commit.
bool GoogleCloudCanBeOptimistic();

}  // namespace whorl::real_client
