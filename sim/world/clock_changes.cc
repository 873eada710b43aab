#include "sim/world/calls.h"
#include "sim/world/parts.h"

namespace whorl::sim {
namespace {

void RescheduleWhatIsDue(WorldContext& work, int16_t node) {
  RescheduleTimers(work, node);
  RescheduleTimeouts(work, node);
}

void ObserveClock(WorldContext& work, int16_t node) {
  const NodeClock& clock = work.NodeAt(node).clock;
  work.Observe(ClockChanged{.node = node,
                            .error = WallError(clock, work.state.now),
                            .rate_ppm = clock.rate_ppm,
                            .stands = clock.stands > 0});
}

}  // namespace

void SetClock(WorldContext& work, int16_t node, const ClockFault& change) {
  NodeClock& clock = work.NodeAt(node).clock;
  if (change.offset) clock.offset += *change.offset - WallError(clock, work.state.now);
  if (change.step) clock.offset += *change.step;
  // A belief that lasts by the wall clock lasts as long as that says from now on.
  for (Participant& participant : work.NodeAt(node).participants) {
    NoticeStanding(work, node, participant, work.ClocksOf(node));
  }
  if (change.rate_ppm || change.stands) {
    Rebase(clock, work.state.now);
    clock.rate_ppm = change.rate_ppm.value_or(clock.rate_ppm);
    clock.stands += change.stands ? 1 : 0;
    RescheduleWhatIsDue(work, node);
  }
  ObserveClock(work, node);
}

void ReleaseClock(WorldContext& work, int16_t node) {
  NodeClock& clock = work.NodeAt(node).clock;
  if (clock.stands == 1) {
    LetClockRun(work, node);
  } else {
    --clock.stands;
  }
}

void LetClockRun(WorldContext& work, int16_t node) {
  NodeClock& clock = work.NodeAt(node).clock;
  Rebase(clock, work.state.now);
  clock.stands = 0;
  RescheduleWhatIsDue(work, node);
  ObserveClock(work, node);
}

}  // namespace whorl::sim
