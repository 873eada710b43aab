// A process's part in one lock: its protocol's machine, the application that uses it, and whether
// the process believes that it leads.
#pragma once

#include <cstdint>

#include "sim/world/application.h"
#include "sim/world/world_work.h"

namespace whorl::sim {

// Null if the process is gone.
Participant* FindParticipant(Work& work, ProcessId process, uint16_t lock);

// The machine takes the event after those queued before, in RunMachines.
void QueueForMachine(Work& work, int16_t node, const Participant& participant, Event&& event);
// Steps the machines with the events that were queued for them.
void RunMachines(Work& work);

void StepApplication(Work& work, int16_t node, Participant& participant,
                     const ApplicationEvent& event);

// Observes the machine's standing if it has changed, and with it the belief.
void NoticeStanding(Work& work, int16_t node, Participant& participant);
// Observes the belief if it has changed.
void UpdateBelief(Work& work, int16_t node, Participant& participant);

}  // namespace whorl::sim
