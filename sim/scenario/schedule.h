// Holds the schedule of a scenario: what happens first in its run, event by event, instead of what
// virtual time would bring.
//
// Invariants:
//   1. An entry names its event by content, as sim/world/pending.h does: by its process, step and call,
//      never by a place in a table. Keys that are left out fit any event.
//   2. ScheduledEvent has the order of the alternatives of PendingEvent (sim/world/pending.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/words.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/truetime_spec.h"

namespace whorl::sim {

enum class ScheduledEvent : uint8_t {
  kCallArrives,
  kReplyArrives,
  kCallTimesOut,
  kTimerDue,
  kCommitBecomesVisible,
  kSpannerLooksAgain,
  kResourceWrite,
  kNodeStarts,
  kFaultBegins,
  kFaultEnds,
  kOperatorActs,
  kReleaseHeard,
};
constexpr auto WordTableOf(ScheduledEvent) {
  return MakeWordTable<ScheduledEvent>({
      {ScheduledEvent::kCallArrives, "call_arrives"},
      {ScheduledEvent::kReplyArrives, "reply_arrives"},
      {ScheduledEvent::kCallTimesOut, "call_times_out"},
      {ScheduledEvent::kTimerDue, "timer_due"},
      {ScheduledEvent::kCommitBecomesVisible, "commit_becomes_visible"},
      {ScheduledEvent::kSpannerLooksAgain, "spanner_looks_again"},
      {ScheduledEvent::kResourceWrite, "resource_write"},
      {ScheduledEvent::kNodeStarts, "node_starts"},
      {ScheduledEvent::kFaultBegins, "fault_begins"},
      {ScheduledEvent::kFaultEnds, "fault_ends"},
      {ScheduledEvent::kOperatorActs, "operator_acts"},
      {ScheduledEvent::kReleaseHeard, "release_heard"},
  });
}

// Whose timer is due, and what its id is.
enum class TimerOwner : uint8_t {
  kMachine,       // id: the protocol's TimerId
  kRunner,        // id: the RequestId whose transaction backs off
  kApplication,   // id: an ApplicationTimer
  kBeliefLapses,  // id: unused; a belief's local deadline, which no pause delays
  kSessions,      // id: unused; the process's session pool has work to do
};
constexpr auto WordTableOf(TimerOwner) {
  return MakeWordTable<TimerOwner>({
      {TimerOwner::kMachine, "protocol"},
      {TimerOwner::kRunner, "backoff"},
      {TimerOwner::kApplication, "application"},
      {TimerOwner::kBeliefLapses, "belief"},
      {TimerOwner::kSessions, "sessions"},
  });
}

// One event of a schedule.
struct ScheduleEntry {
  std::optional<Instant> at;  // not before; without it, as soon as the event is due
  ScheduledEvent event = ScheduledEvent::kSpannerLooksAgain;
  std::optional<int16_t> node;
  std::optional<uint32_t> incarnation;
  std::optional<uint16_t> lock;
  std::optional<StepName> step;  // of the call, of the transaction, or of the one that backs off
  std::optional<uint32_t> transaction;  // CallName::generation
  std::optional<uint16_t> attempt;      // CallName::attempt
  std::optional<uint16_t> call;         // CallName::call
  std::optional<TimerOwner> timer;
  std::optional<uint16_t> id;
  std::optional<uint32_t> fault;  // an index into Scenario::faults
  ClockErrors clocks;             // of Spanner, while it serves the event; they name nothing
  int line = 0;                   // in the file, so that a report can point at it
  WHORL_FIELDS(ScheduleEntry, at, event, node, incarnation, lock, step, transaction, attempt, call,
               timer, id, fault, clocks, line);
};

// The keys that name an event of this kind, beyond `at` and `event`; those without which it is not
// named come first.
struct EventKeys {
  size_t required = 0;
  std::span<const std::string_view> keys;
  bool at_spanner = false;  // it may be one at which Spanner reads its clocks
};
EventKeys KeysOf(ScheduledEvent event);

}  // namespace whorl::sim
