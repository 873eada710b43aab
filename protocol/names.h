// Declares the words that protocols give to their steps, notes and draws, and the project's own
// words for phases and invariants.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/spanner/words.h"

namespace whorl {

// A word that a protocol chose. Each protocol declares its own, in a header of its own:
//
//   namespace my_lock::steps {
//   inline constexpr whorl::StepName kRenew{"renew"};
//   }  // namespace my_lock::steps
//
// Invariants:
//   1. A name consists of its word: two names of one kind with the same word are equal, wherever
//      they are declared. Protocols may share a word, such as `release`.
//   2. key() follows from the word alone, on every compiler and in every process. Fingerprints and
//      draws are made with it, and == compares it.
//   3. Names are ordered by their words.
template <typename Kind>
class Name {
 public:
  // The value of a field that was never set: the first of Kind::kNumbered.
  constexpr Name() : Name(Kind::kNumbered.front().data(), 0) {}
  // A literal, which lives as long as the program.
  consteval explicit Name(const char* word) : Name(word, KeyOf(word)) {}
  // REQUIRES: `word` outlives every copy of the name.
  static constexpr Name Borrow(const char* word) { return Name(word, KeyOf(word)); }

  constexpr std::string_view word() const { return word_; }
  constexpr uint64_t key() const { return key_; }

  friend constexpr bool operator==(Name a, Name b) { return a.key_ == b.key_; }
  friend constexpr std::strong_ordering operator<=>(Name a, Name b) {
    return a.word() <=> b.word();
  }
  // A friend rather than a template, so that WordOf<Enum> names one function only.
  friend constexpr std::string_view WordOf(Name name) { return name.word_; }
  template <typename Fingerprint>
  void AddTo(Fingerprint& fingerprint) const {
    fingerprint.AddWord(key_);
  }

 private:
  constexpr Name(const char* word, uint64_t key) : key_(key), word_(word) {}

  // FNV-1a, with the highest bit set: no hash is a number of kNumbered.
  static constexpr uint64_t KeyOf(std::string_view word) {
    for (size_t i = 0; i < Kind::kNumbered.size(); ++i) {
      if (Kind::kNumbered[i] == word) return i;
    }
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : word) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    }
    return hash | uint64_t{1} << 63;
  }

  uint64_t key_;
  const char* word_;  // ends with a zero
};

// Words that had numbers before names had keys. Their numbers are their keys, so that a scenario
// and a seed still give the same hash and the same draws. Nothing is ever added here.
struct StepKind {
  static constexpr auto kNumbered = std::to_array<std::string_view>({"check",
                                                                     "first_insert",
                                                                     "reread",
                                                                     "takeover_insert",
                                                                     "takeover_update",
                                                                     "heartbeat_update",
                                                                     "heartbeat_delete",
                                                                     "has_lock",
                                                                     "write",
                                                                     "read",
                                                                     "take",
                                                                     "create",
                                                                     "beat",
                                                                     "release",
                                                                     "look",
                                                                     "acquire",
                                                                     "heartbeat",
                                                                     "update",
                                                                     "query",
                                                                     "get"});
};
struct NoteKind {
  static constexpr auto kNumbered = std::to_array<std::string_view>(
      {"lease raised to its minimum", "got the first lock", "got the next lock", "read failed",
       "token update failed", "heartbeat failed", "got the lock", "lost the lock", "claim failed",
       "outcome unknown", "outcome read back", "the clock stood still", "the row cannot be read",
       "held by another", "release failed", "heard of a release"});
};
struct PurposeKind {
  static constexpr auto kNumbered = std::to_array<std::string_view>(
      {"instance_id", "heartbeat_pause", "aborted_backoff", "call_backoff", "session_backoff",
       "attempt_id", "take_delay", "wake_delay", "key_order"});
};

// A step of a protocol: one transaction, or one thing that the application does with the lock.
using StepName = Name<StepKind>;
// The kind of a line in a protocol's log.
using NoteId = Name<NoteKind>;
// The purpose of a random draw: draws for one purpose do not affect those for another.
using Purpose = Name<PurposeKind>;

// The steps of every protocol, which are the application's.
namespace steps {
inline constexpr StepName kHasLock{"has_lock"};
inline constexpr StepName kWrite{"write"};  // to the resource
}  // namespace steps

// Notes that mean the same in every protocol. Reports count some of them. Comments list the values.
namespace notes {
// Values: the lease asked for and the one used, in ms.
inline constexpr NoteId kLeaseRaised{"lease raised to its minimum"};
inline constexpr NoteId kReadFailed{"read failed"};            // error
inline constexpr NoteId kHeartbeatFailed{"heartbeat failed"};  // error
// Token, or in a protocol without tokens: until when.
inline constexpr NoteId kGotLock{"got the lock"};
inline constexpr NoteId kLostLock{"lost the lock"};                 // why
inline constexpr NoteId kClaimFailed{"claim failed"};               // error
inline constexpr NoteId kOutcomeUnknown{"outcome unknown"};         // the claim is read back: error
inline constexpr NoteId kOutcomeReadBack{"outcome read back"};      // whether it had been committed
inline constexpr NoteId kClockStoodStill{"the clock stood still"};  // by how much at least, in ms
// The lock, and what is wrong with its row.
inline constexpr NoteId kBadRow{"the row cannot be read"};
inline constexpr NoteId kReleaseFailed{"release failed"};  // error
}  // namespace notes

namespace purposes {
inline constexpr Purpose kInstanceId{"instance_id"};
}  // namespace purposes

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
  kNoWorkAfterRelease,
  kSingleWorker,
  kPacedCalls,
  kToldOfLeadership,
  kAnsweredInTime,
  kReasonedStepDown,
  kPromptHandover,
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
      {Invariant::kNoWorkAfterRelease, "no_work_after_release"},
      {Invariant::kSingleWorker, "single_worker"},
      {Invariant::kPacedCalls, "paced_calls"},
      {Invariant::kToldOfLeadership, "told_of_leadership"},
      {Invariant::kAnsweredInTime, "answered_in_time"},
      {Invariant::kReasonedStepDown, "reasoned_step_down"},
      {Invariant::kPromptHandover, "prompt_handover"},
  });
}

}  // namespace whorl
