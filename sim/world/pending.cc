#include "sim/world/pending.h"

#include <algorithm>

namespace whorl::sim {

uint32_t PendingEvents::Add(const Choice& choice, uint32_t call) {
  auto place = static_cast<uint32_t>(slots_.size());
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  PendingSlot& slot = slots_[place];
  slot.choice = choice;
  slot.due = {};
  slot.id = ++scheduled_;
  slot.call = call;
  slot.queued = PendingSlot::kNone;
  return place;
}

void PendingEvents::Free(uint32_t place) {
  slots_[place].id = 0;
  free_.push_back(place);
}

void PendingEvents::Remove(uint32_t place) {
  if (slots_[place].queued != PendingSlot::kNone) Dequeue(place);
  Free(place);
}

void PendingEvents::Take(uint32_t place) {
  if (slots_[place].queued != 0) return Remove(place);
  has_gap_ = true;
  slots_[place].queued = PendingSlot::kNone;
  Free(place);
}

void PendingEvents::FillGap() {
  has_gap_ = false;
  const Queued last = queue_.back();
  queue_.pop_back();
  if (!queue_.empty()) Sink(0, last);
}

void PendingEvents::Enqueue(uint32_t place, Instant due) {
  slots_[place].due = due;
  const Queued queued = {.due = due, .order = ++scheduled_, .place = place};
  if (has_gap_) {
    has_gap_ = false;
    return Sink(0, queued);
  }
  const size_t at = queue_.size();
  queue_.push_back(queued);
  if (at > 0 && queued.IsBefore(queue_[ParentOf(at)])) return Rise(at, queued);
  slots_[place].queued = static_cast<uint32_t>(at);
}

void PendingEvents::Dequeue(uint32_t place) {
  CloseGap();
  const size_t at = slots_[place].queued;
  slots_[place].queued = PendingSlot::kNone;
  const Queued last = queue_.back();
  queue_.pop_back();
  if (last.place == place) return;
  if (at > 0 && last.IsBefore(queue_[ParentOf(at)])) return Rise(at, last);
  Sink(at, last);
}

uint32_t PendingEvents::Schedule(Instant due, const Choice& choice, uint32_t call) {
  const uint32_t place = Add(choice, call);
  Enqueue(place, due);
  return place;
}

std::optional<uint32_t> PendingEvents::Find(const Choice& choice) const {
  for (uint32_t place = 0; place < slots_.size(); ++place) {
    if (slots_[place].id != 0 && slots_[place].choice == choice) return place;
  }
  return std::nullopt;
}

void PendingEvents::Rise(size_t at, const Queued& queued) {
  while (at > 0) {
    const size_t parent = ParentOf(at);
    if (!queued.IsBefore(queue_[parent])) break;
    Put(at, queue_[parent]);
    at = parent;
  }
  Put(at, queued);
}

void PendingEvents::Sink(size_t at, const Queued& queued) {
  const Queued* const entries = queue_.data();
  const size_t count = queue_.size();
  for (size_t child = kChildren * at + 1; child < count; child = kChildren * at + 1) {
    const Queued* first = entries + child;
    const Queued* const end = entries + std::min(child + kChildren, count);
    for (const Queued* other = first + 1; other != end; ++other) {
      if (other->IsBefore(*first)) first = other;
    }
    if (!first->IsBefore(queued)) break;
    Put(at, *first);
    at = static_cast<size_t>(first - entries);
  }
  Put(at, queued);
}

}  // namespace whorl::sim
