#include "sim/world/spanner_clocks.h"

#include <algorithm>

namespace whorl::sim {

Duration TrueTimeShift(const TrueTimeSpec& truetime, uint32_t leader) {
  const Duration error = truetime.truthful ? Duration{} : truetime.error;
  if (leader == 0) return error;
  return leader % 2 == 1 ? error + truetime.epsilon : error - truetime.epsilon;
}

model::Interval TrueTimeAt(const TrueTimeSpec& truetime, uint32_t leader, Instant at) {
  const Instant middle = at + TrueTimeShift(truetime, leader);
  return {.earliest = ToTimestamp(middle + -truetime.epsilon),
          .latest = ToTimestamp(middle + truetime.epsilon)};
}

Leaders::Leaders(const Work& work) {
  const SpannerState& spanner = work.state.spanner;
  const Timestamp current =
      ToTimestamp(work.state.now + spanner.current_timestamp_error).TruncatedToMicros();
  // Commits of one instant lie ahead of its clock, the visible ones too.
  Timestamp passed;
  if (work.is_early) {
    for (const model::SplitState& split : work.state.database.splits) {
      passed = std::max(passed, split.last_visible);
    }
  }
  for (uint32_t leader = 0; leader < work.setup.catalogue->split_count(); ++leader) {
    moments_.push_back({.truetime = TrueTimeAt(spanner.truetime, leader, work.state.now),
                        .current_timestamp = current,
                        .passed = passed});
  }
}

Instant WhenSurelyPast(const Work& work, Timestamp commit, uint32_t leader) {
  const TrueTimeSpec& truetime = work.state.spanner.truetime;
  return ToInstant(commit) + truetime.epsilon + -TrueTimeShift(truetime, leader) + Nanoseconds(1);
}

Instant WhenServerShows(const Work& work, Timestamp server_time) {
  const TrueTimeSpec& truetime = work.state.spanner.truetime;
  return ToInstant(server_time) + -truetime.epsilon + -TrueTimeShift(truetime, 0);
}

void SetClocksOfSpanner(Work& work, const SetSpannerClocks& set) {
  SpannerState& spanner = work.state.spanner;
  spanner.truetime = set.truetime;
  spanner.current_timestamp_error = set.current_timestamp_error;
  work.Observe(SpannerClocksChanged{.epsilon = spanner.truetime.epsilon,
                                    .truetime_error = TrueTimeShift(spanner.truetime, 0),
                                    .current_timestamp_error = spanner.current_timestamp_error});
  // The events that Spanner waits for by its own clock are due at other times now.
  if (work.state.database.look_again) {
    work.Schedule(work.state.now + kLookAgainMin, ChoiceKind::kSettle, -1, SpannerLooksAgain{});
  }
}

}  // namespace whorl::sim
