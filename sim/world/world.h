// Simulates the world of a run: nodes with their clocks and applications, the network, Spanner, and
// the resource that the lock protects.
//
// A driver makes one choice at a time, and the world reports what could be observed. The code under
// test cannot tell which driver it is.
//
// Invariants:
//   1. World is a value: copying it forks it. What never changes (scenario, configurations, plans)
//      is shared, and == does not compare it.
//   2. Time, order and chance are inputs: Take says which pending event happens, the event's due
//      time moves the clock, and Chance answers every draw.
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
#include "sim/world/pending.h"
#include "sim/world/world_setup.h"
#include "spanner_model/database.h"

namespace whorl::sim {

// --- what a Take says ---------------------------------------------------------------------------

// The output of one Take. The driver owns and reuses it; it is no part of World.
struct Outbox {
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

// --- processes ---------------------------------------------------------------------------------

struct ActiveTimer {
  TimerOwner owner = TimerOwner::kMachine;
  uint16_t id = 0;
  uint32_t place = 0;  // of the pending event
  LocalInstant at;     // when it fires
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
  LeadershipView standing;  // as last observed
  bool believes = false;
  bool belief_lapsed = false;  // at its local deadline
  ApplicationState application;
  Instant asked_at;                    // when the application asked for has_lock last
  std::vector<Instant> asked_more_at;  // and the questions from kAskMore on, each by its id
  std::vector<ActiveTimer> timers;
  std::vector<ActiveRunner> runners;
  WHORL_FIELDS(Participant, lock, machine, standing, believes, belief_lapsed, application, asked_at,
               asked_more_at, timers, runners);
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
  Duration started;                 // what the clock showed when the process started
  uint32_t generation = 0;          // of its newest transaction: see CallName
  int32_t pauses = 0;               // how many pauses hold it up at this moment
  std::vector<PendingRef> held_up;  // events that wait for the pause to end
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
  LocalInstant deadline;    // of the process that sent it
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
  void Take();
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
  std::optional<TokenNumber> greatest;
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
  PendingEvents pending;
  WHORL_FIELDS(WorldState, now, nodes, spanner, faults, database, resources, calls, free_calls,
               pending);
};

// --- the world ---------------------------------------------------------------------------------

// Whether the event waits while its process is paused. A belief lapses all the same.
bool WaitsForPause(const PendingEvent& event);

class World {
 public:
  // Observes the initial rows, and schedules the starts of nodes and the timed faults, except those
  // that the scenario's schedule begins.
  World(std::shared_ptr<const WorldSetup> setup, Outbox& out);

  // The event that is due next by virtual time; null if there is none.
  const PendingSlot* Next() const {
    const auto first = state_.pending.First();
    return first ? &state_.pending[*first] : nullptr;
  }
  // Lets it happen. Clears and fills `out`. REQUIRES: there is one.
  void TakeNext(Chance& chance, Outbox& out);

  // Calls visit(choice, due) for each event that can happen next. Those of a paused process that wait
  // for the pause to end, and messages that a black hole holds back, cannot.
  template <typename Visit>
  void ForEachChoice(const Visit& visit) const {
    state_.pending.ForEach([&visit](const PendingSlot& slot, uint32_t) {
      if (slot.queued != PendingSlot::kNone) visit(slot.choice, slot.due);
    });
  }
  // Whether it waits for the end of a pause of its process.
  bool IsHeldUp(const PendingSlot& slot) const;
  // Lets the event happen, at its due time or now, whichever is later. Clears and fills `out`. Does
  // nothing if no such event can happen.
  void Take(const Choice& choice, Chance& chance, Outbox& out);
  // The same, but now, although it may be due later: for searches, where a due time is a bound.
  void TakeEarly(const Choice& choice, Chance& chance, Outbox& out);
  // Lets time pass without an event. REQUIRES: `to` is not before now().
  void AdvanceTo(Instant to) { state_.now = to; }
  // Makes Spanner forget these transactions now, and the versions of rows that no read at or after
  // `oldest_read` can see. REQUIRES: nothing can ask for them any more (DropWhatCannotMatter).
  template <typename Predicate>
  void Forget(const Predicate& transactions, Timestamp oldest_read) {
    std::erase_if(state_.database.transactions, transactions);
    std::erase_if(state_.database.finished, transactions);
    for (model::StoredTable& table : state_.database.tables) model::Collect(table, oldest_read);
  }

  // A call reached the phase at which the fault strikes: the choice that lets it strike now.
  Choice Trigger(uint32_t fault, const CallName& call);

  // The step that the choice would end, if it is a reply that would end one: for faults that strike
  // after a reply has arrived and before the process acts on it.
  struct StepEnd {
    CallName call;
    StepName step;
  };
  std::optional<StepEnd> WouldEnd(const PendingSlot& slot) const;

  Instant now() const { return state_.now; }
  const WorldState& state() const { return state_; }
  const WorldSetup& setup() const { return *setup_; }
  friend bool operator==(const World& a, const World& b) { return a.state_ == b.state_; }

 private:
  // Its place; nothing if no such event can happen now.
  std::optional<uint32_t> FindQueued(const Choice& choice) const;
  void TakeFrom(uint32_t place, Chance& chance, Outbox& out, bool is_early = false);

  std::shared_ptr<const WorldSetup> setup_;
  WorldState state_;
};

}  // namespace whorl::sim
