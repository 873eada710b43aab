#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "base/text.h"
#include "cli/lock/commands.h"
#include "cli/lock/guard.h"
#include "cli/lock/latency_hint.h"
#include "cli/lock/metrics.h"
#include "cli/lock/options.h"
#include "cli/lock/row_look.h"
#include "cli/lock/wait_notice.h"
#include "cli/lock/work_limits.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "real_client/os.h"

namespace whorl::cli {
namespace {

using real_client::DistributedLock;
using real_client::Leadership;
using real_client::LockClient;
using real_client::LockOutcome;
using real_client::LockResult;

constexpr std::string_view kExecFooter = R"(Examples:
  whorl lock exec nightly -- ./backup.sh
  whorl lock exec nightly --wait 15s --conflict-exit-code 0 --quiet -- ./backup.sh    from cron, on two machines
  whorl lock exec nightly --wait 30s --lease 20s -- sh -c 'echo $WHORL_LOCK_TOKEN'
  whorl lock exec nightly --max-hold 2h -- ./backup.sh
  whorl lock exec nightly --alive-file beat --alive-within 5m -- ./backup.sh    which touches it

From cron, --wait should be longer than the lease (10 s unless --lease says otherwise). Of a holder that died
the row says that it holds the lock until its lease has ended: with --no-wait, all others give up in that time,
and nobody runs the command. A command that takes less than --wait runs on one machine after the other.
The command has WHORL_LOCK_NAME, WHORL_LOCK_ID and, where the protocol has tokens, WHORL_LOCK_TOKEN
in its environment. It runs in a process group of its own; if whorl has the terminal, the command
gets it. SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on. A command under a lock cannot be stopped:
it is continued.
A guard process ends the command in time: when the lock is lost or cannot be renewed, or when whorl
is killed or stopped, the command and all processes that it started get SIGTERM. They get SIGKILL
--kill-after later, but at the latest a fiftieth of the lease (50 ms to 500 ms) before the lease
ends. Processes that the command leaves in the background are ended, too, before the lock is released.
The lease is renewed as long as the command runs, even if it hangs. --max-hold TIME ends it, like a lost
lock, TIME after it was started. --alive-file FILE --alive-within TIME ends it when it has not touched
FILE for TIME. whorl touches FILE before it starts the command, which has its path in
WHORL_ALIVE_FILE. The lock is renewed until the command has ended, and only then given back.
Exit codes: the command's, or 128 and the signal that ended it; 124 --max-hold or --alive-within ended
the command; 125 whorl could not get the lock, or lost it while the command ran, or the command line is
wrong, or --must-exist and the lock has no row;
126 the command is not executable; 127 there is no such command. If --no-wait or --wait gives up and the
row, read last of all, shows that another process holds the lock: the code of --conflict-exit-code, by
default 125. If it gives up because Spanner refused or did not answer, or because the lock cannot be taken
yet, as one whose row init has made: 125 and the last error, or the time at which it is free.)";

constexpr std::string_view kTooLate =
    "the lease had nearly ended before the command could be started";

std::string NoAnswer() {
  const real_client::ConnectionOptions connection = real_client::ResolveWithEnvironment({});
  const bool emulator = std::holds_alternative<real_client::Plaintext>(connection.credentials);
  return Cat(
      "no answer from Spanner at ", connection.endpoint, " in time",
      emulator ? " (is the emulator running? SPANNER_EMULATOR_HOST names its gRPC address)" : "");
}

// One run of the command. OnLeadership runs on the client's thread, OnSignal on the signals' thread;
// Run handles the guard's reports on its own thread.
class LockedCommand final : public real_client::LockObserver {
 public:
  LockedCommand(const LockRequest& request, Guard& guard)
      : request_(request), guard_(guard), limits_(request.limits) {}

  // Returns the exit code.
  int Run(LockClient& client, DistributedLock& lock);
  void OnSignal(int signal);

  void OnLeadership(const Leadership& leadership) override;
  void OnNote(const real_client::LockNote& note) override;
  void OnTransaction(const real_client::LockTransaction& transaction) override;

 private:
  enum class ExecPhase : uint8_t { kWaiting, kRunning, kEnded };

