// Runs transactions on one Spanner database over gRPC. It runs transactions with the simulation's
// own transaction runner and session pool.
//
// Invariants:
//   1. Only the destructor blocks its caller. Everything runs on one thread of the client;
//      callbacks run there, too, so they must not block.
//   2. Every transaction is answered exactly once, in whatever way the client ends.
//   3. The outcome of a transaction is never guessed: if it is not known, it is kUnknown.
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
  // INVALID_ARGUMENT for invalid options. Nothing is sent yet: the first transaction shows whether
  // the database can be reached.
  static Status Create(ClientOptions options, std::unique_ptr<SpannerClient>& out);
  // Waits for the callbacks, and two seconds more at most.
  ~SpannerClient() override;

  RunId Run(Transaction transaction, Done done) override;
  void Cancel(RunId run) override;
  // Rolls back open transactions and deletes regular sessions, for two seconds at most.
  void Shutdown(std::function<void()> done) override;

 private:
  class Core;
  explicit SpannerClient(ClientOptions options);

  std::unique_ptr<Core> core_;
};

}  // namespace whorl::real_client
