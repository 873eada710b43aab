#include "sim/world/spanner_clocks.h"

#include <algorithm>
#include <optional>

namespace whorl::sim {
namespace {

model::Interval IntervalAround(Instant middle, Duration epsilon) {
  return {.earliest = ToTimestamp(middle + -epsilon), .latest = ToTimestamp(middle + epsilon)};
}

ClockErrors ErrorsNow(const WorldContext& work) {
  return work.chance == nullptr ? ClockErrors() : work.chance->ErrorsOfSpannersClocks();
}

}  // namespace

Duration TrueTimeShift(const TrueTimeSpec& truetime, uint32_t leader) {
  const Duration error = truetime.truthful ? Duration{} : truetime.error;
  if (leader == 0) return error;
  return leader % 2 == 1 ? error + truetime.epsilon : error - truetime.epsilon;
}

model::Interval TrueTimeAt(const TrueTimeSpec& truetime, uint32_t leader, Instant at) {
  return IntervalAround(at + TrueTimeShift(truetime, leader), truetime.epsilon);
}

Timestamp LeastLatest(const TrueTimeSpec& truetime, uint32_t leader, Instant at) {
  return truetime.truthful ? ToTimestamp(at) : TrueTimeAt(truetime, leader, at).latest;
}

Leaders::Leaders(const WorldContext& work) {
  const SpannerState& spanner = work.state.spanner;
  const ClockErrors errors = ErrorsNow(work);
  const Instant now = work.state.now;
  const Timestamp current =
      ToTimestamp(now + errors.current_timestamp.value_or(spanner.current_timestamp_error))
          .TruncatedToMicros();
  // Commits of one instant lie ahead of its clock, the visible ones too.
  Timestamp passed;
  if (work.is_early) {
    for (const model::SplitState& split : work.state.database.splits) {
      passed = std::max(passed, split.last_visible);
    }
  }
  for (uint32_t leader = 0; leader < work.setup.catalogue->split_count(); ++leader) {
    const Duration shift = errors.truetime.value_or(TrueTimeShift(spanner.truetime, leader));
    moments_.push_back({.truetime = IntervalAround(now + shift, spanner.truetime.epsilon),
                        .current_timestamp = current,
                        .passed = passed});
  }
}

Instant WhenSurelyPast(const WorldContext& work, Timestamp commit, uint32_t leader) {
  const TrueTimeSpec& truetime = work.state.spanner.truetime;
  // Where an error was chosen, it is that of the commit timestamp: the wait may end when the interval
  // lies ahead of true time.
  const Duration shift =
      ErrorsNow(work).truetime ? truetime.epsilon : TrueTimeShift(truetime, leader);
  return ToInstant(commit) + truetime.epsilon + -shift + Nanoseconds(1);
}

Instant WhenServerShows(const WorldContext& work, Timestamp server_time) {
  const TrueTimeSpec& truetime = work.state.spanner.truetime;
  const Duration shift = ErrorsNow(work).truetime.value_or(TrueTimeShift(truetime, 0));
  return ToInstant(server_time) + -truetime.epsilon + -shift;
}

void SetClocksOfSpanner(WorldContext& work, const SetSpannerClocks& set) {
  SpannerState& spanner = work.state.spanner;
  spanner.truetime = set.truetime;
  spanner.current_timestamp_error = set.current_timestamp_error;
  work.Observe(SpannerClocksChanged{.epsilon = spanner.truetime.epsilon,
                                    .truetime_error = TrueTimeShift(spanner.truetime, 0),
                                    .current_timestamp_error = spanner.current_timestamp_error});
  // The events that Spanner waits for by its own clock are due at other times now.
  if (work.state.database.look_again) {
    ScheduleLook(work, work.state.now);
  }
}

void CallOffLook(WorldContext& work) {
  std::optional<uint32_t> look;
  work.state.pending.ForEach([&look](const PendingSlot& slot, uint32_t place) {
    if (std::holds_alternative<SpannerLooksAgain>(slot.choice.event)) look = place;
  });
  if (look) work.Cancel(*look);
}

void ScheduleLook(WorldContext& work, Instant at) {
  CallOffLook(work);
  work.Schedule(std::max(at, work.state.now + kLookAgainMin), ChoiceKind::kSettle, -1,
                SpannerLooksAgain{});
}

}  // namespace whorl::sim
