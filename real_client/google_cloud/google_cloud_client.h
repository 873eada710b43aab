// Runs transactions as spanner_client.h does, by Google's library, google-cloud-cpp. The same
// runner decides, but the library's calls block, so they run on a pool of threads.
//
// Invariants: those of transaction_client.h, and
//   1. A Commit is sent once. Unless Spanner's answer is certain, its outcome is kUnknown.
//   2. No caller waits for a hanging call: at its deadline, or when it is cancelled, the
//      transaction is answered, and the call ends by itself later; the same thread then rolls back.
//   3. A call that was given up before a thread took it is not sent.
//   4. There are as many sessions as threads, and a transaction with locks has a session, so its
//      next call finds a thread even if all other threads wait for its locks.
// Differences from the other client, which the library imposes:
//   - Transactions are pessimistic, whatever they request, unless CanBeOptimistic().
//   - Sessions are regular, one for each transaction under way; ClientOptions::sessions is ignored.
//   - If the statement that carries the begin fails, the library sends a BeginTransaction and the
//     statement again, and only the error of that one is returned.
//   - If the connection breaks, a statement in a transaction that has begun is not sent again (the
//     library would send it as a new one): the transaction is rolled back.
//   - The library hides RetryInfo, so the policy determines the pauses after ABORTED.
//   - Sessions are not deleted at the end: Spanner does that after an hour.
//   - No role of fine-grained access control is sent: a client with a `database_role` is refused.
//   - ClientOptions::call_observer sees no call, and transactions have no tags.
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
  // INVALID_ARGUMENT for invalid options; FAILED_PRECONDITION if the environment's
  // SPANNER_EMULATOR_HOST, which the library always follows, is another address. Nothing is sent
  // yet.
  static Status Create(ClientOptions options, std::unique_ptr<GoogleCloudClient>& out);
  // The library's version: "v1.29.0".
  static std::string Version();
  // Whether this version of the library supports optimistic transactions. If it does not, a process
  // that hangs inside a transaction blocks others until Spanner aborts the transaction (10 s).
  static bool CanBeOptimistic();
  // Waits for the calls under way, each for the policy's timeout and two seconds at most; the worst
  // case is a statement that carries the begin, which the library sends as three calls, and its
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
