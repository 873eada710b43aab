// The same as spanner_client.h by Google's library, google-cloud-cpp: the same runner decides, but
// calls are the library's, which block, so they run on a pool of threads.
//
// Invariants: those of transaction_client.h, and
//   1. A Commit is sent once. Unless Spanner answers it with something certain, it is kUnknown.
//   2. Nobody waits for a call that hangs: at its deadline, or when it is cancelled, the
//      transaction is answered, and the call is left to end by itself; then the same thread rolls
//      back.
//   3. What was given up before a thread took it is not sent.
//   4. There are as many sessions as threads, and who holds locks has a session: its next call
//      finds a thread, whoever waits for those locks on the others.
// What differs from the other client, since the library leaves no choice:
//   - Transactions are pessimistic, whatever they ask for, unless CanBeOptimistic().
//   - Sessions are regular ones, one for each transaction under way; ClientOptions::sessions does
//   not
//     count.
//   - An error of the statement that carries the begin shows only after a BeginTransaction and the
//     same statement once more, which nothing but an error of its own can come of.
//   - A statement in a transaction that has begun is not sent again when the connection breaks
//     (the library would send it as another one): the transaction is rolled back.
//   - RetryInfo cannot be seen, so pauses after ABORTED are the policy's.
//   - Sessions are not deleted at the end: Spanner does that after an hour.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "protocol/client/transaction.h"
#include "protocol/spanner/status.h"
#include "real_client/options.h"
#include "real_client/transaction_client.h"

namespace whorl::real_client {

class GoogleCloudClient final : public TransactionClient {
 public:
  // INVALID_ARGUMENT where the options cannot be meant; FAILED_PRECONDITION where the environment's
  // SPANNER_EMULATOR_HOST, which the library follows in any case, says another address. Nothing is
  // sent yet.
  static Status Create(ClientOptions options, std::unique_ptr<GoogleCloudClient>& out);
  // Of the library: "v1.29.0".
  static std::string Version();
  // Whether this version of the library can ask for optimistic transactions. Where it cannot, a
  // process that hangs inside a transaction keeps others waiting, until Spanner ends it (10 s).
  static bool CanBeOptimistic();
  // Waits for calls that are under way: each for two seconds beyond the policy's timeout; at worst
  // for a statement that carries the begin, which the library sends as three calls, and its
  // rollback.
  ~GoogleCloudClient() override;

  RunId Run(Transaction transaction, Done done) override;
  void Cancel(RunId run) override;
  void Shutdown(std::function<void()> done) override;

 private:
  class Core;
  explicit GoogleCloudClient(ClientOptions options);

  std::unique_ptr<Core> core_;
};

// For LockClientOptions::make_client.
Status MakeGoogleCloudClient(ClientOptions options, std::unique_ptr<TransactionClient>& out);

}  // namespace whorl::real_client
