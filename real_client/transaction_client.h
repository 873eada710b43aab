// Runs transactions and reports their outcomes: the interface between a lock's machine and the library that
// talks to Spanner.
//
// Invariants of every implementation:
//   1. Every transaction is answered exactly once, in whatever way the client ends.
//   2. The outcome of a transaction is never guessed: if it is not known, it is kUnknown.
//   3. Only the destructor blocks its caller, and Run() returns before its answer comes.
// Sources of the implementations: spanner_client.h (the project's own, by gRPC) and
// google_cloud/google_cloud_client.h (google-cloud-cpp, where it is installed).
#pragma once

#include <cstdint>
#include <functional>

#include "protocol/client/transaction.h"

namespace whorl::real_client {

class TransactionClient {
 public:
  using RunId = uint64_t;
  // Runs on a thread of the client, so it must not block.
  using Done = std::function<void(TransactionResult)>;

  TransactionClient() = default;
  TransactionClient(const TransactionClient&) = delete;
  TransactionClient& operator=(const TransactionClient&) = delete;
  // Shuts down and waits for it. REQUIRES: not in a callback.
  virtual ~TransactionClient() = default;

  // The following may be called from any thread, also in a callback.
  //
  // REQUIRES: the transaction has a statement, or is kReadWrite and has a mutation.
  virtual RunId Run(Transaction transaction, Done done) = 0;
  // Ends the transaction with CANCELLED, unless it ends before: with the outcome kAborted if no
  // Commit was sent, kUnknown if one was.
  virtual void Cancel(RunId run) = 0;
  // Cancels all transactions under way and refuses new ones. Calls `done` after the callbacks of
  // all transactions.
  virtual void Shutdown(std::function<void()> done) = 0;
};

}  // namespace whorl::real_client
