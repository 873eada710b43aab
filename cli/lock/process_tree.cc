#include "cli/lock/process_tree.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace whorl::cli {
namespace {

namespace fs = std::filesystem;

// For kernels that do not list a thread's children (CONFIG_PROC_CHILDREN is off): reads the parent
// from every process's stat, the fourth word, after a name that may contain anything.
bool IsChildByStat(const fs::path& process) {
  std::ifstream stream(process / "stat");
  std::string text;
  std::getline(stream, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > text.size()) return false;
  pid_t parent = 0;
  const std::string_view rest = std::string_view(text).substr(name_end + 4);  // ") S "
  std::from_chars(rest.data(), rest.data() + rest.size(), parent);
  return parent == getpid();
}

std::vector<pid_t> ChildrenByStat() {
  std::vector<pid_t> children;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t pid = 0;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc() || rest != name.data() + name.size()) continue;
    if (IsChildByStat(at->path())) children.push_back(pid);
  }
  return children;
}

}  // namespace

void BecomeSubreaper() {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

std::vector<pid_t> ChildrenOfThisProcess() {
  std::vector<pid_t> children;
  bool is_listed = false;
  std::error_code error;
  for (fs::directory_iterator at("/proc/self/task", error), end; !error && at != end;
       at.increment(error)) {
    std::ifstream stream(at->path() / "children");
    if (!stream) continue;
    is_listed = true;
    for (pid_t child = 0; stream >> child;) children.push_back(child);
  }
  return is_listed ? children : ChildrenByStat();
}

bool HasEnded(pid_t child) {
  siginfo_t info{};
  const int result = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return result != 0 || info.si_pid == child;
}

pid_t SignalDescendants(pid_t leader, int signal) {
  pid_t refused = 0;
  // Signals the group in one call, so that no process in it can escape by forking.
  if (leader > 0) kill(-leader, signal);
  for (const pid_t child : ChildrenOfThisProcess()) {
    // Does not signal members of the group a second time.
    if (signal != SIGKILL && getpgid(child) == leader) continue;
    if (kill(child, signal) != 0 && errno == EPERM && refused == 0) refused = child;
  }
  return refused;
}

bool ReapAllBut(pid_t leader) {
  bool any_runs = false;
  for (const pid_t child : ChildrenOfThisProcess()) {
    if (child == leader) {
      any_runs = any_runs || !HasEnded(leader);
    } else if (waitpid(child, nullptr, WNOHANG) == 0) {
      any_runs = true;
    }
  }
  return any_runs;
}

int KillDescendants(pid_t leader) {
  while (ReapAllBut(leader)) {
    SignalDescendants(leader, SIGKILL);
    // Waits for any child. The leader is not reaped, so that no other group can get its id.
    for (const pid_t child : ChildrenOfThisProcess()) {
      if (child == leader && HasEnded(leader)) continue;
      siginfo_t info{};
      waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
      break;
    }
  }
  int status = 0;
  return leader > 0 && waitpid(leader, &status, 0) == leader ? status : -1;
}

}  // namespace whorl::cli
