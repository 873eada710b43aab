// A process's part in one lock: its protocol's machine, the application that uses it, and whether
// the process believes that it leads.
#pragma once

#include <cstdint>
#include <utility>

#include "sim/world/application.h"
#include "sim/world/world_context.h"

namespace whorl::sim {

// Null if the process is gone.
Participant* FindParticipant(WorldContext& work, ProcessId process, uint16_t lock);

// The machine takes the event, an alternative of Event, after those queued before, in RunMachines.
template <typename What>
void QueueForMachine(WorldContext& work, int16_t node, const Participant& participant,
                     What&& what) {
  const auto place = &participant - work.NodeAt(node).participants.data();
  work.out.machine_events.emplace_back(node, static_cast<uint16_t>(place),
                                       std::forward<What>(what));
}
// Steps the machines with the events that were queued for them.
void RunMachines(WorldContext& work);

void StepApplication(WorldContext& work, int16_t node, Participant& participant,
                     const ApplicationEvent& event);

// Observes the machine's standing if it has changed, and with it the belief. `now`: what the node's
// clocks show.
void NoticeStanding(WorldContext& work, int16_t node, Participant& participant,
                    const LocalTime& now);
// Observes the belief if it has changed.
void UpdateBelief(WorldContext& work, int16_t node, Participant& participant);

}  // namespace whorl::sim
