// The fixed words of the project: steps of the protocols and invariants, spelt as in scenarios.
#pragma once

#include <cstdint>

#include "protocol/spanner/words.h"

namespace whorl {

// A step of a protocol: one transaction, or one thing that the application does with the lock.
enum class StepName : uint8_t {
  // spindle_v2
  kCheck,
  kFirstInsert,
  kReread,
  kTakeoverInsert,
  kTakeoverUpdate,
  kHeartbeatUpdate,
  kHeartbeatDelete,
  // every protocol
  kHasLock,
  kWrite,
  // fenced_lease
  kRead,
  kTake,
  kCreate,
  kBeat,
  kRelease,  // and spindle_v3, lease_lock
  // spindle_v3
  kLook,
  kAcquire,    // and lease_lock
  kHeartbeat,  // and lease_lock
  // semaphore
  kUpdate,
  kQuery,
  // lease_lock
  kGet,
};
constexpr auto WordTableOf(StepName) {
  return MakeWordTable<StepName>({
      {StepName::kCheck, "check"},
      {StepName::kFirstInsert, "first_insert"},
      {StepName::kReread, "reread"},
      {StepName::kTakeoverInsert, "takeover_insert"},
      {StepName::kTakeoverUpdate, "takeover_update"},
      {StepName::kHeartbeatUpdate, "heartbeat_update"},
      {StepName::kHeartbeatDelete, "heartbeat_delete"},
      {StepName::kHasLock, "has_lock"},
      {StepName::kWrite, "write"},
      {StepName::kRead, "read"},
      {StepName::kTake, "take"},
      {StepName::kCreate, "create"},
      {StepName::kBeat, "beat"},
      {StepName::kRelease, "release"},
      {StepName::kLook, "look"},
      {StepName::kAcquire, "acquire"},
      {StepName::kHeartbeat, "heartbeat"},
      {StepName::kUpdate, "update"},
      {StepName::kQuery, "query"},
      {StepName::kGet, "get"},
  });
}

// How far a step has come.
enum class Phase : uint8_t {
  kSent,       // the process handed the step's first call to the network
  kServed,     // Spanner executed a statement of the step (the resource: the write arrived)
  kCommitted,  // the step's transaction became visible
  kReplied,    // the reply that ends the step reached the process, which has not acted on it yet
  kEnded,      // the process has acted on the step's outcome
};
constexpr auto WordTableOf(Phase) {
  return MakeWordTable<Phase>({
      {Phase::kSent, "sent"},
      {Phase::kServed, "served"},
      {Phase::kCommitted, "committed"},
      {Phase::kReplied, "replied"},
      {Phase::kEnded, "ended"},
  });
}

enum class Invariant : uint8_t {
  kOneLiveToken,
  kTokenMonotonic,
  kHandedTokenMonotonic,
  kHasLockTruthful,
  kLeaseRespected,
  kFencedWritesOrdered,
  kSingleLeaderBelief,
  kIsolation,
  kNoWedge,
};
constexpr auto WordTableOf(Invariant) {
  return MakeWordTable<Invariant>({
      {Invariant::kOneLiveToken, "one_live_token"},
      {Invariant::kTokenMonotonic, "token_monotonic"},
      {Invariant::kHandedTokenMonotonic, "handed_token_monotonic"},
      {Invariant::kHasLockTruthful, "has_lock_truthful"},
      {Invariant::kLeaseRespected, "lease_respected"},
      {Invariant::kFencedWritesOrdered, "fenced_writes_ordered"},
      {Invariant::kSingleLeaderBelief, "single_leader_belief"},
      {Invariant::kIsolation, "isolation"},
      {Invariant::kNoWedge, "no_wedge"},
  });
}

}  // namespace whorl
