#include <fcntl.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/lock/guard.h"
#include "cli/lock/process_tree.h"
#include "real_client/os.h"

namespace whorl::cli {
namespace {

// The time between rounds of SIGKILL: the death of a parent may uncover another process to kill.
constexpr Duration kKillAgain = Milliseconds(20);

// Sets the signals of the guard, and restores for the command those that it was started with.
class Signals {
 public:
  Signals() {
    sigemptyset(&heard_);
    sigaddset(&heard_, SIGCHLD);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      struct sigaction action{};
      sigaction(signal, nullptr, &action);
      // nohup ignores signals on purpose.
      if (action.sa_handler != SIG_IGN) sigaddset(&heard_, signal);
    }
    sigprocmask(SIG_BLOCK, &heard_, &mask_);
    // The guard may hand over the terminal from the background; these signals must not stop it.
    for (size_t i = 0; i < kIgnored.size(); ++i) Set(kIgnored[i], SIG_IGN, before_[i]);
    Set(SIGCHLD, SIG_DFL, child_before_);
  }
  int Open() const { return signalfd(-1, &heard_, SFD_CLOEXEC | SFD_NONBLOCK); }
  // Call it in the command's process.
  void Restore() const {
    for (size_t i = 0; i < kIgnored.size(); ++i) sigaction(kIgnored[i], &before_[i], nullptr);
    sigaction(SIGCHLD, &child_before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  static constexpr std::array<int, 4> kIgnored = {SIGTTOU, SIGTTIN, SIGTSTP, SIGPIPE};
  static void Set(int signal, void (*handler)(int), struct sigaction& before) {
    struct sigaction action{};
    action.sa_handler = handler;
    sigaction(signal, &action, &before);
  }

  sigset_t heard_{};
  sigset_t mask_{};
  std::array<struct sigaction, kIgnored.size()> before_{};
  struct sigaction child_before_{};
};

// The terminal's foreground group. If it was whorl's, it is the command's while the command runs.
class Foreground {
 public:
  // REQUIRES: this process is still in whorl's group.
  Foreground() : group_(getpgrp()), is_ours_(tcgetpgrp(STDIN_FILENO) == group_) {}
  // REQUIRES: SIGTTOU is ignored.
  void GiveTo(pid_t group) const {
    if (is_ours_) tcsetpgrp(STDIN_FILENO, group);
  }
  // No effect if a shell has already taken it.
  void TakeBackFrom(pid_t group) const {
    if (is_ours_ && tcgetpgrp(STDIN_FILENO) == group) tcsetpgrp(STDIN_FILENO, group_);
  }

 private:
  pid_t group_;
  bool is_ours_;
};

class GuardProcess {
 public:
  GuardProcess(const GuardOptions& options, int socket)
      : options_(options),
        socket_(socket),
        signal_file_(signals_.Open()),
        timer_file_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {}

  [[noreturn]] void Run();

 private:
  enum class Phase : uint8_t { kWaiting, kRunning, kEnding, kKilling };

  // Does what is due. Returns the time before which nothing else is due by the clock.
  LocalInstant Act();
  void SleepUntil(LocalInstant time) const;
  void Hear();
  void HearOrder();
  void HearSignals();
  void LookAtChildren();
  void LookAtStop();

  void Start(const GuardOrder& order);
  [[noreturn]] void BecomeCommand(pid_t guard, int errors) const;
  void BeginEnding(int signal, EndCause cause);
  void SignalAll(int signal);
  void SignalNewChildren();
  LocalInstant KillAt() const;
  [[noreturn]] void Finish();
  [[noreturn]] void End(const GuardReport& report) const;
  void Report(GuardReportKind kind, int32_t number = 0) const;

  const GuardOptions& options_;
  int socket_;
  Foreground foreground_;  // before this process leaves the group
  Signals signals_;
  int signal_file_;
  int timer_file_;
  Phase phase_ = Phase::kWaiting;
  LocalInstant deadline_;
  LocalInstant ending_since_;
  EndCause cause_ = EndCause::kItself;
  std::set<pid_t> signalled_;  // children that have heard that they are to end
  bool owner_gone_ = false;
  bool has_refused_ = false;
  pid_t command_ = -1;
  int exec_errors_ = -1;  // the command's errno, if it could not be started
};

void GuardProcess::Run() {
  // In its own group, so that signals to whorl's group (kill %1) do not reach it.
  setpgid(0, 0);
  BecomeSubreaper();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
  prctl(PR_SET_NAME, "whorl-guard", 0, 0, 0);
  while (true) {
    SleepUntil(Act());
    Hear();
  }
}

LocalInstant GuardProcess::Act() {
  const LocalInstant now = real_client::MonotonicNow();
  if (phase_ == Phase::kRunning) {
    const LocalInstant warn_at = deadline_ - options_.times.margin - options_.times.warning;
    if (now < warn_at) return warn_at;
    BeginEnding(SIGTERM, EndCause::kDeadline);
  }
  if (phase_ == Phase::kEnding && now >= KillAt()) phase_ = Phase::kKilling;
  if (phase_ == Phase::kKilling) SignalAll(SIGKILL);
  if (phase_ != Phase::kWaiting && !ReapAllBut(command_)) Finish();
  if (phase_ == Phase::kWaiting) return LocalInstant::Max();
  return phase_ == Phase::kEnding ? KillAt() : now + kKillAgain;
}

void GuardProcess::SleepUntil(LocalInstant time) const {
  itimerspec spec{};
  const int64_t ns = std::max<int64_t>(time.ns, 1);  // 0 would mean never
  spec.it_value = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  timerfd_settime(timer_file_, TFD_TIMER_ABSTIME, &spec, nullptr);
}

void GuardProcess::Hear() {
  std::array<pollfd, 3> files = {{{.fd = owner_gone_ ? -1 : socket_, .events = POLLIN},
                                  {.fd = signal_file_, .events = POLLIN},
                                  {.fd = timer_file_, .events = POLLIN}}};
  if (poll(files.data(), files.size(), -1) < 0) return;
  if (files[0].revents != 0) HearOrder();
  if (files[1].revents != 0) HearSignals();
}

void GuardProcess::HearOrder() {
  GuardOrder order;
  const ssize_t size = recv(socket_, &order, sizeof(order), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size != static_cast<ssize_t>(sizeof(order))) {
    owner_gone_ = true;
    if (phase_ == Phase::kWaiting) _exit(EXIT_SUCCESS);
    return BeginEnding(SIGTERM, EndCause::kOwnerGone);
  }
  switch (order.kind) {
    case GuardOrderKind::kStart:
      return Start(order);
    case GuardOrderKind::kRenew:
      deadline_ = order.deadline;
      return;
    case GuardOrderKind::kPing:
      return Report(GuardReportKind::kWorks);
    case GuardOrderKind::kEnd:
      if (phase_ == Phase::kWaiting) End({.kind = GuardReportKind::kEnded, .cause = order.cause});
      return BeginEnding(order.signal, order.cause);
  }
}

void GuardProcess::HearSignals() {
  signalfd_siginfo info{};
  bool children_changed = false;
  while (read(signal_file_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) {
      children_changed = true;
    } else if (phase_ != Phase::kWaiting) {
      BeginEnding(signal, EndCause::kAsked);
    }
  }
  if (children_changed && phase_ != Phase::kWaiting) LookAtChildren();
}

void GuardProcess::LookAtChildren() {
  LookAtStop();
  // Reaps orphans of the command that have ended; a long command may leave many.
  ReapAllBut(command_);
  if (phase_ == Phase::kEnding) SignalNewChildren();
  if (phase_ != Phase::kRunning || !HasEnded(command_)) return;
  // Processes that the command has left in the background must not outlive the lock.
  BeginEnding(SIGTERM, EndCause::kItself);
}

void GuardProcess::LookAtStop() {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(command_), &info, WSTOPPED | WNOHANG) != 0) return;
  if (info.si_pid != command_) return;
  const int signal = info.si_status;
  if (phase_ == Phase::kRunning && (signal == SIGTTIN || signal == SIGTTOU)) {
    // If it were continued, it would stop again at once.
    Report(GuardReportKind::kNeedsTerminal, signal);
    return BeginEnding(SIGTERM, EndCause::kAsked);
  }
  kill(-command_, SIGCONT);
  if (phase_ == Phase::kRunning) Report(GuardReportKind::kContinued, signal);
}

void GuardProcess::Start(const GuardOrder& order) {
  if (phase_ != Phase::kWaiting) return;
  deadline_ = order.deadline;
  const LocalInstant warn_at = deadline_ - options_.times.margin - options_.times.warning;
  if (real_client::MonotonicNow() >= warn_at) End({.kind = GuardReportKind::kTooLate});
  for (const auto& [name, value] : options_.environment) setenv(name.c_str(), value.c_str(), 1);
  unsetenv("WHORL_LOCK_TOKEN");
  if (order.has_token) setenv("WHORL_LOCK_TOKEN", std::to_string(order.token).c_str(), 1);
  std::array<int, 2> errors{};
  if (pipe2(errors.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    End({.kind = GuardReportKind::kCannotStart, .number = errno});
  }
  const pid_t guard = getpid();
  command_ = fork();
  if (command_ == 0) BecomeCommand(guard, errors[1]);
  if (command_ < 0) End({.kind = GuardReportKind::kCannotStart, .number = errno});
  setpgid(command_, command_);  // in both processes, as nobody knows which of them is first
  close(errors[1]);
  exec_errors_ = errors[0];
  phase_ = Phase::kRunning;
  Report(GuardReportKind::kStarted, command_);
}

void GuardProcess::BecomeCommand(pid_t guard, int errors) const {
  constexpr int kCouldNotExec = 127;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != guard) _exit(kCouldNotExec);  // it died before the line above
  setpgid(0, 0);
  foreground_.GiveTo(getpid());
  signals_.Restore();
  std::vector<char*> arguments;
  arguments.reserve(options_.command.size() + 1);
  for (const std::string& word : options_.command) {
    arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: execvp changes nothing
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  if (write(errors, &error, sizeof(error)) < 0) _exit(kCouldNotExec);
  _exit(kCouldNotExec);
}

void GuardProcess::BeginEnding(int signal, EndCause cause) {
  // The first cause counts. A later request only sends its signal.
  if (phase_ == Phase::kRunning) {
    phase_ = Phase::kEnding;
    cause_ = cause;
    ending_since_ = real_client::MonotonicNow();
    SignalAll(signal);
    if (cause != EndCause::kItself) Report(GuardReportKind::kEnding);
  } else if (phase_ == Phase::kEnding) {
    SignalAll(signal);
  }
}

// Signals processes in groups of their own that became children when their parents ended.
void GuardProcess::SignalNewChildren() {
  for (const pid_t child : ChildrenOfThisProcess()) {
    if (!signalled_.insert(child).second || getpgid(child) == command_) continue;
    kill(child, SIGTERM);
    kill(child, SIGCONT);
  }
}

void GuardProcess::SignalAll(int signal) {
  const std::vector<pid_t> children = ChildrenOfThisProcess();
  signalled_.insert(children.begin(), children.end());
  const pid_t refused = SignalDescendants(command_, signal);
  // A stopped process acts on no signal but SIGKILL until it is continued.
  if (signal != SIGKILL) SignalDescendants(command_, SIGCONT);
  if (refused == 0 || has_refused_) return;
  has_refused_ = true;
  Report(GuardReportKind::kRefused, refused);
}

LocalInstant GuardProcess::KillAt() const {
  return std::min(ending_since_ + options_.times.kill_after, deadline_ - options_.times.margin);
}

void GuardProcess::Finish() {
  foreground_.TakeBackFrom(command_);
  int status = 0;
  waitpid(command_, &status, 0);
  int error = 0;
  if (read(exec_errors_, &error, sizeof(error)) == static_cast<ssize_t>(sizeof(error))) {
    End({.kind = GuardReportKind::kCannotStart, .number = error});
  }
  End({.kind = GuardReportKind::kEnded, .cause = cause_, .number = status});
}

// Prints for people, since whorl may be unable to. Only at the end, and only if it does not block,
// because a full pipe must not delay the guard.
void SayNow(std::string_view text) {
  pollfd file = {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&file, 1, 0) != 1 || (file.revents & POLLOUT) == 0) return;
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

void GuardProcess::End(const GuardReport& report) const {
  send(socket_, &report, sizeof(report), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (report.kind == GuardReportKind::kEnded && report.cause == EndCause::kOwnerGone) {
    SayNow("whorl: whorl itself was killed, so the command was ended\n");
  } else if (report.kind == GuardReportKind::kEnded && report.cause == EndCause::kDeadline) {
    SayNow("whorl: the lock was not renewed in time, so the command was ended\n");
  }
  _exit(EXIT_SUCCESS);
}

void GuardProcess::Report(GuardReportKind kind, int32_t number) const {
  const GuardReport report = {.kind = kind, .cause = cause_, .number = number};
  send(socket_, &report, sizeof(report), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

void RunGuard(const GuardOptions& options, int socket) { GuardProcess(options, socket).Run(); }

}  // namespace whorl::cli
