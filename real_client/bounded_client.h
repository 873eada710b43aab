// Limits how many transactions of a client are under way at a time; the others wait in a queue.
//
// Without a limit, a process with thousands of locks would send all their transactions at once when
// it starts, and again when Spanner recovers from an outage. Under overload the transactions that
// are sent should still be useful, or the overload sustains itself: locks are lost, taken again and
// lost again. Therefore
//   1. transactions that keep or release a lock go before those that look for one;
//   2. among each kind, the earliest deadline goes first, but those that would miss their deadline,
//      judged by the duration of recent transactions, go last;
//   3. a transaction that waits past its give_up_at is not sent, but answered with
//      DEADLINE_EXCEEDED;
//   4. of equal transactions that wait, only the newest is sent (a heartbeat that is repeated while
//      the one before it waits here), and the others are answered with CANCELLED.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/spanner/time.h"
#include "real_client/os.h"
#include "real_client/transaction_client.h"

namespace whorl::real_client {

class BoundedClient final : public TransactionClient {
 public:
  using Clock = std::function<Duration()>;  // monotonic

  // REQUIRES: limit > 0.
  BoundedClient(std::unique_ptr<TransactionClient> client, int32_t limit,
                Clock clock = MonotonicNow);
  ~BoundedClient() override;

  RunId Run(Transaction transaction, Done done) override;
  void Cancel(RunId run) override;
  void Shutdown(std::function<void()> done) override;

 private:
  struct Waiting {
    Transaction transaction;
    Done done;
  };
  // By deadline, then by run id, which increases.
  using Queue = std::map<std::pair<Duration, RunId>, Waiting>;
  struct Refused {
    Done done;
    Status status;
  };

  // REQUIRES: mutex_ is held.
  void Send(RunId run, Waiting waiting);
  void Wait(RunId run, Waiting waiting, std::vector<Refused>& refused);
  void RefuseLate(Duration now, std::vector<Refused>& refused);
  std::optional<Queue::node_type> Next(Duration now);

  void OnEnded(RunId run, Duration sent);
  static void Answer(std::vector<Refused> refused);

  const Clock clock_;
  std::mutex mutex_;
  RunId last_run_ = 0;  // guarded by mutex_, like all members below
  int32_t free_;
  bool closed_ = false;
  Duration took_;                     // the recent duration of a transaction
  Queue keeping_;                     // steps that keep a lock or give it back
  Queue looking_;                     // all others
  std::map<RunId, RunId> under_way_;  // maps to the wrapped client's run id
  std::unique_ptr<TransactionClient> client_;
};

}  // namespace whorl::real_client
