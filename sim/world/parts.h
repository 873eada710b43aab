// Declares the parts of a world's step: what each does when an event reaches it, and what it offers the others.
// World::Take (world.cc) calls the part that an event concerns; each part has its own source file.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sim/scenario/direction.h"
#include "sim/scenario/scenario.h"
#include "sim/world/application.h"
#include "sim/world/world_context.h"

namespace whorl::sim {

// --- a process's part in one lock (participant.cc) -----------------------------------------------
// Its protocol's machine, the application that uses it, and whether the process believes that it leads.

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

// --- processes (process.cc) ----------------------------------------------------------------------

// Starts a process on the node, unless one runs. Then `fault` is over.
void StartNode(WorldContext& work, int16_t node, std::optional<uint32_t> fault);
// The process loses all that it knew; what it sent stays on its way.
void RemoveProcess(WorldContext& work, int16_t node, bool crashed);
// Asks the process to stop.
void StopNode(WorldContext& work, int16_t node);
// Pauses count: a process runs when each of them is over.
void PauseNode(WorldContext& work, int16_t node);
void ResumeNode(WorldContext& work, int16_t node);

void OnTimer(WorldContext& work, const TimerDue& due);
void OnReleaseHeard(WorldContext& work, int16_t node, const ReleaseHeard& heard);

// --- timers (timers.cc) --------------------------------------------------------------------------
// Of a process's part in one lock, set by the clock of its node.

// Replaces the timer of this owner and id, if it is set.
void SetTimerAt(WorldContext& work, int16_t node, Participant& participant, TimerOwner owner,
                uint16_t id, LocalInstant local);
// Does nothing if the timer is not set.
void CancelTimerOf(WorldContext& work, Participant& participant, TimerOwner owner, uint16_t id);
// After the node's clock has begun to run in another way.
void RescheduleTimers(WorldContext& work, int16_t node);

// --- changes of a node's clock (clock_changes.cc) ------------------------------------------------
// What is due by that clock is then due at other times.

void SetClock(WorldContext& work, int16_t node, const ClockFault& change);
// One of the faults that make the clock stand is over. REQUIRES: the clock stands.
void ReleaseClock(WorldContext& work, int16_t node);
// The clock runs again, however many faults make it stand.
void LetClockRun(WorldContext& work, int16_t node);

// --- transactions (transactions.cc) --------------------------------------------------------------
// Those that a protocol's machine runs. Each is a TransactionRunner, the client library's
// own code, which runs inside its process; its calls go through the simulated network.

void StartTransaction(WorldContext& work, int16_t node, Participant& participant,
                      RunTransaction&& run);
// The transaction's caller no longer wants it. Messages that were sent stay on their way, and their
// replies are ignored. A transaction that waits for a session still gets it.
void GiveUpTransaction(WorldContext& work, int16_t node, Participant& participant,
                       RequestId request);

void OnBackoffOver(WorldContext& work, int16_t node, Participant& participant, RequestId request);
void OnSessionGranted(WorldContext& work, int16_t node, Participant& participant, RequestId request,
                      const Session& session);
void OnSessionRefused(WorldContext& work, int16_t node, Participant& participant, RequestId request,
                      const Status& status);
// Passes the response to the transaction or to the session pool that sent the call.
void OnCallEnded(WorldContext& work, const CallName& name, Response&& response);

// --- sessions (sessions.cc) ----------------------------------------------------------------------
// Of a process that may lose one to a fault: the pool of the real client, whose calls
// go through the simulated network.

// The process's first session exists when it starts, as the permanent session of other processes
// does, so a scenario runs the same way until the fault strikes.
void MakeSessions(WorldContext& work, int16_t node);
// Gets a session for a transaction that has none or has lost it, and answers by OnSessionGranted or
// OnSessionRefused.
void RequestSession(WorldContext& work, int16_t node, Participant& participant,
                    const ActiveRunner& runner);
// The transaction waits for no session any more. REQUIRES: it waited for one.
void StopRequestingSession(WorldContext& work, int16_t node, const Participant& participant,
                           RequestId request);
// A transaction has ended because its session was lost.
void OnSessionLost(WorldContext& work, int16_t node, const SessionName& name);
void OnSessionReply(WorldContext& work, int16_t node, const Response& response);
void OnSessionsTimer(WorldContext& work, int16_t node);

// The session that the node's process uses and Spanner knows; null if there is none at present.
const SessionName* SessionOfNode(WorldContext& work, int16_t node);
// REQUIRES: there is such a session.
void LoseSession(WorldContext& work, int16_t node);

// --- the network between processes and Spanner (network.cc) --------------------------------------
// A black hole holds messages back, as TCP does: they arrive when it ends. If the connection times
// out before, the call ends UNAVAILABLE and the message is lost.

// Sends the call in this place, whose name, step, request and deadline are set.
void SendToSpanner(WorldContext& work, uint32_t place);
// Sends the request once more, so much later than the one that is on its way; nobody waits for it.
void SendCopy(WorldContext& work, uint32_t place, Duration after);
// Sends a reply from Spanner to the process that waits for it, after `service` at Spanner.
void SendReply(WorldContext& work, uint32_t place, Response&& response, Duration service);
// Sends the messages on that black holes have held back.
void ReleaseHeld(WorldContext& work, int16_t node, bool requests, bool replies);

// The pending event of the call's request or reply, if it is on its way and goes in that direction.
// Nothing for one that is held back, or that no longer comes from Spanner.
std::optional<uint32_t> FindMessageOnItsWay(const WorldContext& work, uint32_t call,
                                            Direction direction);
// Delays it by what the latency fault adds. REQUIRES: it is on its way in the fault's direction.
void DelayMessageOf(WorldContext& work, uint32_t call, uint32_t fault);
// The event happens `by` later. REQUIRES: it is in the queue.
void Postpone(WorldContext& work, uint32_t event, Duration by);

void OnCallArrives(WorldContext& work, uint32_t place);
void OnReplyArrives(WorldContext& work, uint32_t place, const ReplyArrives& reply);
void OnCallTimesOut(WorldContext& work, uint32_t place);

// --- Spanner (spanner.cc) ------------------------------------------------------------------------
// The calls that it serves, and commits that become visible.

// Serves the call in this place, or answers as an active fault says.
void ServeCall(WorldContext& work, uint32_t place);
// Serves the request of an operator or a fault, with no network in between.
void ServeAtOnce(WorldContext& work, const CallName& name, const Request& request);

void OnCommitVisible(WorldContext& work, const CommitBecomesVisible& visible);
void OnSpannerLooksAgain(WorldContext& work);

// --- operators (operator.cc) ---------------------------------------------------------------------
// An operator writes to a lock's row, and retries after ABORTED.

bool RowExists(const WorldContext& work, const RowOfLock& target);
// Sends the next call of the operator's transaction.
void OnOperatorActs(WorldContext& work, const OperatorActs& acts);
void OnOperatorHears(WorldContext& work, const model::Replied& replied);

// --- faults (faults.cc) --------------------------------------------------------------------------
// Hosts the machine of active faults (fault_effects.h) in the simulated world.

void OnFaultBegins(WorldContext& work, const FaultBegins& begins);
void OnFaultEnds(WorldContext& work, const FaultEnds& ends);

// Whether an armed fault loses the request or reply that the node's process sends or gets now.
bool LosesRequest(WorldContext& work, int16_t node);
bool LosesReply(WorldContext& work, int16_t node);
// Sends the call that was just sent once more, if an armed fault says so.
void DuplicateIfArmed(WorldContext& work, uint32_t place);
// What the machine asks of a call that reaches Spanner.
PassingCall PassingOf(const WorldContext& work, const Call& call);
// The armed fault has struck with its answer.
void TakeArmed(WorldContext& work, int16_t node, uint32_t fault);
// Replaces the answer to a call that Spanner has served by an error, if an active or armed fault does so.
void AnswerAppliedByError(WorldContext& work, uint32_t place, Response& response);

}  // namespace whorl::sim
