// Finds in a run's observations how long takeovers took, and the least time that they needed.
//
// T* is the least time that a protocol which respects the lease needs. With s* the true time at
// which the Commit of the old leader's last committed renewal was first sent (even if it commits
// after the fault), L the lease, C the median Commit call, and w the median way to the resource:
//
//   crash at c, a pause or a cut at c that outlives s* + L    max(0, s* + L - c) + C + w
//   graceful stop, counted from when the work has stopped     2C + w
//   Spanner unavailable from u0 to u1                         max(s* + L, u1) - u0 + C + w
//   lost heartbeat, short pause                               0
//
// A grant before s* + L would overlap with a leader that was merely cut off, and a grant needs one
// Commit after that. A release needs one, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/measure/takeover_case.h"
#include "sim/scenario/rules.h"
#include "sim/scenario/scenario.h"
#include "sim/world/driver.h"
#include "sim/world/observation.h"

namespace whorl::sim {

struct MedianTimes {
  Duration commit;    // C: a Commit call, as its process sees it
  Duration resource;  // w: one way from a process to the resource
  WHORL_FIELDS(MedianTimes, commit, resource);
};
// `epsilon` is half the width of TrueTime's interval, which a commit waits out.
MedianTimes MedianTimesOf(Preset preset, Duration epsilon);

// One takeover. Times count from the fault.
struct Takeover {
  Duration first_write;  // until the new leader's first write arrives at the unfenced resource
  Duration grant;        // until the new leader's grant is visible
  Duration least;        // T*
  // From the lapse of the old leader's belief to the first write; nothing if it still believed.
  std::optional<Duration> since_lapse;
  WHORL_FIELDS(Takeover, first_write, grant, least, since_lapse);
};

struct TakeoverRun {
  std::vector<Takeover> takeovers;  // a deployment has one for each leader that was stopped
  int64_t kept = 0;                 // 1: the old leader kept the lock
  int64_t missing = 0;              // 1: no other process had written when the run ended
  // 1: the fault did not strike the leader, or did not strike at all.
  int64_t spoilt = 0;
  WHORL_FIELDS(TakeoverRun, takeovers, kept, missing, spoilt);
};

class TakeoverObserver : public EndingSink {
 public:
  // `scenario` outlives this. REQUIRES: all its faults belong to the takeover's fault.
  TakeoverObserver(const Scenario& scenario, TakeoverFault fault, MedianTimes times);

  void Hear(const Observation& observation, uint64_t ordinal, uint64_t hash) override;
  bool HasEnough() const override;

  // REQUIRES: the run has ended, or this had enough.
  TakeoverRun Finish();

 private:
  // Identifies the attempt of a transaction that a call belongs to.
  using Attempt = std::tuple<ProcessId, uint16_t, RequestId, uint16_t>;
  static Attempt AttemptOf(const CallName& call) {
    return {call.process, call.lock, call.request, call.attempt};
  }
  // From a fault that struck a leader to the first write of the next one.
  struct Open {
    ProcessId old;
    Instant since;
    Duration outage;  // until Spanner answers again
    std::optional<Instant> granted;
    std::optional<Instant> lapsed;
  };

  void On(const FaultBegan& x);
  void On(const CallSent& x);
  void On(const TransactionCommitted& x);
  void On(const TransactionFinished& x);
  void On(const RowCommitted& x);
  void On(const BeliefChanged& x);
  void On(const WriteArrived& x);
  void On(const auto&) {}

  Duration Least() const;

  const Scenario& scenario_;
  const TakeoverFault fault_;
  const MedianTimes times_;
  const Rules& rules_;
  const Value key_;       // key of the lock's row
  const Duration lease_;  // L
  Instant now_;
  std::map<Attempt, Instant> sent_;  // when the first Commit of each open attempt was sent
  Instant committed_sent_;           // the same for the attempt whose RowCommitted follow
  ProcessId owner_;
  bool owner_believes_ = false;
  Instant renewed_;  // s* of the owner, or of the old leader once a takeover is open
  size_t struck_ = 0;
  std::optional<Open> open_;
  TakeoverRun run_;
};

}  // namespace whorl::sim
