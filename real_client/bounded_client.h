// Lets no more than so many transactions of a client be under way at a time; the others wait in the
// order in which they came.
//
// Thousands of locks of one process would otherwise all ask at once when it starts, and again when
// Spanner comes back after a while. A transaction that waits past its give_up_at is not sent.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "real_client/transaction_client.h"

namespace whorl::real_client {

class BoundedClient final : public TransactionClient {
 public:
  // REQUIRES: limit > 0.
  BoundedClient(std::unique_ptr<TransactionClient> client, int32_t limit);
  ~BoundedClient() override;

  RunId Run(Transaction transaction, Done done) override;
  void Cancel(RunId run) override;
  void Shutdown(std::function<void()> done) override;

 private:
  struct Waiting {
    RunId run = 0;
    Transaction transaction;
    Done done;
  };

  // With the lock held.
  void Send(Waiting waiting);
  void OnEnded(RunId run);
  static void Refuse(const Waiting& waiting, Status status);

  std::mutex mutex_;
  RunId last_run_ = 0;  // guarded by mutex_, as all that follows
  int32_t free_;
  bool closed_ = false;
  std::deque<Waiting> waiting_;
  std::map<RunId, RunId> under_way_;  // and the client's own name of it
  std::unique_ptr<TransactionClient> client_;
};

}  // namespace whorl::real_client
