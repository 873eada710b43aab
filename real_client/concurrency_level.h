// Finds how many transactions Spanner serves at a time without refusing some or slowing all down.
//
// Additive increase, multiplicative decrease: an answer that came in time raises the level by a
// tenth of a transaction for each round of answers, as long as others wait; a refusal (ABORTED,
// RESOURCE_EXHAUSTED, UNAVAILABLE, no answer in time) halves it, and answers that take several
// times as long as the fastest of late lower it by a tenth. A transaction
// that was sent before the last fall says nothing of the level since. Near the level at which it
// fell it rises ten times more slowly: each trial there costs transactions their retries.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "protocol/client/transaction.h"

namespace whorl::real_client {

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

}  // namespace whorl::real_client
