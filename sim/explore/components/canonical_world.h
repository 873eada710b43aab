// Makes the canonical form of a world: two worlds with the same future, with the same names, get equal forms,
// whichever runs led to them.
//
// Left out are:
//   1. The indexes, ids and the order of pending events, calls, timers and runners.
//   2. Values that no later step can read: answers that were given, transactions that no process and no message
//      refers to (unless they hold locks), versions of rows that no open transaction can read, timestamps of
//      splits that are below the next one.
//   3. The values of counters that only grow, such as a process's transactions: only the order of those that are
//      still in use matters.
//   4. The present time (canonical_form.h).
// The parts are the units that a step of the world reads and writes (transition_cache.h): each process with its
// timers, each call with its messages, the database, each transaction.
// REQUIRES, beside what canonical_form.h asks of the code under test: where a clock's rate is not 1,
// nothing depends on the clock's fraction of a nanosecond.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/explore/components/canonical_form.h"
#include "sim/world/world.h"

namespace whorl::sim {

// The values of PartName::kind. Each says what PartName::index and Part::origin mean.
enum class PartKind : uint16_t {
  kNode,         // index: the node
  kSpanner,      // its clocks, and the faults that are active
  kDatabase,     // rows, splits, sessions, reads that wait
  kTransaction,  // one that Spanner remembers; origin: as KeptTransaction takes it
  kResources,    // of all locks
  kCall,         // index: the node that sent it; origin: its index among the calls
  kEvent,        // a pending event of no part above; index: its node; origin: its index
  // These are not of the world:
  kJudges,  // the judges' memory of the past; index: of this node
  kLedger,  // the judges' knowledge of the present
};

constexpr auto WordTableOf(PartKind) {
  return MakeWordTable<PartKind>({
      {PartKind::kNode, "a process"},
      {PartKind::kSpanner, "Spanner's clocks or active faults"},
      {PartKind::kDatabase, "the database"},
      {PartKind::kTransaction, "a transaction"},
      {PartKind::kResources, "the resources"},
      {PartKind::kCall, "a call"},
      {PartKind::kEvent, "a pending event"},
      {PartKind::kJudges, "what judges remember"},
      {PartKind::kLedger, "what judges know of the present"},
  });
}

// REQUIRES: EndPart follows.
inline void BeginPart(PartKind kind, int16_t index, CanonicalForm& form, uint32_t origin = 0) {
  form.BeginPart({.kind = static_cast<uint16_t>(kind), .index = index}, origin);
}

// The transaction with this index in Database::transactions followed by Database::finished.
const model::TransactionState& KeptTransaction(const model::Database& database, uint32_t origin);

// The first slots of a part, in this order:
//   1. The due times of its events. A node's events are its timers, by lock, then in the order of SortedTimers, unless
//      its clock stands still; those of a call are the arrival of its request or reply, unless that is held back, and
//      then its timeout, unless the clock that it waits for stands still.
//   2. For a node, the times at which its open questions were asked.
//   3. The generations of the transactions that the part refers to (ForEachReferenceOf), if Spanner remembers them;
//      for a transaction, its own generation.
std::vector<const ActiveTimer*> SortedTimers(const Participant& participant);
std::vector<const ActiveRunner*> SortedRunners(const Participant& participant);

// Whether the event can happen: it is queued, and due by a clock that runs.
inline bool CanHappen(const PendingSlot& slot) {
  return slot.queued != PendingSlot::kNone && slot.due != kNever;
}

// Removes the transactions and versions of rows that the form leaves out, which Spanner would keep for an hour.
// The form stays the same.
void DropWhatCannotMatter(World& world);

// Whether Spanner's record of the transaction matters even if no process and no message refers to it.
bool MattersByItself(const World& world, const model::TransactionState& transaction);
// The transaction whose id the request names, or whose age it inherits; null if none.
const TransactionId* TransactionIn(const Request& request);

// Calls visit(id) for each transaction that the process refers to.
template <typename Visit>
void ForEachReferenceOf(const Node& node, const Visit& visit) {
  for (const Participant& participant : node.participants) {
    for (const ActiveRunner* runner : SortedRunners(participant)) {
      for (const auto* id : {&runner->state.transaction_id, &runner->state.previous}) {
        if (!id->empty()) visit(*id);
      }
    }
  }
}
// Calls visit(id) for each transaction that a call's message refers to: its request or its reply. Null: none.
template <typename Visit>
void ForEachReferenceOf(const Call& call, const PendingSlot* message, const Visit& visit) {
  if (message == nullptr) return;
  if (std::holds_alternative<CallArrives>(message->choice.event)) {
    if (const TransactionId* sent = TransactionIn(call.request)) visit(*sent);
  } else if (!call.response.transaction.empty()) {
    visit(call.response.transaction);
  }
}

// How tokens are compared. Searches use the first value; tests compare the other two.
enum class TokensAre : uint8_t {
  kAsTheProtocolSays,  // StateTraits::orders_tokens_only
  kOrdered,
  kInstants,
};

// Adds all parts of the world. Clears the form.
void TakeApart(const World& world, CanonicalForm& form,
               TokensAre tokens = TokensAre::kAsTheProtocolSays);

// `memory`: longer than any time that the code under test, the faults and Spanner's limits ask about.
Digest128 CanonicalDigest(const World& world, Duration memory);

}  // namespace whorl::sim