  // Says what the row, or its absence, means for who takes the lock now. An exit code if it must not be
  // taken.
  std::optional<int> Look(LockClient& client);
  // REQUIRES: `began` is when the command began to wait.
  LockResult Take(DistributedLock& lock, LocalInstant began);
  int NotTaken(const LockResult& result);
  // The lock is taken, but not for long enough.
  int NotStarted(std::string_view why);
  std::string Hint() const { return latency_.OfLease(request_.LeaseUsed()); }
  // How long the guard has said nothing.
  struct Silence {
    LocalInstant until;  // then it is looked after
    int times = 0;       // it was
  };
  void LookAfterGuard(Silence& silence);
  int Follow();
  void LookAtLimits();
  int CodeOf(const GuardReport& last);
  void Tell(const GuardReport& report) const;
  LocalInstant BackupTime();

  const LockRequest& request_;
  Guard& guard_;
  LatencyHint latency_;
  WorkLimits limits_;      // used in Run() only, as what follows
  std::string overrun_;    // why the guard was told to end the command
  bool was_late_ = false;  // the guard was killed, since the lease ended

  std::mutex mutex_;  // guards what follows, and the guard's Start, Renew and End
  ExecPhase phase_ = ExecPhase::kWaiting;
  DistributedLock* lock_ = nullptr;
  Leadership leadership_;
  bool lost_ = false;
  int signal_ = 0;                                    // that asked whorl to end
  std::map<std::string, Code, std::less<>> failing_;  // the steps whose last transaction failed
  bool has_heard_ = false;                            // of Spanner, be it an error
};

void LockedCommand::OnLeadership(const Leadership& leadership) {
  const std::lock_guard guard(mutex_);
  if (phase_ == ExecPhase::kRunning && !lost_) {
    // A later term does not count: the command was started in the one that is lost.
    lost_ = !leadership.leads;
    if (lost_) {
      Complain(
          Cat("lock ", Quoted(request_.names[0]), " was lost; the command is being ended", Hint()));
      guard_.End(SIGTERM);
    } else {
      guard_.Renew(leadership.until);
    }
  }
  if (!lost_) leadership_ = leadership;
}

void LockedCommand::OnNote(const real_client::LockNote& note) {
  if (note.name != WordOf(notes::kReleaseFailed)) return;
  const auto* why = note.values.empty() ? nullptr : std::get_if<std::string>(&note.values.front());
  Complain(Cat("the lock could not be given back; it is free when its lease has ended",
               why == nullptr ? "" : ": " + *why));
}

void LockedCommand::OnTransaction(const real_client::LockTransaction& transaction) {
  const Status& status = transaction.status;
  const Code code = status.code;
  // These are answers, or calls that this process cancelled.
  const bool answers = real_client::IsAnswer(status) || code == Code::kCancelled;
  if (real_client::IsAnswer(status)) latency_.Heard(transaction.step, transaction.took);
  const std::string step(transaction.step);
  const std::lock_guard guard(mutex_);
  has_heard_ = true;
  // Reads may succeed where every write is refused, so a reason is known by its step.
  if (answers) {
    failing_.erase(step);
    return;
  }
  if (std::exchange(failing_[step], code) == code) return;
  // Lock() itself returns the errors that waiting cannot mend.
  if (phase_ == ExecPhase::kEnded) return;
  if (phase_ == ExecPhase::kWaiting && real_client::IsFinal(status)) return;
  Complain(Cat(step, ": ", Explain(request_, status), "; still trying"));
}

void LockedCommand::OnSignal(int signal) {
  const std::lock_guard guard(mutex_);
  if (signal == SIGTSTP) return Complain("a command under a lock cannot be stopped; it goes on");
  const bool again = std::exchange(signal_, signal) != 0;
  switch (phase_) {
    case ExecPhase::kRunning:
      return guard_.End(signal);
    case ExecPhase::kWaiting:
      if (again || lock_ == nullptr) _exit(128 + signal);  // the guard has started nothing
      return lock_->UnlockThen([] {});
    case ExecPhase::kEnded:
      Complain("the lock was not given back; it is free when its lease has ended");
      _exit(128 + signal);
  }
}

std::optional<int> LockedCommand::Look(LockClient& client) {
  // Short of what is left to wait, if Spanner does not answer. With --no-wait it is what is waited for.
  constexpr Duration kMost = Seconds(5);
  const Duration timeout = request_.no_wait ? kCommandTimeout
                           : request_.wait  ? std::min(*request_.wait / 2, kMost)
                                            : kMost;
  const RowLook look = LookAtRows(request_, client, timeout);
  if (look.status.ok()) latency_.HeardFirst(look.took);
  if (look.status.ok()) {
    const std::lock_guard guard(mutex_);
    has_heard_ = true;
  }
  const bool spanner_unresponsive = request_.no_wait && look.took >= timeout;
  if (!look.status.ok() && (request_.must_exist || spanner_unresponsive)) {
    const bool is_unheard =
        look.status.code == Code::kUnavailable || look.status.code == Code::kDeadlineExceeded;
    Complain(is_unheard ? Cat(NoAnswer(), "; the last error was ",
                              Printable(FormatStatus(look.status), 1000))
                        : Explain(request_, look.status));
    return kExecFailed;
  }
  for (const std::string& name : look.missing) {
    const std::string no_lock = NoSuchLock(request_, client, name);
    Complain(no_lock + (request_.must_exist ? ", and --must-exist" : WhatMakesIt(request_)));
    if (request_.must_exist) return kExecFailed;
  }
  for (const real_client::Holding& holding : look.waiting) {
    Complain(WaitsText(holding));
    if (request_.no_wait) return kExecFailed;
  }
  return std::nullopt;
}

LockResult LockedCommand::Take(DistributedLock& lock, LocalInstant began) {
  if (request_.no_wait) return lock.TryLock();
  if (request_.wait) {
    const LocalInstant until = began + *request_.wait;
    return lock.LockFor(std::max(until - real_client::MonotonicNow(), Duration()));
  }
  Status status = lock.Lock();
  return status.ok() ? LockResult::Leads() : LockResult::Failed(std::move(status));
}

int LockedCommand::NotTaken(const LockResult& result) {
  const std::lock_guard guard(mutex_);
  if (signal_ != 0) return 128 + signal_;
  if (result.outcome == LockOutcome::kHeld) {
    if (request_.quiet) return request_.conflict_code;
    Complain(Cat("the lock ", Printable(request_.names[0]), " is ", FormatResult(result), Hint()));
    return request_.conflict_code;
  }
  const bool has_answered = result.error.message != real_client::kNoAnswer;
  Complain((has_answered ? Explain(request_, result.error) : NoAnswer()) + Hint());
  return kExecFailed;
}

int LockedCommand::NotStarted(std::string_view why) {
  Complain(Cat(why, Hint()));
  return kExecFailed;
}

int LockedCommand::Run(LockClient& client, DistributedLock& lock) {
  LockResult taken;
  {
    const WaitNotice notice(request_, [this] {
      const std::lock_guard guard(mutex_);
      return !has_heard_;
    });
    const LocalInstant began = real_client::MonotonicNow();
    // A signal ends this process at once until the lock is there to be given up.
    if (const std::optional<int> code = Look(client)) return *code;
    {
      const std::lock_guard guard(mutex_);
      lock_ = &lock;
    }
    taken = Take(lock, began);
  }
  if (!taken.ok()) return NotTaken(taken);
  // Not before: until then the file may be that of the command of another exec, which holds the lock.
  if (const std::string wrong = limits_.TouchFile(); !wrong.empty()) {
    Complain(wrong);
    return kExecFailed;
  }
  {
    const std::lock_guard guard(mutex_);
    if (signal_ != 0) return 128 + signal_;
    const Leadership now = lock.Now();
    if (!now.leads) return NotStarted("the lock was lost before the command could be started");
    const GuardTimes times = TimesFor(request_.LeaseUsed(), request_.kill_after);
    if (now.until - real_client::MonotonicNow() <= times.warning + times.margin) {
      return NotStarted(kTooLate);
    }
    leadership_ = now;
    phase_ = ExecPhase::kRunning;
    guard_.Start(now.token, now.until);
    limits_.Begin(real_client::MonotonicNow());
  }
  const int code = Follow();
  lock.Unlock();
  return code;
}

// The time by which a working guard has reported the end of the command.
LocalInstant LockedCommand::BackupTime() {
  const std::lock_guard guard(mutex_);
  return leadership_.until - TimesFor(request_.LeaseUsed(), request_.kill_after).margin / 2;
}

// A guard that does not answer is stopped: as long as the lock is renewed, nothing else would show it.
// Called when a report did not come in time. The first silence continues it, the second kills it, and
// the command dies with it.
void LockedCommand::LookAfterGuard(Silence& silence) {
  const std::lock_guard guard(mutex_);
  switch (++silence.times) {
    case 1:
      guard_.Ping();
      break;
    case 2:
      Complain("the guard of the command does not answer; it is continued");
      guard_.Continue();
      break;
    default:
      guard_.Kill();
  }
  silence.until = real_client::MonotonicNow() + request_.LeaseUsed() / 4;
}

// The command gets its SIGTERM once: programs take a second one for impatience.
void LockedCommand::LookAtLimits() {
  const std::optional<std::string> overrun = limits_.Overrun(real_client::MonotonicNow());
  if (!overrun) return;
  const std::lock_guard guard(mutex_);
  if (lost_ || signal_ != 0) return;
  overrun_ = *overrun;
  guard_.End(SIGTERM, EndCause::kOverrun);
}

int LockedCommand::Follow() {
  Silence silence = {.until = real_client::MonotonicNow() + request_.LeaseUsed() / 4};
  while (true) {
    const LocalInstant backup = BackupTime();
    const std::optional<GuardReport> report =
        guard_.Wait(std::min({backup, silence.until, limits_.NextLook()}));
    LookAtLimits();
    if (!report) {
      if (silence.until <= real_client::MonotonicNow()) LookAfterGuard(silence);
      // The guard is stopped, or the machine is overloaded. The command dies with the guard.
      if (backup <= real_client::MonotonicNow() && BackupTime() <= backup) {
        was_late_ = true;
        guard_.Kill();
      }
      continue;
    }
    silence = {.until = real_client::MonotonicNow() + request_.LeaseUsed() / 4};
    Tell(*report);
    if (!report->IsLast()) continue;
    const std::lock_guard guard(mutex_);
    phase_ = ExecPhase::kEnded;
    return CodeOf(*report);
  }
}

void LockedCommand::Tell(const GuardReport& report) const {
  switch (report.kind) {
    case GuardReportKind::kTooLate:
      return Complain(Cat(kTooLate, Hint()));
    case GuardReportKind::kCannotStart:
      return Complain(Cat(Printable(request_.command[0]), ": ",
                          std::generic_category().message(report.number)));
    case GuardReportKind::kContinued:
      return Complain("a command under a lock cannot be stopped; it goes on");
    case GuardReportKind::kNeedsTerminal:
      return Complain(
          "the command wants the terminal, which is another job's, and is being ended; give it "
          "other input and output (</dev/null)");
    case GuardReportKind::kEnding:
      if (report.cause == EndCause::kOverrun) {
        return Complain(Cat(overrun_, " and is being ended"));
      }
      if (report.cause != EndCause::kDeadline) return;
      return Complain(
          Cat("the lease was not renewed and ends; the command is being ended", Hint()));
    case GuardReportKind::kRefused:
      return Complain(Cat("process ", std::to_string(report.number),
                          " is another user's and cannot be ended; it may outlive the lease"));
    case GuardReportKind::kGuardLost:
      return Complain(was_late_
                          ? Cat("the lease was not renewed and has ended, and the guard had not "
                                "ended the command, so it was killed",
                                Hint())
                          : "the guard of the command was lost, so the command was ended");
    case GuardReportKind::kStarted:
    case GuardReportKind::kWorks:
    case GuardReportKind::kEnded:
      return;
  }
}

int LockedCommand::CodeOf(const GuardReport& last) {
  switch (last.kind) {
    case GuardReportKind::kCannotStart:
      return last.number == ENOENT ? kNoSuchCommand : kCannotExecute;
    case GuardReportKind::kEnded:
      break;
    case GuardReportKind::kStarted:
    case GuardReportKind::kTooLate:
    case GuardReportKind::kWorks:
    case GuardReportKind::kContinued:
    case GuardReportKind::kNeedsTerminal:
    case GuardReportKind::kEnding:
    case GuardReportKind::kRefused:
    case GuardReportKind::kGuardLost:
      return kExecFailed;
  }
  if (last.cause == EndCause::kOverrun) return kCommandOverran;
  if (lost_ || last.cause == EndCause::kDeadline) return kExecFailed;
  return WIFEXITED(last.number) ? WEXITSTATUS(last.number) : 128 + WTERMSIG(last.number);
}

int Fail(const absl::Status& status) {
  Complain(std::string(status.message()));
  return kExecFailed;
}

absl::Status ForkGuard(const LockRequest& request, std::optional<Guard>& out) {
  GuardOptions options = {
      .command = request.command,
      .environment = {{"WHORL_LOCK_NAME", request.names[0]}, {"WHORL_LOCK_ID", request.id}},
      .times = TimesFor(request.LeaseUsed(), request.kill_after)};
  if (!request.limits.alive_file.empty()) {
    options.environment.emplace_back("WHORL_ALIVE_FILE", request.limits.alive_file);
  }
  return Guard::Fork(options, out);
}

int RunLocked(const LockRequest& request, Guard& guard) {
  const auto command = std::make_shared<LockedCommand>(request, guard);
  const Signals signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP},
                        [&command](int signal) { command->OnSignal(signal); });
  std::unique_ptr<ServedMetrics> metrics;
  if (!request.metrics.empty()) {
    const absl::Status served = ServedMetrics::Serve(request.metrics, /*per_lock=*/true, metrics);
    if (!served.ok()) return Fail(served);
  }
  std::unique_ptr<LockClient> client;
  Status status = LockClient::Open(ClientOptionsOf(request), client);
  std::unique_ptr<DistributedLock> lock;
  if (status.ok()) {
    real_client::LockOptions options = LockOptionsOf(request, request.names[0]);
    options.observer = command;
    if (metrics != nullptr) {
      options.observer = metrics->metrics.Observe(request.names[0], request.protocol, command);
    }
    status = client->Make(std::move(options), lock);
  }
  if (!status.ok()) {
    Complain(Explain(request, status));
    return kExecFailed;
  }
  return command->Run(*client, *lock);
}

