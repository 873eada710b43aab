// The queue of pending events, against a sorted map.
#include "sim/world/pending.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace whorl::sim::world_pending_test {
namespace {

Choice TimerOf(uint16_t id) {
  return {.kind = ChoiceKind::kFire, .node = 0, .event = TimerDue{.process = {0, 1}, .id = id}};
}

RC_GTEST_PROP(PendingEvents, AreInTheOrderOfASortedMap, ()) {
  PendingEvents events;
  std::map<std::pair<int64_t, uint64_t>, uint32_t> queued;  // due and order: place
  std::vector<uint32_t> held;
  uint64_t order = 0;
  const auto is_queued = [&](uint32_t place) { return events[place].queued != PendingSlot::kNone; };
  const auto check = [&] {
    RC_ASSERT(events.First().has_value() == !queued.empty());
    if (!queued.empty()) RC_ASSERT(*events.First() == queued.begin()->second);
  };
  const auto enqueue = [&](uint32_t place, int64_t due) {
    events.Enqueue(place, {due});
    queued[{due, ++order}] = place;
  };
  for (int step = 0; step < 300; ++step) {
    const int what = *rc::gen::inRange(0, 9);
    if (what <= 4) {
      enqueue(events.Add(TimerOf(static_cast<uint16_t>(step)), PendingSlot::kNone),
              *rc::gen::inRange(0, 100));
    } else if (what == 5 && !held.empty()) {
      enqueue(held.back(), *rc::gen::inRange(0, 100));
      held.pop_back();
    } else if (what == 8 && !queued.empty()) {
      // An event happens: what it schedules or cancels meets the gap that it leaves.
      const auto happens = std::next(
          queued.begin(),
          *rc::gen::elementOf(std::vector<int>{0, 0, 0, static_cast<int>(queued.size()) - 1}));
      events.Take(happens->second);
      queued.erase(happens);
      if (*rc::gen::arbitrary<bool>() && !queued.empty()) {
        const auto cancelled = std::prev(queued.end());
        events.Remove(cancelled->second);
        queued.erase(cancelled);
      }
      for (int added = *rc::gen::inRange(0, 3); added > 0; --added) {
        enqueue(events.Add(TimerOf(static_cast<uint16_t>(step)), PendingSlot::kNone),
                *rc::gen::inRange(0, 100));
      }
      events.CloseGap();
    } else if (!queued.empty()) {
      const auto some =
          std::next(queued.begin(), *rc::gen::inRange(0, static_cast<int>(queued.size())));
      const uint32_t place = some->second;
      queued.erase(some);
      if (what == 6) {
        events.Dequeue(place);
        RC_ASSERT(!is_queued(place));
        held.push_back(place);
      } else {
        events.Remove(place);
      }
    }
    check();
  }
  while (!queued.empty()) {
    events.Remove(queued.begin()->second);
    queued.erase(queued.begin());
    check();
  }
}

TEST(PendingEvents, AReferenceDoesNotFindTheNextEventInItsPlace) {
  PendingEvents events;
  const uint32_t place = events.Add(TimerOf(1), PendingSlot::kNone);
  const PendingRef first{.place = place, .id = events[place].id};
  EXPECT_TRUE(events.Contains(first));
  events.Remove(place);
  EXPECT_FALSE(events.Contains(first));
  EXPECT_EQ(events.Add(TimerOf(1), PendingSlot::kNone), place);
  EXPECT_FALSE(events.Contains(first));
}

TEST(PendingEvents, AnEventIsFoundByItsContent) {
  PendingEvents events;
  events.Add(TimerOf(1), PendingSlot::kNone);
  const uint32_t second = events.Add(TimerOf(2), PendingSlot::kNone);
  EXPECT_EQ(events.Find(TimerOf(2)), second);
  EXPECT_EQ(events.Find(TimerOf(3)), std::nullopt);
  events.Remove(second);
  EXPECT_EQ(events.Find(TimerOf(2)), std::nullopt);
}

}  // namespace
}  // namespace whorl::sim::world_pending_test
