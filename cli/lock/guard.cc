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

#include "cli/lock/guard_process.h"
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
  // Packets, so that one is read whole or not at all, and an end that is closed is seen as such.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::UnavailableError("no socket for the guard of the command: " +
                                  std::generic_category().message(errno));
  }
  const pid_t pid = fork();
  if (pid == 0) {
    // Or the guard would never see that whorl is gone.
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
  // A guard that hears nothing (it is stopped, and the socket is full) judges by what it knows.
  send(socket_, message, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Guard::Start(std::optional<uint64_t> token, Duration deadline) {
  const GuardOrder order = {.kind = GuardOrder::Kind::kStart,
                            .has_token = token.has_value(),
                            .token = token.value_or(0),
                            .deadline = deadline};
  Say(&order, sizeof(order));
}

void Guard::Renew(Duration deadline) {
  const GuardOrder order = {.kind = GuardOrder::Kind::kRenew, .deadline = deadline};
  Say(&order, sizeof(order));
}

void Guard::End(int signal) {
  const GuardOrder order = {.kind = GuardOrder::Kind::kEnd, .signal = signal};
  Say(&order, sizeof(order));
}

void Guard::Kill() {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

std::optional<GuardReport> Guard::Wait(Duration deadline) {
  pollfd waiting = {.fd = socket_, .events = POLLIN, .revents = 0};
  while (true) {
    const Duration left = std::max(deadline - real_client::MonotonicNow(), Duration{});
    // poll's own clock stands still in suspension, so it is never trusted with a long wait.
    constexpr int64_t kLongestMs = 1000;
    const int64_t ms = std::min((left.ns + 999'999) / 1'000'000, kLongestMs);
    const int ready = poll(&waiting, 1, static_cast<int>(ms));
    if (ready > 0) break;
    if (left <= Duration{}) return std::nullopt;
  }
  GuardReport report;
  ssize_t size = recv(socket_, &report, sizeof(report), 0);
  // A guard that ends without having read all that it was told leaves this error, before what it
  // said last.
  if (size < 0 && errno == ECONNRESET) size = recv(socket_, &report, sizeof(report), 0);
  if (size == static_cast<ssize_t>(sizeof(report))) {
    if (report.kind == GuardReport::Kind::kStarted) command_ = report.number;
    return report;
  }
  // First its end, by which what it leaves becomes ours.
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
  return GuardReport{.kind = GuardReport::Kind::kGuardLost,
                     .cause = EndCause::kItself,
                     .number = KillDescendants(command_)};
}

}  // namespace whorl::cli
