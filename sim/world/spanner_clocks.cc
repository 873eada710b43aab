#include "sim/world/spanner_clocks.h"

namespace whorl::sim {
namespace {

Duration TrueTimeShift(const TrueTimeSpec& spec) { return spec.truthful ? Duration{} : spec.error; }

}  // namespace

model::Moment MomentNow(const Work& work) {
  const SpannerState& spanner = work.state.spanner;
  const Timestamp now = ToTimestamp(work.state.now);
  const Timestamp middle = now + TrueTimeShift(spanner.truetime);
  return {.truetime = {.earliest = middle - spanner.truetime.epsilon,
                       .latest = middle + spanner.truetime.epsilon},
          .current_timestamp = (now + spanner.current_timestamp_error).TruncatedToMicros()};
}

Instant WhenSurelyPast(const Work& work, Timestamp commit) {
  const TrueTimeSpec& truetime = work.state.spanner.truetime;
  return ToInstant(commit) + truetime.epsilon + -TrueTimeShift(truetime) + Nanoseconds(1);
}

Instant WhenServerShows(const Work& work, Timestamp server_time) {
  const TrueTimeSpec& truetime = work.state.spanner.truetime;
  return ToInstant(server_time) + -truetime.epsilon + -TrueTimeShift(truetime);
}

void SetClocksOfSpanner(Work& work, const SetSpannerClocks& set) {
  SpannerState& spanner = work.state.spanner;
  spanner.truetime = set.truetime;
  spanner.current_timestamp_error = set.current_timestamp_error;
  work.Observe(SpannerClocksChanged{.epsilon = spanner.truetime.epsilon,
                                    .truetime_error = TrueTimeShift(spanner.truetime),
                                    .current_timestamp_error = spanner.current_timestamp_error});
  // The events that Spanner waits for by its own clock are due at other times now.
  if (work.state.database.look_again) {
    work.Schedule(work.state.now + kLookAgainMin, ChoiceKind::kSettle, -1, SpannerLooksAgain{});
  }
}

}  // namespace whorl::sim
