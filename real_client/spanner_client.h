// A client of one Spanner database: runs transactions through the same runner and session pool as
// the simulation, over gRPC.
//
// Invariants:
//   1. No thread of the caller is ever blocked, but by the destructor. Everything runs on one
//      thread of the client's own; callbacks run there too, so they must not block.
//   2. Every transaction is answered exactly once, in whatever way the client ends.
//   3. What became of a transaction is never guessed: kUnknown where it cannot be told.
// Deliberately left out: read-only transactions of many reads, stale reads, batch DML, reads by
// key.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "protocol/client/transaction.h"
#include "protocol/spanner/status.h"
#include "real_client/options.h"

namespace whorl::real_client {

class SpannerClient {
 public:
  using RunId = uint64_t;
  using Done = std::function<void(TransactionResult)>;

  // INVALID_ARGUMENT where the options cannot be meant. Nothing is sent yet: whether the database
  // can be reached is told by the first transaction.
  static Status Create(ClientOptions options, std::unique_ptr<SpannerClient>& out);

  SpannerClient(const SpannerClient&) = delete;
  SpannerClient& operator=(const SpannerClient&) = delete;
  // As Shutdown, and waits until it is done (two seconds at most beyond the callbacks).
  // REQUIRES: not in a callback.
  ~SpannerClient();

  // These may be called from any thread, also in a callback.
  //
  // REQUIRES: the transaction has a statement, or is kReadWrite and has a mutation.
  RunId Run(Transaction transaction, Done done);
  // Ends the transaction with CANCELLED, unless it ends by itself before.
  void Cancel(RunId run);
  // Cancels all that is under way, refuses what comes, rolls back what has begun, and gives regular
  // sessions back, for two seconds at most; then `done`, after the callbacks of all transactions.
  void Shutdown(std::function<void()> done);

 private:
  class Core;
  explicit SpannerClient(ClientOptions options);

  std::unique_ptr<Core> core_;
};

}  // namespace whorl::real_client