int RunExec(LockRequest& request) {
  if (request.command.empty()) {
    Complain("exec wants a command: whorl lock exec NAME -- COMMAND");
    return kExecFailed;
  }
  if (const std::string wrong = Complete(request); !wrong.empty()) {
    Complain(wrong);
    return kExecFailed;
  }
  if (const std::string wrong = CompleteLimits(request.limits); !wrong.empty()) {
    Complain(wrong);
    return kExecFailed;
  }
  if (const std::string wrong = RefusalOfMustExist(request); !wrong.empty()) {
    Complain(wrong);
    return kExecFailed;
  }
  if (const Duration least = request.info().lease_min; request.lease.value_or(least) < least) {
    Complain(Cat("a lease of ", FormatDuration(*request.lease), " is below ", request.protocol,
                 "'s least: ", FormatDuration(least), " is used"));
  }
  std::optional<Guard> guard;
  // Forks before any thread starts and before signal dispositions change, since the command inherits
  // them.
  if (const absl::Status forked = ForkGuard(request, guard); !forked.ok()) {
    return Fail(forked);
  }
  signal(SIGPIPE, SIG_IGN);
  // This process may print while the command owns the terminal.
  signal(SIGTTOU, SIG_IGN);
  return RunLocked(request, *guard);
}

}  // namespace

