// The application that uses a lock: it starts and stops leading, asks, works, writes and stops.
//
// It is a value and a step function, like a protocol: an event in, effects out, nothing else. A
// host (the simulated world, a real process) carries its effects to the protocol's machine, to
// timers and to the resource, and carries events back; hosting.h does most of that.
// Invariants:
//   1. It writes only with the token of the last answer, and does not write after a callback says
//      that it no longer leads or after it was asked to stop, unless it asks by itself
//      (Use::kHasLock).
//   2. It is at work (`working`) from the answer until the write has been sent, or until it is
//      asked to stop; at most one question for `has_lock` is under way.
//   3. After StopRequested the protocol's machine gets WorkStopped once the application is not at
//      work; it may get more than one.
// Deliberately left out: true time, and what an observer sees of the application (hosting.h).
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "protocol/machine.h"
#include "protocol/spanner/fields.h"
#include "protocol/spanner/time.h"
#include "sim/scenario/scenario.h"

namespace whorl::sim {

// Durations and times are those of the process's monotonic clock, which shows 0 when it starts.
struct ApplicationConfig {
  Use use = Use::kCallback;
  std::optional<Duration> deadline;  // when the context given to Run or Lock ends
  Duration write_every;
  Duration work_for;
  ResourceKind resource = ResourceKind::kBoth;  // where it writes
  WHORL_FIELDS(ApplicationConfig, use, deadline, write_every, work_for, resource);
};
ApplicationConfig ApplicationConfigOf(const Scenario& scenario, const NodeSpec& node);

struct ApplicationState {
  bool running = false;           // until its process is asked to stop
  bool leading = false;           // by callback, or because Lock returned
  bool asking = false;            // HasLock is under way
  bool working = false;           // between the answer and the write
  bool ended = false;             // its context ended: it no longer takes part in the lock
  std::optional<uint64_t> token;  // the token that it writes with
  WHORL_FIELDS(ApplicationState, running, leading, asking, working, ended, token);
};

enum class ApplicationTimer : uint8_t {
  kNextWrite,
  kWorkDone,
  kDeadline,
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
  Question question = Question::kHasLock;
  bool yes = false;
  std::optional<uint64_t> token;
  WHORL_FIELDS(ApplicationAnswered, question, yes, token);
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
  Duration at;
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

// Appends to `out`.
void Step(const ApplicationConfig& config, ApplicationState& state, LocalTime now,
          const ApplicationEvent& event, std::vector<ApplicationEffect>& out);

}  // namespace whorl::sim
