#include <utility>

#include "sim/world/parts.h"

namespace whorl::sim {

void SetTimerAt(WorldContext& work, int16_t node, Participant& participant, TimerOwner owner,
                uint16_t id, LocalInstant local) {
  CancelTimerOf(work, participant, owner, id);
  const uint32_t place = work.Schedule(
      work.WhenShown(node, local), ChoiceKind::kFire, node,
      TimerDue{
          .process = work.ProcessOf(node), .lock = participant.lock, .owner = owner, .id = id});
  participant.timers.push_back({.owner = owner, .id = id, .place = place, .at = local});
}

void CancelTimerOf(WorldContext& work, Participant& participant, TimerOwner owner, uint16_t id) {
  for (size_t i = 0; i < participant.timers.size(); ++i) {
    const ActiveTimer& timer = participant.timers[i];
    if (timer.owner != owner || timer.id != id) continue;
    work.Cancel(timer.place);
    participant.timers.erase(participant.timers.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

void RescheduleTimers(WorldContext& work, int16_t node) {
  for (Participant& participant : work.NodeAt(node).participants) {
    for (ActiveTimer& timer : participant.timers) {
      const PendingEvent event = work.state.pending[timer.place].choice.event;
      work.Cancel(timer.place);
      timer.place = work.Schedule(work.WhenShown(node, timer.at), ChoiceKind::kFire, node, event);
    }
  }
}

}  // namespace whorl::sim
