// Runs a command under a lock, in time: a small process that owns the command's process group and
// knows the lock's deadline, so that the command also ends in time when whorl itself is killed or
// stopped.
//
//   whorl ---- socket ---- guard ---- command and all that descends from it
//
// Invariants:
//   1. At the deadline, neither the command nor any process that it started still runs: SIGKILL is
//      sent `margin` earlier, SIGTERM `warning` before that. Only Renew() moves the deadline.
//   2. When whorl has ended (its end of the socket is closed) or calls End(), the command gets
//      SIGTERM at once, and SIGKILL `kill_after` later, or as in 1 if that is sooner.
//   3. The guard reports the end, and exits, when no process of the command is left, neither in its
//      process group nor among daemons that have left the group.
//   4. If the guard is killed, the kernel kills the command. Processes that the command had started
//      become whorl's children, and Wait() ends them.
// The guard cannot end a process of another user (sudo), to which it may not send signals. It
// cannot act while it is stopped together with whorl; stopped alone, it is noticed by Ping(). If the guard and whorl are killed at the same
// moment, processes that the command has started may live on.
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

// All deadlines here are times of real_client::MonotonicNow().
struct GuardTimes {
  Duration kill_after;  // from SIGTERM to SIGKILL
  Duration warning;     // the same when the lease runs out: not above kill_after
  Duration margin;      // from SIGKILL to the deadline
};
// The margin is a fiftieth of the lease, between 50 and 500 ms. `kill_after` is a tenth of the lease
// unless it is given. The warning is at most a fifth of the lease: with a longer one, ordinary
// renewals would come too late.
GuardTimes TimesFor(Duration lease, std::optional<Duration> kill_after);

struct GuardOptions {
  std::vector<std::string> command;                              // not empty; found on PATH
  std::vector<std::pair<std::string, std::string>> environment;  // in addition to whorl's
  GuardTimes times;
};

// Why the command ended.
enum class EndCause : uint8_t {
  kItself,
  kAsked,      // whorl called End()
  kOverrun,    // whorl called End(), since the command has overrun (work_limits.h)
  kDeadline,   // the lock was not renewed
  kOwnerGone,  // whorl has ended
};

enum class GuardReportKind : uint8_t {
  kStarted,        // number: the command's process id
  kTooLate,        // the deadline is too near to start the command; the guard has ended
  kCannotStart,    // number: errno; the guard has ended
  kWorks,          // the answer to Ping()
  kContinued,      // number: the signal that had stopped the command
  kNeedsTerminal,  // the command asked for the terminal, which it may not have; it is being ended
  kEnding,         // the guard has sent SIGTERM
  kRefused,        // number: a process to which no signal may be sent
  kEnded,          // number: the command's status, as waitpid gives it; the guard has ended
  // The guard was killed, and no process of the command is left. number: the command's status, or
  // -1 if it was not started.
  kGuardLost,
};

struct GuardReport {
  GuardReportKind kind = GuardReportKind::kEnded;
  EndCause cause = EndCause::kItself;
  int32_t number = 0;

  bool IsLast() const {
    return kind == GuardReportKind::kTooLate || kind == GuardReportKind::kCannotStart ||
           kind == GuardReportKind::kEnded || kind == GuardReportKind::kGuardLost;
  }
};

// whorl's side. Start, Renew, Ping and End never block and may be called from any thread, one at a time;
// they have no effect once the guard has ended.
class Guard {
 public:
  // Starts the guard, which then waits for Start. REQUIRES: this process has one thread; its signal
  // dispositions are those that the command is to have.
  static absl::Status Fork(const GuardOptions& options, std::optional<Guard>& out);
  Guard(Guard&& other) noexcept;
  Guard& operator=(Guard&&) = delete;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  // Ends the command, and waits for the guard.
  ~Guard();

  // Starts the command, with $WHORL_LOCK_TOKEN unless there is no token.
  void Start(std::optional<uint64_t> token, LocalInstant deadline);
  void Renew(LocalInstant deadline);
  // The guard answers with kWorks, unless it is stopped.
  void Ping();
  // Ends the command by `signal`: SIGTERM, or the signal that whorl itself received. The first cause counts.
  void End(int signal, EndCause cause = EndCause::kAsked);

  // Waits for the guard's next report; nullopt if none came until `deadline`. If the guard was
  // killed, this first ends the processes that the command has left behind.
  std::optional<GuardReport> Wait(LocalInstant deadline);
  // Continues a guard that is stopped.
  void Continue();
  // Kills a guard that no longer works; Wait() then ends the processes that it has left behind.
  void Kill();

  pid_t pid() const { return pid_; }

 private:
  Guard(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  void Say(const void* message, size_t size) const;

  pid_t pid_ = -1;  // -1: the guard was reaped
  int socket_ = -1;
  pid_t command_ = -1;
};

// --- the guard's own process (guard_process.cc), and the orders that whorl sends it ---------------

enum class GuardOrderKind : uint8_t { kStart, kRenew, kPing, kEnd };
// An order from whorl to the guard; one packet.
struct GuardOrder {
  GuardOrderKind kind = GuardOrderKind::kEnd;
  bool has_token = false;             // for kStart
  EndCause cause = EndCause::kAsked;  // for kEnd
  int32_t signal = 0;                 // for kEnd
  uint64_t token = 0;
  LocalInstant deadline;  // for kStart and kRenew
};

// Runs the guard, from fork to its exit. `socket` is its end of the pair.
[[noreturn]] void RunGuard(const GuardOptions& options, int socket);

}  // namespace whorl::cli
