// One step of a lock protocol: an event in, effects out, nothing else.
//
// A protocol is a value (its State) and a function
//   void Step(const Config&, State&, LocalTime, Entropy&, const Event&, std::vector<Effect>& out)
// that appends to `out`, which is the caller's and reused. Invariants:
//   1. Time, order and chance come in as arguments; no clock or generator is reachable.
//   2. Ids are functions of the state. A request's id is free again once its TransactionEnded was
//      given; a timer that was replaced or cancelled is dropped by the world.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/client/transaction.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/time.h"
#include "protocol/spanner/value.h"
#include "protocol/spanner/words.h"

namespace whorl {

// This node's clocks as it sees them.
struct LocalTime {
  Duration monotonic;  // since the process started
  Timestamp wall;
};

// What a draw is for: draws of one purpose do not move those of another.
enum class Purpose : uint8_t {
  kInstanceId,
  kHeartbeatPause,
  kAbortedBackoff,
  kCallBackoff,
  kSessionBackoff,
  kAttemptId,
  kTakeDelay,
  kWakeDelay,
  kKeyOrder,
};

class Entropy {
 public:
  virtual ~Entropy() = default;
  // Uniform in [lo, hi]. REQUIRES: lo <= hi.
  virtual int64_t Between(Purpose purpose, int64_t lo, int64_t hi) = 0;
};

using RequestId = uint16_t;
using TimerId = uint16_t;
using AskId = uint16_t;  // given by who asks; free again once answered

// What an application can ask of a lock.
enum class Question : uint8_t {
  kHasLock,
  kHasLock2,
  kLeader,
  kDuration,
  kIterations,
  kLock,    // the blocking wrapper
  kUnlock,  // the blocking wrapper
};
constexpr auto WordTableOf(Question) {
  return MakeWordTable<Question>({
      {Question::kHasLock, "HasLock"},
      {Question::kHasLock2, "HasLock2"},
      {Question::kLeader, "Leader"},
      {Question::kDuration, "Duration"},
      {Question::kIterations, "Iterations"},
      {Question::kLock, "Lock"},
      {Question::kUnlock, "Unlock"},
  });
}

enum class StopReason : uint8_t { kCancelled, kDeadline };
constexpr auto WordTableOf(StopReason) {
  return MakeWordTable<StopReason>({
      {StopReason::kCancelled, "cancelled"},
      {StopReason::kDeadline, "deadline"},
  });
}

struct Started {
  WHORL_NO_FIELDS(Started);
};
struct TimerFired {
  TimerId timer = 0;
  WHORL_FIELDS(TimerFired, timer);
};
struct TransactionEnded {
  RequestId request = 0;
  StepName step = StepName::kCheck;
  TransactionResult result;
  WHORL_FIELDS(TransactionEnded, request, step, result);
};
struct Asked {
  AskId ask = 0;
  Question question = Question::kHasLock;
  WHORL_FIELDS(Asked, ask, question);
};
struct StopRequested {
  StopReason reason = StopReason::kCancelled;
  WHORL_FIELDS(StopRequested, reason);
};
// After StopRequested, once nothing runs any more that the application does under the lock: what is
// given up on a stop is given up now.
struct WorkStopped {
  WHORL_NO_FIELDS(WorkStopped);
};
// Another process says that it has given the lock back (AnnounceRelease). That may be wrong, late,
// or never come: who hears it may look sooner, and may conclude nothing from it.
struct ReleaseAnnounced {
  WHORL_NO_FIELDS(ReleaseAnnounced);
};
using Event = std::variant<Started, TimerFired, TransactionEnded, Asked, StopRequested, WorkStopped,
                           ReleaseAnnounced>;

struct RunTransaction {
  RequestId request = 0;
  Transaction transaction;
  WHORL_FIELDS(RunTransaction, request, transaction);
};
struct SetTimer {  // replaces the timer of the same id
  TimerId timer = 0;
  Duration at;  // of the monotonic clock
  WHORL_FIELDS(SetTimer, timer, at);
};
struct CancelTimer {
  TimerId timer = 0;
  WHORL_FIELDS(CancelTimer, timer);
};
struct LeadershipChanged {  // the protocol's callback, as often as the protocol makes it
  bool leader = false;
  WHORL_FIELDS(LeadershipChanged, leader);
};
struct Answer {
  AskId ask = 0;
  Question question = Question::kHasLock;
  bool yes = false;               // has the lock; Lock() and Unlock(): done without error
  std::optional<uint64_t> token;  // as handed to the user
  std::string text;               // the writer; or an error of Leader() and Lock()
  int64_t number = 0;             // Duration() in ms, Iterations()
  WHORL_FIELDS(Answer, ask, question, yes, token, text, number);
};

// What a protocol logs.
enum class NoteId : uint8_t {
  kLeaseRaised,        // values: the lease asked for and the one used, in ms
  kGotFirstLock,       // token
  kGotNextLock,        // token
  kReadFailed,         // error
  kTokenUpdateFailed,  // error
  kHeartbeatFailed,    // error
  kGotLock,            // token, or in a protocol without tokens: until when
  kLostLock,           // why
  kClaimFailed,        // error
  kOutcomeUnknown,     // of a claim that is read back: error
  kOutcomeReadBack,    // whether it had been committed
  kClockStoodStill,    // by how much at least, in ms
  kBadRow,             // the lock, and what is wrong with its row
  kHeldBy,             // who holds the lock that one waits for, and until when
  kReleaseFailed,      // error
  kHeardOfRelease,     // looks at once
};
constexpr auto WordTableOf(NoteId) {
  return MakeWordTable<NoteId>({
      {NoteId::kLeaseRaised, "lease raised to its minimum"},
      {NoteId::kGotFirstLock, "got the first lock"},
      {NoteId::kGotNextLock, "got the next lock"},
      {NoteId::kReadFailed, "read failed"},
      {NoteId::kTokenUpdateFailed, "token update failed"},
      {NoteId::kHeartbeatFailed, "heartbeat failed"},
      {NoteId::kGotLock, "got the lock"},
      {NoteId::kLostLock, "lost the lock"},
      {NoteId::kClaimFailed, "claim failed"},
      {NoteId::kOutcomeUnknown, "outcome unknown"},
      {NoteId::kOutcomeReadBack, "outcome read back"},
      {NoteId::kClockStoodStill, "the clock stood still"},
      {NoteId::kBadRow, "the row cannot be read"},
      {NoteId::kHeldBy, "held by another"},
      {NoteId::kReleaseFailed, "release failed"},
      {NoteId::kHeardOfRelease, "heard of a release"},
  });
}

struct Note {
  NoteId note = NoteId::kLeaseRaised;
  std::vector<Value> values;
  WHORL_FIELDS(Note, note, values);
};
// The context of a transaction under way was cancelled: it ends soon, as whatever it has become.
// Nothing happens to one that has ended.
struct CancelTransaction {
  RequestId request = 0;
  WHORL_FIELDS(CancelTransaction, request);
};
// The lock was given back: to be told to the other processes that wait for it, in whatever way the
// host has; by default it has none.
struct AnnounceRelease {
  WHORL_NO_FIELDS(AnnounceRelease);
};
using Effect = std::variant<RunTransaction, SetTimer, CancelTimer, LeadershipChanged, Answer, Note,
                            CancelTransaction, AnnounceRelease>;

// What checkers may know of a process's local state.
struct Standing {
  // Would answer that it has the lock if the newest token is its own: by asking Spanner, or by its
  // own knowledge.
  bool answers = false;
  std::optional<Timestamp> own_token;  // as Spanner stores it
  bool believes = false;               // what the API would answer, as design.md defines it
  // Local monotonic time at which the belief lapses by itself; nothing when only an event ends it.
  std::optional<Duration> believes_until;
  WHORL_FIELDS(Standing, answers, own_token, believes, believes_until);
};

}  // namespace whorl
