// The simulated world: nodes with their clocks and applications, the network, Spanner, and the
// resource that the lock protects.
//
// A driver makes one choice at a time; the world reports what it scheduled as a result and what
// could be observed. The code under test cannot tell which driver it is.
//
// Invariants:
//   1. World is a value: copying it forks it. What never changes (scenario, configurations, plans)
//      is shared, and == does not compare it.
//   2. Time, order and chance are inputs: Take says which pending event happens, the event's due
//      time moves the clock, and Chance answers every draw.
//   3. A cancelled event is no longer pending: Take of its choice does nothing (IsPending).
// Deliberately left out: everything that only observes (checkers, trace, statistics).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "protocol/client/session_pool.h"
#include "protocol/client/transaction_runner.h"
#include "protocol/machine.h"
#include "protocol/protocol.h"
#include "protocol/spanner/fields.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/world/application.h"
#include "sim/world/chance.h"
#include "sim/world/fault_effects.h"
#include "sim/world/node_clock.h"
#include "sim/world/observation.h"
#include "sim/world/world_setup.h"
#include "spanner_model/database.h"

namespace whorl::sim {

// --- choices -----------------------------------------------------------------------------------

enum class ChoiceKind : uint8_t {
  kDeliver,  // a message arrives
  kFire,     // a timer of a process fires
  kSettle,   // Spanner, the transport or the observer's own bookkeeping moves on
  kFault,    // a fault begins or ends
};

// Names a pending event by its place; the stamp distinguishes it from earlier events in that place.
struct Choice {
  ChoiceKind kind = ChoiceKind::kFire;
  int16_t node = -1;  // the node that it concerns; -1 for Spanner and the resource
  uint32_t place = 0;
  uint32_t stamp = 0;
  WHORL_FIELDS(Choice, kind, node, place, stamp);
};

struct Scheduled {
  Instant at;
  Choice choice;
  WHORL_FIELDS(Scheduled, at, choice);
};

// The output of one Take. The driver owns and reuses it; it is no part of World.
struct Outbox {
  std::vector<Scheduled> scheduled;
  std::vector<Observation> observed;
  // Scratch space of a Take, kept between takes to avoid allocation.
  std::vector<Effect> effects;
  std::vector<ApplicationEffect> application_effects;
  std::vector<model::DatabaseEffect> database_effects;
  struct MachineEvent {
    int16_t node = 0;
    uint16_t participant = 0;
    Event event;
  };
  std::vector<MachineEvent> machine_events;
};

// --- what is pending ---------------------------------------------------------------------------

enum class TimerOwner : uint8_t {
  kMachine,       // id: the protocol's TimerId
  kRunner,        // id: the RequestId whose transaction backs off
  kApplication,   // id: an ApplicationTimer
  kBeliefLapses,  // id: unused; a belief's local deadline, which no pause delays
  kSessions,      // id: unused; the process's session pool has work to do
};

struct CallArrives {  // at Spanner
  uint32_t call = 0;
  WHORL_FIELDS(CallArrives, call);
};
struct ReplyArrives {  // at the process: Call::response, which may be the transport's own
  uint32_t call = 0;
  bool from_spanner = true;
  WHORL_FIELDS(ReplyArrives, call, from_spanner);
};
struct CallTimesOut {  // the connection's timeout, or the call's deadline
  uint32_t call = 0;
  WHORL_FIELDS(CallTimesOut, call);
};
struct TimerDue {
  ProcessId process;
  uint16_t lock = 0;
  TimerOwner owner = TimerOwner::kMachine;
  uint16_t id = 0;
  WHORL_FIELDS(TimerDue, process, lock, owner, id);
};
struct CommitBecomesVisible {
  CallName begun_by;  // names the transaction
  bool waited_for_truetime = false;
  WHORL_FIELDS(CommitBecomesVisible, begun_by, waited_for_truetime);
};
struct SpannerLooksAgain {
  WHORL_NO_FIELDS(SpannerLooksAgain);
};
struct ResourceWrite {  // reaches the resource, or both of them
  ProcessId process;
  uint16_t lock = 0;
  std::optional<uint64_t> token;
  WHORL_FIELDS(ResourceWrite, process, lock, token);
};
struct NodeStarts {               // at the scenario's start_at, or again after a crash or a stop
  std::optional<uint32_t> fault;  // the fault that ends when the node starts
  WHORL_FIELDS(NodeStarts, fault);
};
struct FaultBegins {
  uint32_t fault = 0;
  std::optional<CallName> trigger;  // the call whose phase triggered it
  WHORL_FIELDS(FaultBegins, fault, trigger);
};
struct FaultEnds {
  uint32_t fault = 0;
  int16_t node = FaultSpec::kNoNode;  // the one that it struck
  uint32_t incarnation = 0;  // the one that it struck: a pause does not outlive its process
  WHORL_FIELDS(FaultEnds, fault, node, incarnation);
};
struct OperatorActs {  // the next call of an operator's transaction, or its retry after ABORTED
  uint32_t fault = 0;
  uint16_t attempt = 0;
  bool has_begun = false;  // its statement has been answered
  WHORL_FIELDS(OperatorActs, fault, attempt, has_begun);
};
struct ReleaseHeard {  // an announcement that the lock was released arrives
  uint16_t lock = 0;
  WHORL_FIELDS(ReleaseHeard, lock);
};
using PendingEvent = std::variant<CallArrives, ReplyArrives, CallTimesOut, TimerDue,
                                  CommitBecomesVisible, SpannerLooksAgain, ResourceWrite,
                                  NodeStarts, FaultBegins, FaultEnds, OperatorActs, ReleaseHeard>;
static_assert(std::is_trivially_copyable_v<PendingEvent>, "it is copied for each event");

struct PendingSlot {
  uint32_t stamp = 0;
  Instant due;
  std::optional<PendingEvent> event;
  WHORL_FIELDS(PendingSlot, stamp, due, event);
};

// --- processes ---------------------------------------------------------------------------------

struct ActiveTimer {
  TimerOwner owner = TimerOwner::kMachine;
  uint16_t id = 0;
  uint32_t place = 0;  // index of the pending event
  Duration at;         // local monotonic
  WHORL_FIELDS(ActiveTimer, owner, id, place, at);
};

struct ActiveRunner {
  RequestId request = 0;
  uint32_t generation = 0;
  RunnerState state;
  WHORL_FIELDS(ActiveRunner, request, generation, state);
};

// A process's part in one lock.
struct Participant {
  uint16_t lock = 0;
  ProtocolState machine;
  Standing standing;  // as last observed
  bool believes = false;
  bool belief_lapsed = false;  // at its local deadline
  ApplicationState application;
  Instant asked_at;  // when the application asked for has_lock last
  std::vector<ActiveTimer> timers;
  std::vector<ActiveRunner> runners;
  WHORL_FIELDS(Participant, lock, machine, standing, believes, belief_lapsed, application, asked_at,
               timers, runners);
};

enum class Life : uint8_t { kDown, kRunning, kStopped };

// The sessions of a process that may lose a session to a fault. Every other process has one session
// that always exists and needs no calls.
struct ClientSessions {
  SessionPool pool;
  uint16_t asked = 0;  // how often Spanner was asked to create one
  // The transaction that asked last:
  uint16_t lock = 0;
  RequestId request = 0;
  StepName step;
  WHORL_FIELDS(ClientSessions, pool, asked, lock, request, step);
};

struct Node {
  Life life = Life::kDown;
  uint32_t incarnation = 0;
  NodeClock clock;
  Duration started;             // what the clock showed when the process started
  uint32_t generation = 0;      // of its newest transaction: see CallName
  int32_t pauses = 0;           // how many pauses hold it up at this moment
  std::vector<Choice> held_up;  // events that wait for the pause to end
  std::optional<ClientSessions> sessions;
  std::vector<Participant> participants;
  WHORL_FIELDS(Node, life, incarnation, clock, started, generation, pauses, held_up, sessions,
               participants);
};

// A call, from when it is sent until both ends are done with it.
struct Call {
  CallName name;
  StepName step;
  Request request;
  Instant sent_at;
  Duration deadline;        // local monotonic
  bool awaited = true;      // the process still waits
  bool at_spanner = false;  // from sending until the reply is sent or lost
  bool hangs = false;       // a fault holds it back or has lost it
  bool slowed = false;      // an active fault adds latency
  bool drop_reply = false;
  std::optional<uint32_t> struck_by;  // the fault by which Spanner will answer it
  std::optional<uint32_t> held;       // place of the pending message that a black hole holds
  std::optional<uint32_t> timeout;    // place of the pending CallTimesOut
  // Set while the reply is on its way. It is not in the pending event, which is moved more often.
  Response response;
  WHORL_FIELDS(Call, name, step, request, sent_at, deadline, awaited, at_spanner, hangs, slowed,
               drop_reply, struck_by, held, timeout, response);
};

// A place for a call. A free one keeps the storage of its last call for the next one, but that is no
// part of its value: free places are equal, and a copy of one is empty.
class CallSlot {
 public:
  CallSlot() = default;
  CallSlot(const CallSlot& other) : is_taken_(other.is_taken_) {
    if (is_taken_) call_ = other.call_;
  }
  CallSlot(CallSlot&&) = default;
  CallSlot& operator=(const CallSlot& other) { return *this = CallSlot(other); }
  CallSlot& operator=(CallSlot&&) = default;
  ~CallSlot() = default;

