// The fixed words of the project: steps of the protocols and invariants, spelt as in scenarios.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace whorl {

// The enumerator whose word is `text`; words[i] belongs to enumerator i.
template <typename Enum, size_t N>
constexpr std::optional<Enum> FindWord(const std::array<std::string_view, N>& words,
                                       std::string_view text) {
  for (size_t i = 0; i < N; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

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
inline constexpr int kStepCount = 20;
std::string_view StepText(StepName step);
std::optional<StepName> ParseStep(std::string_view text);

// How far a step has come.
enum class Phase : uint8_t {
  kSent,       // the process handed the step's first call to the network
  kServed,     // Spanner executed a statement of the step (the resource: the write arrived)
  kCommitted,  // the step's transaction became visible
  kReplied,    // the reply that ends the step reached the process, which has not acted on it yet
  kEnded,      // the process has acted on the step's outcome
};
inline constexpr int kPhaseCount = 5;
std::string_view PhaseText(Phase phase);

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
inline constexpr int kInvariantCount = 9;
std::string_view InvariantText(Invariant invariant);

}  // namespace whorl
