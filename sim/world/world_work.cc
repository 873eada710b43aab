#include "sim/world/world_work.h"

#include <algorithm>
#include <utility>

namespace whorl::sim {

uint32_t Work::Store(const PendingEvent& event) {
  uint32_t place = 0;
  if (state.free_pending.empty()) {
    place = static_cast<uint32_t>(state.pending.size());
    state.pending.emplace_back();
  } else {
    place = state.free_pending.back();
    state.free_pending.pop_back();
  }
  state.pending[place].due = state.now;
  state.pending[place].event = event;
  return place;
}

uint32_t Work::Schedule(Instant at, ChoiceKind kind, int16_t node, const PendingEvent& event) {
  const uint32_t place = Store(event);
  PendingSlot& slot = state.pending[place];
  slot.due = std::max(at, state.now);
  out.scheduled.push_back(
      {slot.due, {.kind = kind, .node = node, .place = place, .stamp = slot.stamp}});
  return place;
}

void Work::Cancel(uint32_t place) {
  PendingSlot& slot = state.pending[place];
  slot.event.reset();
  ++slot.stamp;
  state.free_pending.push_back(place);
}

}  // namespace whorl::sim
