#include "cli/lock/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "cli/lock/process_tree.h"
#include "real_client/os.h"

namespace whorl::cli {

GuardTimes TimesFor(Duration lease, std::optional<Duration> kill_after) {
  GuardTimes times;
  times.kill_after = kill_after.value_or(lease / 10);
  times.warning = std::min(times.kill_after, lease / 5);
  times.margin = std::clamp(lease / 50, Milliseconds(50), Milliseconds(500));
  return times;
}

absl::Status Guard::Fork(const GuardOptions& options, std::optional<Guard>& out) {
  std::array<int, 2> ends{};
  // Packets, so that each is read whole or not at all, and so that a closed end is noticed.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::UnavailableError("no socket for the guard of the command: " +
                                  std::generic_category().message(errno));
  }
  const pid_t pid = fork();
  if (pid == 0) {
    // Otherwise the guard would never notice that whorl has ended.
    close(ends[0]);
    RunGuard(options, ends[1]);
  }
  const int error = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return absl::UnavailableError("no process for the guard of the command: " +
                                  std::generic_category().message(error));
  }
  BecomeSubreaper();  // for invariant 4
  out.emplace(Guard(pid, ends[0]));
  return absl::OkStatus();
}

Guard::Guard(Guard&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      command_(std::exchange(other.command_, -1)) {}

Guard::~Guard() {
  if (socket_ >= 0) close(socket_);
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

void Guard::Say(const void* message, size_t size) const {
  // If the socket is full because the guard is stopped, the guard goes by the last deadline it knows.
  send(socket_, message, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Guard::Start(std::optional<uint64_t> token, LocalInstant deadline) {
  const GuardOrder order = {.kind = GuardOrderKind::kStart,
                            .has_token = token.has_value(),
                            .token = token.value_or(0),
                            .deadline = deadline};
  Say(&order, sizeof(order));
}

void Guard::Renew(LocalInstant deadline) {
  const GuardOrder order = {.kind = GuardOrderKind::kRenew, .deadline = deadline};
  Say(&order, sizeof(order));
}

void Guard::Ping() {
  const GuardOrder order = {.kind = GuardOrderKind::kPing};
  Say(&order, sizeof(order));
}

void Guard::End(int signal, EndCause cause) {
  const GuardOrder order = {.kind = GuardOrderKind::kEnd, .cause = cause, .signal = signal};
  Say(&order, sizeof(order));
}

void Guard::Continue() {
  if (pid_ > 0) kill(pid_, SIGCONT);
}

void Guard::Kill() {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

std::optional<GuardReport> Guard::Wait(LocalInstant deadline) {
  pollfd waiting = {.fd = socket_, .events = POLLIN, .revents = 0};
  while (true) {
    const Duration left = std::max(deadline - real_client::MonotonicNow(), Duration{});
    // poll's clock stands still while the machine is suspended, so each wait is short.
    constexpr int64_t kLongestMs = 1000;
    const int64_t ms = std::min((left.ns + 999'999) / 1'000'000, kLongestMs);
    const int ready = poll(&waiting, 1, static_cast<int>(ms));
    if (ready > 0) break;
    if (left <= Duration{}) return std::nullopt;
  }
  GuardReport report;
  ssize_t size = recv(socket_, &report, sizeof(report), 0);
  // If the guard ended without reading all orders, recv returns this error once, before the guard's
  // last report.
  if (size < 0 && errno == ECONNRESET) size = recv(socket_, &report, sizeof(report), 0);
  if (size == static_cast<ssize_t>(sizeof(report))) {
    if (report.kind == GuardReportKind::kStarted) command_ = report.number;
    return report;
  }
  // Waits for the guard's end first: then its children become this process's.
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  return GuardReport{.kind = GuardReportKind::kGuardLost,
                     .cause = EndCause::kItself,
                     .number = KillDescendants(command_)};
}

}  // namespace whorl::cli
