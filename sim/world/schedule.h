// Finds the events of a world that a schedule names (sim/scenario/schedule.h), and names those that
// can happen.
//
// Invariant: EntryOf an event that can happen fits that event, and no other unless they have the same
// content.
#pragma once

#include <optional>
#include <string>

#include "sim/scenario/schedule.h"
#include "sim/world/world.h"

namespace whorl::sim {

// The pending event that the entry names; if several fit, the one that is due first. Null if none
// that can happen fits. REQUIRES: the entry begins no fault.
const PendingSlot* FindScheduled(const World& world, const ScheduleEntry& entry);

// The call that a fault strikes by this entry: one on its way that fits. An empty name if the fault
// strikes no single call; nothing if none fits. REQUIRES: the entry begins a fault.
std::optional<CallName> CallStruckBy(const World& world, const ScheduleEntry& entry);

// An entry, without a time, with as few keys as tell the event apart from all others that can happen.
ScheduleEntry EntryOf(const World& world, const PendingSlot& slot);
// The same for a fault that begins, and that strikes the call if it strikes one.
ScheduleEntry EntryOfStrike(const World& world, uint32_t fault, const CallName& call);

// The entries that name what can happen, for messages.
std::string WhatCanHappen(const World& world);

}  // namespace whorl::sim
