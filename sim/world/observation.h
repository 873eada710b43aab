// Declares what an omniscient observer sees of a run. Checkers, the trace, the timeline, the
// rolling hash and `when` faults receive observations and nothing else.
//
// Invariants:
//   1. Observations come in the order of the events; `at` never decreases.
//   2. They contain names and values, never addresses, indexes of table slots or texts for people,
//      so a trace of them is the same with every compiler.
// A ProcessId is a node and an incarnation, which counts from 1. ProcessId{} is nobody: it wrote
// the rows that were present at the start, and is an operator later.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "protocol/machine.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "sim/scenario/direction.h"
#include "sim/scenario/instant.h"

namespace whorl::sim {

// --- processes ---------------------------------------------------------------------------------

struct ProcessStarted {
  ProcessId process;
  WHORL_FIELDS(ProcessStarted, process);
};
// The process was asked to end gracefully: its application stops, and calls under way still end.
struct ProcessStopped {
  ProcessId process;
  WHORL_FIELDS(ProcessStopped, process);
};
// The process is gone with its state: it crashed, or it had stopped and a new incarnation replaces
// it.
struct ProcessGone {
  ProcessId process;
  bool crashed = false;
  WHORL_FIELDS(ProcessGone, process, crashed);
};
struct ProcessPaused {
  ProcessId process;
  WHORL_FIELDS(ProcessPaused, process);
};
struct ProcessResumed {
  ProcessId process;
  WHORL_FIELDS(ProcessResumed, process);
};
// The context given to Run or Lock ended: the process no longer takes part in the lock.
struct ParticipationEnded {
  ProcessId process;
  uint16_t lock = 0;
  StopReason reason = StopReason::kCancelled;
  WHORL_FIELDS(ParticipationEnded, process, lock, reason);
};

// --- faults and the network --------------------------------------------------------------------

enum class LinkState : uint8_t { kUp, kBlackHoled, kRefused };
constexpr auto WordTableOf(LinkState) {
  return MakeWordTable<LinkState>({
      {LinkState::kUp, "up"},
      {LinkState::kBlackHoled, "black_holed"},
      {LinkState::kRefused, "refused"},
  });
}
// Between a node and Spanner: what one way, or both, have become.
struct LinkChanged {
  int16_t node = 0;
  LinkState link = LinkState::kUp;
  Direction direction = Direction::kBoth;
  WHORL_FIELDS(LinkChanged, node, link, direction);
};
// Whether Spanner answers calls at all.
struct SpannerAvailability {
  bool available = true;
  WHORL_FIELDS(SpannerAvailability, available);
};
// A fault changed how a node's clocks run.
struct ClockChanged {
  int16_t node = 0;
  Duration error;  // the wall clock minus true time, from now on
  int64_t rate_ppm = 0;
  bool stands = false;
  WHORL_FIELDS(ClockChanged, node, error, rate_ppm, stands);
};
// A fault changed Spanner's clocks, or its end did.
struct SpannerClocksChanged {
  Duration epsilon;                  // half of TrueTime's interval
  Duration truetime_error;           // its middle minus true time
  Duration current_timestamp_error;  // CURRENT_TIMESTAMP minus true time
  WHORL_FIELDS(SpannerClocksChanged, epsilon, truetime_error, current_timestamp_error);
};
struct SessionLost {  // Spanner deleted the session of the process
  ProcessId process;
  WHORL_FIELDS(SessionLost, process);
};
struct SessionCreated {  // the process has a new session after losing one
  ProcessId process;
  WHORL_FIELDS(SessionCreated, process);
};
struct FaultBegan {
  uint32_t fault = 0;  // index into Scenario::faults
  WHORL_FIELDS(FaultBegan, fault);
};
struct FaultEnded {  // a fault without a duration ends when it begins
  uint32_t fault = 0;
  WHORL_FIELDS(FaultEnded, fault);
};

// --- calls and transactions --------------------------------------------------------------------

struct CallSent {
  CallName call;
  StepName step;
  uint8_t request = 0;  // Request::index()
  WHORL_FIELDS(CallSent, call, step, request);
};
struct CallServed {  // Spanner has executed the call; its reply is on the way
  CallName call;
  StepName step;
  uint8_t request = 0;
  Code code = Code::kOk;
  WHORL_FIELDS(CallServed, call, step, request, code);
};
struct CallWaits {  // the call waits for a row lock at Spanner
  CallName call;
  StepName step;
  WHORL_FIELDS(CallWaits, call, step);
};
// A fault holds back, refuses or loses the call or its reply: it hangs until its transaction ends.
struct CallHangs {
  CallName call;
  StepName step;
  WHORL_FIELDS(CallHangs, call, step);
};
struct CallEnded {  // the process got a reply, or an error that the transport made
  CallName call;
  StepName step;
  Code code = Code::kOk;
  bool from_spanner = true;
  WHORL_FIELDS(CallEnded, call, step, code, from_spanner);
};
struct LateReplyIgnored {  // the process had stopped waiting for it
  CallName call;
  WHORL_FIELDS(LateReplyIgnored, call);
};
struct TransactionStarted {
  ProcessId process;
  uint16_t lock = 0;
  RequestId request = 0;
  StepName step;
  WHORL_FIELDS(TransactionStarted, process, lock, request, step);
};
struct TransactionAbortedBySpanner {  // an attempt was wounded, or idle for too long
  CallName call;                      // the call that began the attempt
  WHORL_FIELDS(TransactionAbortedBySpanner, call);
};
// The commit is visible from now on. The changed rows follow, as RowCommitted.
struct TransactionCommitted {
  CallName call;
  StepName step;
  Timestamp commit;
  bool waited_for_truetime = false;  // replication alone would have been faster
  WHORL_FIELDS(TransactionCommitted, call, step, commit, waited_for_truetime);
};
struct TransactionFinished {  // as its process sees it
  ProcessId process;
  uint16_t lock = 0;
  RequestId request = 0;
  StepName step;
  Outcome outcome = Outcome::kUnknown;
  Code code = Code::kOk;
  WHORL_FIELDS(TransactionFinished, process, lock, request, step, outcome, code);
};
// A commit changed a row; `before` or `after` is empty if the row did not exist. Columns are in the
// order of the protocol's table. `lock` is the lock for which the writer wrote, which need not be
// the lock whose row it is. The initial rows come before all other observations, written by nobody.
struct RowCommitted {
  ProcessId writer;
  uint16_t lock = 0;
  StepName step;
  std::optional<Row> before;
  std::optional<Row> after;
  Timestamp commit;
  WHORL_FIELDS(RowCommitted, writer, lock, step, before, after, commit);
};

// --- what a process believes and answers -------------------------------------------------------

struct LeadershipViewChanged {
  ProcessId process;
  uint16_t lock = 0;
  LeadershipView standing;
  WHORL_FIELDS(LeadershipViewChanged, process, lock, standing);
};
// A belief begins or lapses. A crash, a stop and a local deadline make it lapse too; a local
// deadline does so even while the process is paused.
struct BeliefChanged {
  ProcessId process;
  uint16_t lock = 0;
  bool believes = false;
  WHORL_FIELDS(BeliefChanged, process, lock, believes);
};
struct CalledBack {
  ProcessId process;
  uint16_t lock = 0;
  bool leader = false;
  WHORL_FIELDS(CalledBack, process, lock, leader);
};
struct QuestionAsked {
  ProcessId process;
  uint16_t lock = 0;
  AskId ask = 0;
  Question question = Question::kHasLock;
  WHORL_FIELDS(QuestionAsked, process, lock, ask, question);
};
struct QuestionAnswered {
  ProcessId process;
  uint16_t lock = 0;
  Answer answer;
  Instant asked_at;
  WHORL_FIELDS(QuestionAnswered, process, lock, answer, asked_at);
};
struct Noted {
  ProcessId process;
  uint16_t lock = 0;
  Note note;
  WHORL_FIELDS(Noted, process, lock, note);
};

// --- the resource ------------------------------------------------------------------------------

struct WriteSent {
  ProcessId process;
  uint16_t lock = 0;
  bool fenced = false;  // whether the write goes to the resource that fences
  std::optional<uint64_t> token;
  WHORL_FIELDS(WriteSent, process, lock, fenced, token);
};
struct WriteArrived {
  ProcessId process;
  uint16_t lock = 0;
  bool fenced = false;
  std::optional<uint64_t> token;
  bool accepted = false;
  WHORL_FIELDS(WriteArrived, process, lock, fenced, token, accepted);
};

// The application begins or ends work under the lock (sim/world/application.h).
struct WorkChanged {
  ProcessId process;
  uint16_t lock = 0;
  bool at_work = false;
  WHORL_FIELDS(WorkChanged, process, lock, at_work);
};

struct RunEnded {  // the last observation, at the end of the scenario's duration
  WHORL_NO_FIELDS(RunEnded);
};

using ObservedEvent =
    std::variant<ProcessStarted, ProcessStopped, ProcessGone, ProcessPaused, ProcessResumed,
                 ParticipationEnded, LinkChanged, FaultBegan, FaultEnded, CallSent, CallServed,
                 CallWaits, CallHangs, CallEnded, LateReplyIgnored, TransactionStarted,
                 TransactionAbortedBySpanner, TransactionCommitted, TransactionFinished,
                 RowCommitted, LeadershipViewChanged, BeliefChanged, CalledBack, QuestionAsked,
                 QuestionAnswered, Noted, WriteSent, WriteArrived, RunEnded, SpannerAvailability,
                 ClockChanged, SpannerClocksChanged, SessionLost, SessionCreated, WorkChanged>;

struct Observation {
  Instant at;
  ObservedEvent what;
  WHORL_FIELDS(Observation, at, what);
};

}  // namespace whorl::sim
