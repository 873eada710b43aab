// The interface of a lock protocol: a step takes one event and returns effects, and does nothing
// else.
//
// A protocol is a value (its State) and a function
//   void Step(const Config&, State&, LocalTime, Entropy&, const Event&, std::vector<Effect>& out)
// that appends to `out`, which belongs to the caller, who reuses it. Invariants:
//   1. Time, order and chance come in as arguments; no clock or generator is reachable.
//   2. Ids are functions of the state. A request's id can be used again after its
//      TransactionEnded; the host drops a timer that was replaced or cancelled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/client/transaction.h"
#include "protocol/names.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/value.h"
#include "protocol/spanner/words.h"
#include "protocol/token.h"

namespace whorl {

// What this node's clocks show.
struct LocalTime {
  LocalInstant monotonic;  // since the process started
  Timestamp wall;
};

class Entropy {
 public:
  virtual ~Entropy() = default;
  // Uniform in [lo, hi]. REQUIRES: lo <= hi.
  virtual int64_t Between(Purpose purpose, int64_t lo, int64_t hi) = 0;
};

using RequestId = uint16_t;
using TimerId = uint16_t;
using AskId = uint16_t;  // chosen by the asker; can be used again after the answer

// The questions that an application can ask.
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
  StepName step;
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
// Comes after StopRequested, when the application no longer works under the lock: the protocol can
// now give the lock back.
struct WorkStopped {
  WHORL_NO_FIELDS(WorkStopped);
};
// Another process says that it has given the lock back (AnnounceRelease). The announcement may be
// wrong, late or lost: the receiver may read the row earlier, but may conclude nothing from it.
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
  LocalInstant at;  // by the monotonic clock
  WHORL_FIELDS(SetTimer, timer, at);
};
struct CancelTimer {
  TimerId timer = 0;
  WHORL_FIELDS(CancelTimer, timer);
};
struct LeadershipChanged {  // the protocol's callback, each time the protocol calls it
  bool leader = false;
  WHORL_FIELDS(LeadershipChanged, leader);
};
struct Answer {
  AskId ask = 0;
  Question question = Question::kHasLock;
  bool yes = false;               // has the lock; Lock() and Unlock(): done without error
  std::optional<uint64_t> token;  // as the user gets it
  std::string text;               // the writer, or an error from Leader() or Lock()
  int64_t number = 0;             // Duration() in ms, Iterations()
  WHORL_FIELDS(Answer, ask, question, yes, token, text, number);
};

// A line of a protocol's log. The declaration of `note` says which values it has.
struct Note {
  NoteId note;
  std::vector<Value> values;
  WHORL_FIELDS(Note, note, values);
};
// Cancels the context of a transaction that is under way. It ends soon, with the outcome that it
// has by then. Has no effect on a transaction that has ended.
struct CancelTransaction {
  RequestId request = 0;
  WHORL_FIELDS(CancelTransaction, request);
};
// The lock was given back. A host that has a way to do so tells the other processes that wait for
// it; by default it has none.
struct AnnounceRelease {
  WHORL_NO_FIELDS(AnnounceRelease);
};
using Effect = std::variant<RunTransaction, SetTimer, CancelTimer, LeadershipChanged, Answer, Note,
                            CancelTransaction, AnnounceRelease>;

// Appends a RunTransaction that is made in its place: a transaction is the largest part of an effect.
inline void RequestTransaction(std::vector<Effect>& out, RequestId request,
                               Transaction&& transaction) {
  out.emplace_back(std::in_place_type<RunTransaction>, request, std::move(transaction));
}

// The part of a process's local state that checkers may see.
struct LeadershipView {
  // It would answer that it has the lock if the newest token is its own, whether it asks Spanner or
  // answers from what it knows.
  bool answers = false;
  std::optional<Token> own_token;  // as Spanner stores it
  bool believes = false;           // what the API would answer, as design.md defines it
  // Local monotonic time at which the belief lapses by itself; empty if only an event can end it.
  std::optional<LocalInstant> believes_until;
  WHORL_FIELDS(LeadershipView, answers, own_token, believes, believes_until);
};

}  // namespace whorl
