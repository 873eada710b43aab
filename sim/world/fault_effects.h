// Tracks the active faults and their effects: a machine that the simulated world (faults.cc) and
// real runs (live/coordinator_faults.cc) both host.
//
// It is a value and functions, like a protocol. A host reports that a fault is due or over, or that
// a call passes, with the few facts that only the host can look up. The machine returns effects,
// which the host carries out in order.
// Invariants:
//   1. FaultBegan comes before all other effects of a fault, and FaultEnded after them. A fault
//      that finds nothing to strike has no effects. StartAgain and ActAsOperator take time: the host
//      observes FaultEnded when they are done.
//   2. If two faults set the same thing, the one that began later decides; when it is over, the
//      value of the other one applies again.
//   3. A fault of one call whose triggering call is gone waits for the node's next call that it can
//      strike.
// Deliberately left out: `when` triggers (triggers.h), the number of pauses that hold a process,
// and the calls that a fault has struck; the host knows those.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "protocol/spanner/status.h"
#include "protocol/spanner/value.h"
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// --- the state -----------------------------------------------------------------------------------

// The two ways between a node and Spanner.
struct Links {
  LinkState to = LinkState::kUp;
  LinkState from = LinkState::kUp;
  WHORL_FIELDS(Links, to, from);
};

// Faults are identified by their index in Scenario::faults.
struct ActiveFaults {
  struct OfNode {
    Links links;
    // Active faults of the node's calls, in the order in which they began.
    std::vector<uint32_t> active;
    // Each entry will strike the next call that it can; a fault of several calls has several.
    std::vector<uint32_t> armed;
    WHORL_FIELDS(OfNode, links, active, armed);
  };
  std::vector<OfNode> nodes;
  std::vector<uint32_t> of_clocks;  // faults that set Spanner's clocks, in the same order
  int32_t unavailable = 0;          // how many faults keep Spanner from answering
  WHORL_FIELDS(ActiveFaults, nodes, of_clocks, unavailable);

  OfNode& At(int16_t node) { return nodes[static_cast<size_t>(node)]; }
  const OfNode& At(int16_t node) const { return nodes[static_cast<size_t>(node)]; }
};

// --- what a host looks up -----------------------------------------------------------------------

// When a fault is due.
struct FaultTarget {
  // The node that it strikes: its own, or the one that leads (FaultSpec::kLeader); kNoNode for what
  // happens at Spanner.
  int16_t node = FaultSpec::kNoNode;
  unsigned life = kIsDown;   // what that node is doing: one of Lives
  uint32_t incarnation = 0;  // incarnation of that node's process
  bool exists = true;        // whether the session or row that it takes away exists
  // The call that triggered it, if the fault can still strike that. Of a fault that slows things down: if
  // its request or reply is on its way; for slow_resource, process and lock of the write that triggered it.
  std::optional<CallName> call;
};

// When a call reaches Spanner, and when its answer leaves Spanner.
struct PassingCall {
  int16_t node = 0;
  StepName step;                    // of a CreateSession: of the transaction that needs the session
  std::string_view method;          // "Commit"
  bool is_first_statement = false;  // of its attempt
  bool can_abort = false;  // whether it belongs to a read-write transaction that Spanner may abort
  bool comes_again = false;           // a Commit whose transaction Spanner has begun to commit
  bool is_applied = false;            // Spanner has served it, and its answer is OK
  std::optional<uint32_t> struck_by;  // the fault that has struck it on its way
};

// The decisions that are random.
class FaultChance {
 public:
  FaultChance() = default;
  FaultChance(const FaultChance&) = delete;
  FaultChance& operator=(const FaultChance&) = delete;
  virtual ~FaultChance() = default;
  virtual bool Hits(uint32_t fault, int64_t percent) = 0;
  virtual Duration Delay(uint32_t fault, const DelaySpec& delay) = 0;
};

// --- effects -------------------------------------------------------------------------------------

