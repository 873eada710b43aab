// Limits how many transactions of a client are under way at a time, to as many as Spanner serves
// well; the others wait in a queue.
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
//   4. reads and read-write transactions each have a level of their own, since Spanner is overloaded
//      with them at different ones (ConcurrencyLevel);
//   5. of equal transactions that wait, only the newest is sent (a heartbeat that is repeated while
//      the one before it waits here), and the others are answered with CANCELLED.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "protocol/client/transaction.h"
#include "real_client/os.h"
#include "real_client/transaction_client.h"

namespace whorl::real_client {

// Finds how many transactions Spanner serves at a time without refusing some or slowing all down.
//
// Additive increase, multiplicative decrease: an answer that came in time raises the level by a
// tenth of a transaction for each round of answers, as long as others wait; a refusal (ABORTED,
// RESOURCE_EXHAUSTED, UNAVAILABLE, no answer in time) halves it, and answers that take several
// times as long as the fastest of late lower it by a tenth. A transaction
// that was sent before the last fall says nothing of the level since. Near the level at which it
// fell it rises ten times more slowly: each trial there costs transactions their retries.

class ConcurrencyLevel {
 public:
  // REQUIRES: most > 0.
  explicit ConcurrencyLevel(int32_t most);

  // From 1 to `most`.
  int32_t limit() const { return static_cast<int32_t>(level_); }
  // A transaction ended at `now` that was sent `took` before. `others_wait`: the level, and not the
  // number of transactions to be sent, decided how many were under way.
  void OnEnded(LocalInstant now, Duration took, const TransactionResult& result, bool others_wait);

 private:
  void Fall(LocalInstant now, LocalInstant sent, double to);
  void Measure(LocalInstant now, Duration took);

  const double most_;
  double level_;
  double fell_at_;             // the level of the last fall; what is above it is untried
  Duration took_;              // smoothed
  Duration fastest_now_;       // of this period
  Duration fastest_before_;    // of the one before
  LocalInstant period_began_;  // once has_measured_
  LocalInstant fell_;          // once has_fallen_
  bool has_measured_ = false;
  bool has_fallen_ = false;
};

class BoundedClient final : public TransactionClient {
 public:
  using Clock = std::function<LocalInstant()>;  // monotonic

  // `most` bounds the levels, and all transactions under way together. REQUIRES: most > 0.
  BoundedClient(std::unique_ptr<TransactionClient> client, int32_t most,
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
  using Queue = std::map<std::pair<LocalInstant, RunId>, Waiting>;
  // Transactions that share a level.
  struct Lane {
    explicit Lane(int32_t most) : level(most) {}
    bool has_room() const { return under_way < level.limit(); }
    bool has_waiting() const { return !keeping.empty() || !looking.empty(); }

    ConcurrencyLevel level;
    int32_t under_way = 0;
    Duration took;  // the recent duration of a transaction
    Queue keeping;  // steps that keep a lock or give it back
    Queue looking;  // all others
  };
  struct Sent {
    RunId run = 0;  // the wrapped client's
    Lane* lane = nullptr;
  };
  struct Refused {
    Done done;
    Status status;
  };

  // REQUIRES: mutex_ is held.
  Lane& LaneOf(const Transaction& transaction);
  bool HasRoom(const Lane& lane) const;
  void Send(RunId run, Lane& lane, Waiting waiting);
  void Wait(RunId run, Lane& lane, Waiting waiting, std::vector<Refused>& refused);
  void RefuseLate(LocalInstant now, std::vector<Refused>& refused);
  // Sends what waits, as long as there is room.
  void SendNext(LocalInstant now);
  bool SendFrom(Lane& lane, Queue& queue, LocalInstant from);

  void OnEnded(RunId run, LocalInstant sent, const TransactionResult& result);
  static void Answer(std::vector<Refused> refused);

  const Clock clock_;
  std::mutex mutex_;
  RunId last_run_ = 0;  // guarded by mutex_, like all members below
  const size_t most_;
  bool closed_ = false;
  std::array<Lane, 2> lanes_;  // read-write transactions, reads
  std::map<RunId, Sent> under_way_;
  std::unique_ptr<TransactionClient> client_;
};

}  // namespace whorl::real_client
