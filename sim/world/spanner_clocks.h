// Reads Spanner's own clocks: TrueTime, and the one that CURRENT_TIMESTAMP reads.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>

#include "sim/world/fault_effects.h"
#include "sim/world/world_context.h"

namespace whorl::sim {

// The least time until a parked transaction is looked at again, so that time moves on in between.
inline constexpr Duration kLookAgainMin = Milliseconds(1);

// What the clocks of the splits' leaders show now, as a range.
class Leaders {
 public:
  explicit Leaders(const WorldContext& work);
  const model::ClockReading* begin() const { return moments_.data(); }
  const model::ClockReading* end() const { return moments_.data() + moments_.size(); }

 private:
  absl::InlinedVector<model::ClockReading, SpannerSpec::kSplitsMax> moments_;
};
// How far the TrueTime of a split's leader is off: as far as it may be, from the second leader on.
Duration TrueTimeShift(const TrueTimeSpec& truetime, uint32_t leader);
// What TrueTime shows a leader at that time.
model::Interval TrueTimeAt(const TrueTimeSpec& truetime, uint32_t leader, Instant at);
// The least that TrueTime's latest can be then, wherever a schedule says that true time lies.
Timestamp LeastLatest(const TrueTimeSpec& truetime, uint32_t leader, Instant at);
// The first instant at which TT.after(commit) holds, for the leader of this split.
Instant WhenSurelyPast(const WorldContext& work, Timestamp commit, uint32_t leader);
// The first instant at which TT.now().latest of the first leader, the server's time, is at or after
// `server_time`.
Instant WhenServerShows(const WorldContext& work, Timestamp server_time);

void SetClocksOfSpanner(WorldContext& work, const SetSpannerClocks& set);

// Spanner looks at what waits at that time, but not sooner than kLookAgainMin from now; not at another one.
void ScheduleLook(WorldContext& work, Instant at);
void CallOffLook(WorldContext& work);

}  // namespace whorl::sim