SubCommand AddExecCommand(CLI::App& lock, const std::vector<std::string>& command) {
  CLI::App* app = lock.add_subcommand("exec", "Run a command while holding a lock");
  const auto request = std::make_shared<LockRequest>();
  request->command = command;
  AddName(*app, request);
  AddWhere(*app, request);
  AddWho(*app, request);
  AddTime(*app, "--wait", request->wait, Duration(),
          "give up after this time without the lock (default: wait for it)");
  app->add_flag("--no-wait", request->no_wait, "give up at once if another process holds the lock");
  AddNumber(
      *app, "--conflict-exit-code", 0, 255,
      [request](uint64_t code) { request->conflict_code = static_cast<int>(code); },
      "exit code if --wait or --no-wait gives up and another process holds the lock (default: "
      "125)");
  app->add_flag("--quiet", request->quiet,
                "say nothing if --wait or --no-wait gives up and another process holds the lock; "
                "errors are said");
  AddTime(*app, "--kill-after", request->kill_after, Duration(),
          "time from SIGTERM to SIGKILL (default: a tenth of the lease)");
  AddTime(*app, "--max-hold", request->limits.max_hold, Milliseconds(1),
          "end the command if it runs for longer; exit code 124");
  app->add_option(
         "--alive-file", request->limits.alive_file,
         "file that the command touches as long as it gets on; its path is in $WHORL_ALIVE_FILE")
      ->type_name("FILE");
  AddTime(*app, "--alive-within", request->limits.alive_within, Milliseconds(100),
          "end the command if it has not touched --alive-file for this time; exit code 124");
  app->footer(std::string(kExecFooter));
  return {.app = app, .run = [request] {
            if (request->quiet && !request->wait && !request->no_wait) {
              Complain("--quiet is about giving up, which takes --wait or --no-wait");
              return static_cast<int>(kExecFailed);
            }
            if (request->wait && request->no_wait) {
              Complain("--wait does not go with --no-wait");
              return static_cast<int>(kExecFailed);
            }
            return RunExec(*request);
          }};
}

}  // namespace whorl::cli
