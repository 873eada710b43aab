// Holds the events that are to happen in a world, and the choices that name them.
//
// Invariants:
//   1. A choice names its event by content: two worlds that mean the same offer the same choices,
//      and a choice that was made in one world can be made in another.
//   2. Events that are due at the same time are in the order in which they were scheduled.
//   3. A cancelled event leaves nothing behind.
//   4. While an event that was due first happens, its entry in the queue is a gap, which the next
//      event that is put into the queue fills: most events lead to another one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "protocol/spanner/fields.h"
#include "protocol/spanner/rpc.h"
#include "protocol/token.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/scenario.h"
#include "sim/scenario/schedule.h"

namespace whorl::sim {

// --- events -------------------------------------------------------------------------------------

struct CallArrives {  // at Spanner
  CallName call;
  WHORL_FIELDS(CallArrives, call);
};
struct ReplyArrives {  // at the process: Call::response, which may be the transport's own
  CallName call;
  bool from_spanner = true;
  WHORL_FIELDS(ReplyArrives, call, from_spanner);
};
struct CallTimesOut {  // the connection's timeout, or the call's deadline
  CallName call;
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
  std::optional<TokenNumber> token;
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

// --- choices ------------------------------------------------------------------------------------

enum class ChoiceKind : uint8_t {
  kDeliver,  // a message arrives
  kFire,     // a timer of a process fires
  kSettle,   // Spanner, the transport or the observer's own bookkeeping moves on
  kFault,    // a fault begins or ends
};

struct Choice {
  ChoiceKind kind = ChoiceKind::kFire;
  int16_t node = -1;  // the node that it concerns; -1 for Spanner and the resource
  PendingEvent event;
  WHORL_FIELDS(Choice, kind, node, event);
};

// --- what is pending ----------------------------------------------------------------------------

struct PendingSlot {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  Choice choice;
  Instant due;
  uint64_t id = 0;          // another one for each event; 0: the slot is free
  uint32_t call = kNone;    // the place of the call that the event is about
  uint32_t queued = kNone;  // its place in the queue; none while a black hole or a pause holds it
  WHORL_FIELDS(PendingSlot, choice, due, id, call, queued);
};
static_assert(std::is_trivially_copyable_v<PendingSlot>, "it is copied for each event");

// An event that was pending, and may be so no longer.
struct PendingRef {
  uint32_t place = 0;
  uint64_t id = 0;
  WHORL_FIELDS(PendingRef, place, id);
};

class PendingEvents {
 public:
  // The place of the new event, which stays the same until Remove.
  uint32_t Add(const Choice& choice, uint32_t call);
  // REQUIRES of those with a place: there is an event in it.
  void Remove(uint32_t place);
  // Removes the event in order to let it happen. REQUIRES: it is in the queue. The gap is closed
  // before First() is called.
  void Take(uint32_t place);
  void CloseGap() {
    if (has_gap_) FillGap();
  }
  // Makes the event due at `due`, after all others of that instant. REQUIRES: it is not in the queue.
  void Enqueue(uint32_t place, Instant due);
  // Takes the event out of the queue; it stays pending. REQUIRES: it is in the queue.
  void Dequeue(uint32_t place);

  const PendingSlot& operator[](uint32_t place) const { return slots_[place]; }
  bool Contains(const PendingRef& ref) const { return slots_[ref.place].id == ref.id; }
  // The place of the event that is due first; nothing if there is none. REQUIRES: there is no gap.
  std::optional<uint32_t> First() const {
    if (queue_.empty()) return std::nullopt;
    return queue_.front().place;
  }
  // Adds an event that is due then.
  uint32_t Schedule(Instant due, const Choice& choice, uint32_t call);
  // Nothing if no event has this content.
  std::optional<uint32_t> Find(const Choice& choice) const;
  size_t capacity() const { return slots_.size(); }

  // Calls visit(slot, place) for all events, also those that are held up.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (uint32_t place = 0; place < slots_.size(); ++place) {
      if (slots_[place].id != 0) visit(slots_[place], place);
    }
  }

  friend bool operator==(const PendingEvents&, const PendingEvents&) = default;
  template <typename Fingerprint>
  void AddTo(Fingerprint& fingerprint) const {
    fingerprint.Add(slots_);
    fingerprint.Add(free_);
    fingerprint.Add(queue_);
    fingerprint.Add(scheduled_);
    fingerprint.Add(has_gap_);
  }

 private:
  struct Queued {
    Instant due;
    uint64_t order = 0;
    uint32_t place = 0;
    WHORL_FIELDS(Queued, due, order, place);
    bool IsBefore(const Queued& other) const {
      return due != other.due ? due < other.due : order < other.order;
    }
  };
  // A wide heap is flat: most events are put in near its bottom and move up little.
  static constexpr size_t kChildren = 4;
  static constexpr size_t ParentOf(size_t at) { return (at - 1) / kChildren; }
  void Put(size_t at, const Queued& queued) {
    queue_[at] = queued;
    slots_[queued.place].queued = static_cast<uint32_t>(at);
  }
  void FillGap();
  void Free(uint32_t place);
  // Moves the entry from `at` to where it belongs in the heap.
  void Rise(size_t at, const Queued& queued);
  void Sink(size_t at, const Queued& queued);

  std::vector<PendingSlot> slots_;
  std::vector<uint32_t> free_;
  std::vector<Queued> queue_;  // a heap, the first at its front
  uint64_t scheduled_ = 0;     // how often an event was put into the queue or added
  bool has_gap_ = false;       // the entry at the front of the queue has no event
};

}  // namespace whorl::sim