  bool is_taken() const { return is_taken_; }
  // REQUIRES: is_taken().
  Call& call() { return call_; }
  const Call& call() const { return call_; }

  // REQUIRES: !is_taken(). The caller sets the name, the step, the request and the deadline.
  Call& Take();
  void Free() { is_taken_ = false; }

  friend bool operator==(const CallSlot& a, const CallSlot& b) {
    return a.is_taken_ == b.is_taken_ && (!a.is_taken_ || a.call_ == b.call_);
  }
  template <typename Fingerprint>
  void AddTo(Fingerprint& fingerprint) const {
    fingerprint.Add(is_taken_);
    if (is_taken_) fingerprint.Add(call_);
  }

 private:
  bool is_taken_ = false;
  Call call_;
};

// The greatest token that the fencing resource of each lock has accepted.
struct Resource {
  std::optional<uint64_t> greatest;
  WHORL_FIELDS(Resource, greatest);
};

// Spanner's own clocks.
struct SpannerState {
  TrueTimeSpec truetime;
  Duration current_timestamp_error;
  WHORL_FIELDS(SpannerState, truetime, current_timestamp_error);
};

struct WorldState {
  Instant now;
  std::vector<Node> nodes;
  SpannerState spanner;
  ActiveFaults faults;
  model::Database database;
  std::vector<Resource> resources;  // by lock
  std::vector<CallSlot> calls;
  std::vector<uint32_t> free_calls;
  std::vector<PendingSlot> pending;
  std::vector<uint32_t> free_pending;
  WHORL_FIELDS(WorldState, now, nodes, spanner, faults, database, resources, calls, free_calls,
               pending, free_pending);
};

// --- the world ---------------------------------------------------------------------------------

class World {
 public:
  // Observes the initial rows, and schedules the starts of nodes and the timed faults.
  World(std::shared_ptr<const WorldSetup> setup, Outbox& out);

  // Lets the pending event happen, at its due time or now, whichever is later. Clears and fills
  // `out`. Does nothing if the event is no longer pending.
  void Take(const Choice& choice, Chance& chance, Outbox& out);
  bool IsPending(const Choice& choice) const;

  // Schedules a fault for now, because a call reached its phase.
  void Trigger(uint32_t fault, const CallName& call, Outbox& out);

  // The step that the choice would end, if it is a reply that would end one: for faults that strike
  // after a reply has arrived and before the process acts on it.
  struct StepEnd {
    CallName call;
    StepName step;
  };
  std::optional<StepEnd> WouldEnd(const Choice& choice) const;

  Instant now() const { return state_.now; }
  const WorldState& state() const { return state_; }
  const WorldSetup& setup() const { return *setup_; }
  friend bool operator==(const World& a, const World& b) { return a.state_ == b.state_; }

 private:
  std::shared_ptr<const WorldSetup> setup_;
  WorldState state_;
};

}  // namespace whorl::sim
