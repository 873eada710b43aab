// Tells which promises are void at a moment of a run, because what they rest on has failed and was not mended long enough
// ago (PromiseLimit in protocol/protocols.h).
//
// Invariants:
//   1. PromiseClock is a value: copying it forks it, == compares it.
//   2. Memory depends on locks, nodes and the protocol's limits, not on the length of the run.
// REQUIRES of observations: what Checkers requires. The clock hears an observation before any judge does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "protocol/names.h"
#include "protocol/protocols.h"
#include "protocol/spanner/fields.h"
#include "sim/judge/checkers/setup.h"
#include "sim/scenario/instant.h"
#include "sim/world/observation.h"

namespace whorl::sim {

struct PromiseClock {
  // For how long a limit has voided its promise, in any lock: `before`, and from `from` until `until`.
  struct Gap {
    Duration before;
    Instant from;
    Instant until;
    WHORL_FIELDS(Gap, before, from, until);
  };

  std::vector<Instant> void_until;   // by limit of CheckerSetup::limits, then by lock
  std::vector<Gap> gaps;             // by limit
  std::vector<int16_t> standing;     // the nodes whose clocks stand still
  Duration current_timestamp_error;  // the greatest so far, either way
  // The locks whose no_wedge is promised again since this observation.
  std::vector<uint16_t> mended;
  WHORL_FIELDS(PromiseClock, void_until, gaps, standing, current_timestamp_error, mended);

  static PromiseClock For(const CheckerSetup& setup);

  void Observe(const Observation& observation, const CheckerSetup& setup);

  // Whether the invariant is not promised for the lock at that time, or may be violated by `by`. `by`: the measure of
  // the violation; 0 if the invariant has no measure.
  bool IsVoid(Invariant invariant, uint16_t lock, Instant at, Duration by,
              const CheckerSetup& setup) const;
  // For how long the limit has voided its promise in a run that ends at `end`; 0 of one that has a measure.
  Duration VoidedBy(size_t limit, Instant end, const CheckerSetup& setup) const;

  void On(const ProcessStarted& x, Instant at, const CheckerSetup& setup);
  void On(const RowCommitted& x, Instant at, const CheckerSetup& setup);
  void On(const ClockChanged& x, Instant at, const CheckerSetup& setup);
  void On(const SpannerClocksChanged& x, Instant at, const CheckerSetup& setup);
};

}  // namespace whorl::sim
