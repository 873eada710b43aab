// Lets no more than so many transactions of a client be under way at a time; the others wait.
//
// Thousands of locks of one process would otherwise all ask at once when it starts, and again when
// Spanner comes back after a while. When more is asked for than Spanner does, what is served should
// be of use, or the overload feeds itself: locks are lost, and taken again, and lost. So
//   1. what keeps a lock or gives it back goes before what looks for one;
//   2. of these, what must be there first goes first, but what would come too late goes last, by
//      the time that transactions took of late;
//   3. what waits past its give_up_at is not sent, and answered with DEADLINE_EXCEEDED;
//   4. of equal ones that wait, only the last is sent (a heartbeat that is asked for again while
//      the one before waits here), and the others are answered with CANCELLED.
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
  // By when they have to be there, and their names, which grow.
  using Queue = std::map<std::pair<Duration, RunId>, Waiting>;
  struct Refused {
    Done done;
    Status status;
  };

  // With the lock held.
  void Send(RunId run, Waiting waiting);
  void Wait(RunId run, Waiting waiting, std::vector<Refused>& refused);
  void RefuseLate(Duration now, std::vector<Refused>& refused);
  std::optional<Queue::node_type> Next(Duration now);

  void OnEnded(RunId run, Duration sent);
  static void Answer(std::vector<Refused> refused);

  const Clock clock_;
  std::mutex mutex_;
  RunId last_run_ = 0;  // guarded by mutex_, as all that follows
  int32_t free_;
  bool closed_ = false;
  Duration took_;                     // a transaction, of late
  Queue keeping_;                     // steps that keep a lock or give it back
  Queue looking_;                     // all others
  std::map<RunId, RunId> under_way_;  // and the client's own name of it
  std::unique_ptr<TransactionClient> client_;
};

}  // namespace whorl::real_client
