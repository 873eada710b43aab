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

#include <functional>
#include <memory>

#include "protocol/client/transaction.h"
#include "protocol/spanner/status.h"
#include "real_client/options.h"
#include "real_client/transaction_client.h"

namespace whorl::real_client {

class SpannerClient final : public TransactionClient {
 public:
  // INVALID_ARGUMENT where the options cannot be meant. Nothing is sent yet: whether the database
  // can be reached is told by the first transaction.
  static Status Create(ClientOptions options, std::unique_ptr<SpannerClient>& out);
  // Waits two seconds at most beyond the callbacks.
  ~SpannerClient() override;

  RunId Run(Transaction transaction, Done done) override;
  void Cancel(RunId run) override;
  // Rolls back what has begun, and gives regular sessions back, for two seconds at most.
  void Shutdown(std::function<void()> done) override;

 private:
  class Core;
  explicit SpannerClient(ClientOptions options);

  std::unique_ptr<Core> core_;
};

}  // namespace whorl::real_client