struct ObserveFault {
  ObservedEvent what;
};
struct PauseProcess {
  int16_t node = 0;
};
struct ResumeProcess {
  int16_t node = 0;
};
struct CrashProcess {
  int16_t node = 0;
};
struct StopProcess {
  int16_t node = 0;
};
struct StartProcess {
  int16_t node = 0;
};
struct StartAgain {  // afterwards the fault is over
  int16_t node = 0;
  uint32_t fault = 0;
  Duration after;
};
struct EndLater {  // the host calls OnFaultOver then
  uint32_t fault = 0;
  int16_t node = FaultSpec::kNoNode;  // the one that it struck
  uint32_t incarnation = 0;
  Duration after;
};
struct SetLink {  // and observe the change
  LinkChanged change;
};
struct ReleaseMessages {  // sends the messages on that a black hole has held back
  int16_t node = 0;
  bool requests = false;
  bool replies = false;
};
struct LeaveSlowCalls {  // calls that the fault has slowed and that are still on their way
  int16_t node = 0;
};
struct TakeSession {
  int16_t node = 0;
};
struct TellOfRelease {  // that all locks of the node's process were released
  int16_t node = 0;
};
struct SetNodeClock {
  int16_t node = 0;
  ClockFault change;
};
struct ReleaseNodeClock {  // a clock that stood still goes on
  int16_t node = 0;
};
struct SetSpannerClocks {
  TrueTimeSpec truetime;
  Duration current_timestamp_error;
};
struct ActAsOperator {  // write what OperatorWriteOf says; afterwards the fault is over
  uint32_t fault = 0;
};
struct DropRequest {
  CallName call;
};
struct DropReply {
  CallName call;
};
struct MarkCall {  // becomes PassingCall::struck_by when the call reaches Spanner
  CallName call;
  uint32_t fault = 0;
};
struct DelayMessage {  // the call's request or reply, which is on its way, by what the fault adds
  CallName call;
  uint32_t fault = 0;
};
struct DelayWrite {  // the newest write of the process and lock on its way to the resource
  ProcessId process;
  uint16_t lock = 0;
  uint32_t fault = 0;
};
// A copy of the call's request arrives so much later, and nobody waits for its answer.
struct DuplicateRequest {
  CallName call;
  Duration after;
};
using FaultEffect =
    std::variant<ObserveFault, PauseProcess, ResumeProcess, CrashProcess, StopProcess, StartProcess,
                 StartAgain, EndLater, SetLink, ReleaseMessages, LeaveSlowCalls, TakeSession,
                 TellOfRelease, SetNodeClock, ReleaseNodeClock, SetSpannerClocks, ActAsOperator,
                 DropRequest, DropReply, MarkCall, DelayMessage, DelayWrite, DuplicateRequest>;
using FaultEffects = std::vector<FaultEffect>;

// --- faults that are due and over ---------------------------------------------------------------

// All functions append to `out`.
void OnFaultDue(const Scenario& scenario, ActiveFaults& faults, uint32_t fault,
                const FaultTarget& target, FaultEffects& out);
// `node` and `struck` are those in EndLater; `incarnation` is that of the process which the node
// runs now.
void OnFaultOver(const Scenario& scenario, ActiveFaults& faults, uint32_t fault, int16_t node,
                 uint32_t incarnation, uint32_t struck, FaultEffects& out);

// --- calls that pass ----------------------------------------------------------------------------

// Whether any fault may concern calls of the node.
inline bool ConcernsCalls(const ActiveFaults& faults, int16_t node) {
  return !faults.At(node).active.empty() || !faults.At(node).armed.empty();
}

// Whether an armed fault loses this call's request or its reply. If so, the fault has struck.
bool LosesRequest(const Scenario& scenario, ActiveFaults& faults, int16_t node, FaultEffects& out);
bool LosesReply(const Scenario& scenario, ActiveFaults& faults, int16_t node, FaultEffects& out);
// Whether an armed fault sends this call's request twice. If so, it has struck, and `out` says so.
void DuplicateIfArmed(const Scenario& scenario, ActiveFaults& faults, const CallName& call,
                      FaultEffects& out);

// An error with which Spanner answers a call instead of serving it; or though it has served it, if the
// call is_applied.
struct FaultAnswer {
  Code code = Code::kOk;
  bool is_impossible = false;     // Spanner never answers so, but the fault does
  std::optional<uint32_t> armed;  // the armed fault that strikes with this: see TakeArmed
};
std::optional<FaultAnswer> AnswerByFault(const Scenario& scenario, const ActiveFaults& faults,
                                         const PassingCall& call, FaultChance& chance);
// The message of such a reply, and that of one to a call which is_applied: to its process, that is as if the
// answer were lost.
inline constexpr std::string_view kFaultAnswers = "a fault of the scenario answers so";
inline constexpr std::string_view kFaultAnswersApplied =
    "a fault of the scenario answers so, though the call was served";
// Whether the write that triggered the fault is slowed by it: one that has just been sent.
bool SlowsItsTrigger(const FaultSpec& fault);

// Whether a fault of one call would answer this one.
bool CanAnswer(const FaultSpec& fault, const PassingCall& call);
// The armed fault has struck.
void TakeArmed(ActiveFaults& faults, int16_t node, uint32_t fault, FaultEffects& out);

// The latency that active faults add to a message of the node. REQUIRES: `way` is kTo or kFrom.
Duration AddedLatency(const Scenario& scenario, const ActiveFaults& faults, int16_t node,
                      Direction way, FaultChance& chance);

// The time that active faults add to a write of the node on its way to the resource.
Duration AddedWriteLatency(const Scenario& scenario, const ActiveFaults& faults, int16_t node,
                           FaultChance& chance);

// --- operators -----------------------------------------------------------------------------------

// The key of the row that the operator acts on.
Value KeyOfRow(const Scenario& scenario, const RowOfLock& target);
// What the operator writes. REQUIRES: the fault is an operator's (TargetOf).
OperatorWrite OperatorWriteOf(const Scenario& scenario, uint32_t fault);

}  // namespace whorl::sim
