// Runs a command under a lock, in time: a small process that owns the command's process group and
// knows the lock's deadline, so that the command also ends in time when whorl itself is killed or
// stopped.
//
//   whorl ---- socket ---- guard ---- command and all that descends from it
//
// Invariants:
//   1. Of what the command has started, nothing runs any more at the deadline: SIGKILL is sent
//      `margin` earlier, SIGTERM `warning` before that. A deadline moves only by Renew().
//   2. When whorl is gone (its end of the socket is closed) or says End(), the command gets SIGTERM
//      at once, and SIGKILL `kill_after` later, or as in 1 if that is sooner.
//   3. The guard reports the end, and ends itself, when nothing of the command is left: neither its
//      process group nor whatever has left it and become a daemon.
//   4. When the guard is killed, so is the command, by the kernel; what that leaves behind becomes
//      whorl's children, and Wait() ends them.
// Not in its power: a process of another user (sudo), to which it may not send signals; a guard
// that is itself stopped together with whorl; and what descends from the command when guard and
// whorl are killed at the same moment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sim/scenario/instant.h"

namespace whorl::cli {

// All deadlines here are of real_client::MonotonicNow().
struct GuardTimes {
  Duration kill_after;  // from SIGTERM to SIGKILL
  Duration warning;     // the same when the lease runs out: not above kill_after
  Duration margin;      // from SIGKILL to the deadline
};
// A fiftieth of the lease is the margin, between 50 and 500 ms. `kill_after`: a tenth of the lease
// where it is not said; the warning is at most a fifth of it, or ordinary renewals would come late.
GuardTimes TimesFor(Duration lease, std::optional<Duration> kill_after);

struct GuardOptions {
  std::vector<std::string> command;                              // not empty; found on PATH
  std::vector<std::pair<std::string, std::string>> environment;  // in addition to whorl's
  GuardTimes times;
};

// Why the command ended, or what made it.
enum class EndCause : uint8_t {
  kItself,
  kAsked,      // End()
  kDeadline,   // it was not renewed
  kOwnerGone,  // whorl has ended
};

struct GuardReport {
  enum class Kind : uint8_t {
    kStarted,        // number: the command's process id
    kTooLate,        // to be started; the guard has ended
    kCannotStart,    // number: errno; the guard has ended
    kContinued,      // number: the signal that had stopped it
    kNeedsTerminal,  // which it does not have, so it is being ended
    kEnding,         // SIGTERM was sent
    kRefused,        // number: a process to which no signal may be sent
    kEnded,          // number: the command's status, as waitpid gives it; the guard has ended
    kGuardLost,      // it was killed: the same, -1 if nothing was started; nothing is left
  };
  Kind kind = Kind::kEnded;
  EndCause cause = EndCause::kItself;
  int32_t number = 0;

  bool IsLast() const {
    return kind == Kind::kTooLate || kind == Kind::kCannotStart || kind == Kind::kEnded ||
           kind == Kind::kGuardLost;
  }
};

// whorl's side. Start, Renew and End never block and may be called from any thread, one at a time;
// what they say is lost when the guard has ended.
class Guard {
 public:
  // Starts the guard, which waits. REQUIRES: this process has one thread; its signal dispositions
  // are those that the command is to have.
  static absl::Status Fork(const GuardOptions& options, std::optional<Guard>& out);
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&&) = delete;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  // Ends the command, and waits for the guard.
  ~Guard();

  // Starts the command, with $WHORL_LOCK_TOKEN unless there is no token.
  void Start(std::optional<uint64_t> token, Duration deadline);
  void Renew(Duration deadline);
  // SIGTERM, or the signal that whorl itself was sent.
  void End(int signal);

  // The guard's next report. Blocking; nothing: none came until `deadline`.
  // When the guard was lost, this first ends what the command has left.
  std::optional<GuardReport> Wait(Duration deadline);
  // SIGKILL for a guard that does not do its work any more; Wait() then ends what it has left.
  void Kill();

  pid_t pid() const { return pid_; }

 private:
  Guard(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  void Say(const void* message, size_t size) const;

  pid_t pid_ = -1;  // -1: its end was waited for
  int socket_ = -1;
  pid_t command_ = -1;
};

}  // namespace whorl::cli
