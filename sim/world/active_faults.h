// Which faults are active now: a machine that the simulated world (faults.cc) and real runs
// (live/stage_faults.cc) both host.
//
// It is a value and functions, like a protocol: a host tells it that a fault is due or over, or that
// a call passes, with the few facts that only the host can look up; what follows comes out as
// effects, which the host carries out in their order.
// Invariants:
//   1. FaultBegan comes before all other effects of a fault, and FaultEnded after them. A fault that
//      finds nothing to strike has no effects. StartAgain and RemoveRow take time: their host
//      observes FaultEnded when they are done.
//   2. Of two faults that set the same, the one that began later decides; when it is over, the other
//      one is what is set again.
//   3. A fault of one call that does not find the call it was triggered by waits for the next call
//      of the node that it can strike.
// Deliberately left out: `when` triggers (triggers.h), how many pauses hold a process up, and what
// becomes of the calls that a fault has struck: those are the host's.
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
#include "sim/scenario/scenario.h"
#include "sim/world/observation.h"

namespace whorl::sim {

// --- the state -----------------------------------------------------------------------------------

// Between a node and Spanner.
struct Links {
  LinkState to = LinkState::kUp;
  LinkState from = LinkState::kUp;
  WHORL_FIELDS(Links, to, from);
};

// Faults are named by their place in Scenario::faults.
struct ActiveFaults {
  struct OfNode {
    Links links;
    // Faults that concern the node's calls, in the order in which they began.
    std::vector<uint32_t> active;
    std::vector<uint32_t> armed;  // each strikes the next call that it can
    WHORL_FIELDS(OfNode, links, active, armed);
  };
  std::vector<OfNode> nodes;
  std::vector<uint32_t> of_clocks;  // faults that set Spanner's clocks, in the same order
  int32_t unavailable = 0;          // how many faults keep Spanner from answering
  WHORL_FIELDS(ActiveFaults, nodes, of_clocks, unavailable);

  OfNode& At(int16_t node) { return nodes[static_cast<size_t>(node)]; }
  const OfNode& At(int16_t node) const { return nodes[static_cast<size_t>(node)]; }
};

// --- what a host looks up --------------------------------------------------------------------------

// When a fault is due.
struct FaultTarget {
  unsigned life = kIsDown;       // what its node is doing: one of Lives
  uint32_t incarnation = 0;      // of its node's process
  bool exists = true;            // whether the session or row that it takes away is there
  std::optional<CallName> call;  // that triggered it, if a fault of one call can still strike it
};

// When a call reaches Spanner.
struct PassingCall {
  int16_t node = 0;
  StepName step = StepName::kCheck;
  bool can_abort = false;  // whether it belongs to a read-write transaction that Spanner may abort
  std::optional<uint32_t> struck_by;  // the fault that has struck it on its way
};

// What only chance decides.
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
struct StartAgain {  // and then the fault is over
  int16_t node = 0;
  uint32_t fault = 0;
  Duration after;
};
struct EndLater {  // calls OnFaultOver
  uint32_t fault = 0;
  uint32_t incarnation = 0;
  Duration after;
};
struct SetLink {  // and observe it
  LinkChanged change;
};
struct ReleaseMessages {  // that a black hole has held back
  int16_t node = 0;
  bool requests = false;
  bool replies = false;
};
struct LeaveSlowCalls {  // calls that are still on their slow way are what the fault leaves behind
  int16_t node = 0;
};
struct TakeSession {
  int16_t node = 0;
};
struct SetNodeClock {
  int16_t node = 0;
  ClockFault change;
};
struct ReleaseNodeClock {  // that stood still
  int16_t node = 0;
};
struct SetSpannerClocks {
  TrueTimeSpec truetime;
  Duration current_timestamp_error;
};
struct RemoveRow {  // by an operator; and then the fault is over
  uint32_t fault = 0;
  RowOfLock target;
};
struct DropRequest {
  CallName call;
};
struct DropReply {
  CallName call;
};
struct MarkCall {  // PassingCall::struck_by, when it reaches Spanner
  CallName call;
  uint32_t fault = 0;
};
using FaultEffect =
    std::variant<ObserveFault, PauseProcess, ResumeProcess, CrashProcess, StopProcess, StartProcess,
                 StartAgain, EndLater, SetLink, ReleaseMessages, LeaveSlowCalls, TakeSession,
                 SetNodeClock, ReleaseNodeClock, SetSpannerClocks, RemoveRow, DropRequest,
                 DropReply, MarkCall>;
using FaultEffects = std::vector<FaultEffect>;

// --- faults that are due and over ------------------------------------------------------------------

// All functions append to `out`.
void OnFaultDue(const Scenario& scenario, ActiveFaults& faults, uint32_t fault,
                const FaultTarget& target, FaultEffects& out);
// `incarnation`: of the process that the fault's node runs now. `struck`: as EndLater said.
void OnFaultOver(const Scenario& scenario, ActiveFaults& faults, uint32_t fault,
                 uint32_t incarnation, uint32_t struck, FaultEffects& out);

// --- calls that pass -------------------------------------------------------------------------------

// Whether any fault may concern calls of the node.
inline bool ConcernsCalls(const ActiveFaults& faults, int16_t node) {
  return !faults.At(node).active.empty() || !faults.At(node).armed.empty();
}

// Whether a fault has waited for this call, to lose its request or its reply; then it has struck.
bool LosesRequest(const Scenario& scenario, ActiveFaults& faults, int16_t node, FaultEffects& out);
bool LosesReply(const Scenario& scenario, ActiveFaults& faults, int16_t node, FaultEffects& out);

// An error by which Spanner answers a call, in place of doing what it asks.
struct FaultAnswer {
  Code code = Code::kOk;
  std::optional<uint32_t> armed;  // the fault that has waited for this call: see TakeArmed
};
std::optional<FaultAnswer> AnswerByFault(const Scenario& scenario, const ActiveFaults& faults,
                                         const PassingCall& call, FaultChance& chance);
// What the reply says besides its code.
inline constexpr std::string_view kFaultAnswers = "a fault of the scenario answers so";
// Whether a fault of one call would answer this one.
bool CanAnswer(const FaultSpec& fault, const PassingCall& call);
// The fault that waited has struck.
void TakeArmed(ActiveFaults& faults, int16_t node, uint32_t fault, FaultEffects& out);

// How much later a message of the node arrives, one way (kTo or kFrom).
Duration AddedLatency(const Scenario& scenario, const ActiveFaults& faults, int16_t node,
                      Direction way, FaultChance& chance);

}  // namespace whorl::sim
