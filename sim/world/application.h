// The application that uses a lock: it starts and stops leading, asks, works, writes and stops.
//
// It is a value and a step function, like a protocol: an event in, effects out, nothing else. A
// host (the simulated world, a real process) carries its effects to the protocol's machine, to
// timers and to the resource, and carries events back; hosting.h does most of that.
// Invariants:
//   1. It writes only with the token of the last answer. After a callback says that it no longer
//      leads, or after it was asked to stop, it begins no write, unless it asks by itself
//      (Use::kHasLock); a write in progress may still be sent until `stop_takes` has passed.
//   2. A write is in progress (`working`) from the answer until it has been sent, or until work has
//      stopped; at most one question for `has_lock` is under way.
//   3. It is at work (AtWork) as a leader, by callback or by Lock, until the end of its leadership;
//      as a user of HasLock while a write is in progress. If it is told at work that its leadership
//      ended, or to stop, it stays at work until `stop_takes` has passed. Leadership that begins
//      meanwhile is followed by its first question after that.
//   4. After StopRequested the protocol's machine gets WorkStopped once the application is not at
//      work; it may get more than one. A user of Lock asks for Unlock, and ends its context, only
//      when its work has stopped.
//   5. The questions of `ask` change nothing that it does. It asks them from its start until its
//      process is gone, also while it stops, and while earlier ones are under way.
// Deliberately left out: true time, and what an observer sees of the application (hosting.h).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/time.h"
#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// The process's monotonic clock shows 0 when it starts.
struct ApplicationConfig {
  Use use = Use::kCallback;
  std::optional<Duration> deadline;  // from the start to the end of the context of Run or Lock
  Duration write_every;
  Duration work_for;
  Duration stop_takes;
  ResourceKind resource = ResourceKind::kBoth;  // where it writes
  std::vector<Question> ask = {};               // all at once, every `ask_every`
  Duration ask_every = {};
  std::optional<Duration> hold_for = {};    // with Use::kLock: from the return of Lock to Unlock
  std::optional<Duration> lock_again = {};  // from Unlock, or a Lock that failed, to the next Lock
  WHORL_FIELDS(ApplicationConfig, use, deadline, write_every, work_for, stop_takes, resource, ask,
               ask_every, hold_for, lock_again);
};
ApplicationConfig ApplicationConfigOf(const Scenario& scenario, const NodeSpec& node);

struct ApplicationState {
  bool running = false;              // until its process is asked to stop
  bool leading = false;              // by callback, or because Lock returned
  bool asking = false;               // HasLock is under way
  bool working = false;              // between the answer and the write
  bool stopping = false;             // it was told to stop, and has not stopped yet
  bool unlocks = false;              // Unlock is to be asked once work has stopped
  bool ended = false;                // its context ended: it no longer takes part in the lock
  uint32_t asked = 0;                // bit n: the question with AskId kAskMore + n is under way
  std::optional<TokenNumber> token;  // the token of this term
  std::optional<TokenNumber> write_token;  // of the write in progress, which may outlast the term
  WHORL_FIELDS(ApplicationState, running, leading, asking, working, stopping, unlocks, ended, asked,
               token, write_token);
};
// Whether it works under the lock: invariant 3.
bool AtWork(const ApplicationConfig& config, const ApplicationState& state);

enum class ApplicationTimer : uint8_t {
  kNextWrite,
  kWorkDone,
  kDeadline,
  kStopped,
  kMoreQuestions,
  kHeldLongEnough,
  kLockAgain,
};

// --- events --------------------------------------------------------------------------------------

struct ApplicationStarted {
  WHORL_NO_FIELDS(ApplicationStarted);
};
struct ApplicationTimerFired {
  ApplicationTimer timer = ApplicationTimer::kNextWrite;
  WHORL_FIELDS(ApplicationTimerFired, timer);
};
// The protocol's machine answered a question of the application: the relevant part of its Answer.
struct ApplicationAnswered {
  AskId ask = 0;
  Question question = Question::kHasLock;
  bool yes = false;
  std::optional<uint64_t> token;
  WHORL_FIELDS(ApplicationAnswered, ask, question, yes, token);
};
// The process was asked to end gracefully.
struct ApplicationStopRequested {
  bool believes = false;  // whether the protocol's API would say that it holds the lock
  WHORL_FIELDS(ApplicationStopRequested, believes);
};
// LeadershipChanged is the protocol's own effect.
using ApplicationEvent = std::variant<ApplicationStarted, ApplicationTimerFired, LeadershipChanged,
                                      ApplicationAnswered, ApplicationStopRequested>;

// --- effects -------------------------------------------------------------------------------------

struct SetApplicationTimer {  // replaces the same timer
  ApplicationTimer timer = ApplicationTimer::kNextWrite;
  LocalInstant at;
  WHORL_FIELDS(SetApplicationTimer, timer, at);
};
struct CancelApplicationTimer {  // does nothing if the timer is not set
  ApplicationTimer timer = ApplicationTimer::kNextWrite;
  WHORL_FIELDS(CancelApplicationTimer, timer);
};
struct WriteToResource {
  ResourceKind resource = ResourceKind::kBoth;
  std::optional<uint64_t> token;
  WHORL_FIELDS(WriteToResource, resource, token);
};
// The first four are events of the protocol's machine.
using ApplicationEffect =
    std::variant<Started, Asked, StopRequested, WorkStopped, SetApplicationTimer,
                 CancelApplicationTimer, WriteToResource>;

// The questions that an application may have under way, by their AskId.
inline constexpr AskId kAskHasLock = 0;
inline constexpr AskId kAskLock = 1;
inline constexpr AskId kAskUnlock = 2;
inline constexpr AskId kAskMore = 3;        // and those after it, for the questions of `ask`
inline constexpr int kAskedAtOnceMax = 16;  // of these; more are not asked

// Appends to `out`. `now`: by the process's monotonic clock.
void Step(const ApplicationConfig& config, ApplicationState& state, LocalInstant now,
          const ApplicationEvent& event, std::vector<ApplicationEffect>& out);

}  // namespace whorl::sim
