#include "cli/interrupt.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>

#include "cli/exit_code.h"
#include "cli/file_lock.h"

namespace whorl::cli {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<std::string> paths;
};

// Never destroyed, since a signal may come while the process exits.
Registry& TemporaryFiles() {
  static Registry& registry = *new Registry;
  return registry;
}

absl::Status ErrnoStatus(const std::string& path, std::string_view what, int error) {
  return absl::UnavailableError(path + ": " + std::string(what) + ": " +
                                std::generic_category().message(error));
}

// Leaves out signals that the command was started to ignore (by nohup, or by `&` in a script), since
// sigwait would receive them nevertheless.
sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    sigaddset(&signals, signal);
  }
  return signals;
}

// The mutex stays locked, so that no new file can appear.
[[noreturn]] void EndBySignal(int signal) {
  Registry& registry = TemporaryFiles();
  registry.mutex.lock();
  for (const std::string& path : registry.paths) unlink(path.c_str());
  constexpr std::string_view kMessage = "whorl: interrupted\n";
  if (signal == SIGINT && write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) {
    // The process is ending, so errors are ignored.
  }
  _exit(signal == SIGINT ? kInterrupted : 128 + signal);
}

// Whether a signal is to be noted, or has been.
std::atomic<bool> is_noting = false;
std::atomic<bool> has_come = false;

void WaitForSignal(sigset_t signals) {
  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (!is_noting || has_come.exchange(true)) EndBySignal(signal);
  }
}

// Opens and locks the file, which is new or was left behind by a command that was killed. -1: another
// command has it, or, with an error in errno, it cannot be opened.
int OpenAndLock(const std::string& path) {
  errno = 0;
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  const bool is_new = file >= 0;
  if (!is_new && errno == EEXIST) {
    file = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) errno = 0;  // another user's, or gone since
  }
  if (file < 0) return -1;
  const bool is_locked = flock(file, LOCK_EX | LOCK_NB) == 0;
  // A file system without locks has no other way to tell what was left behind.
  const bool is_mine = is_locked || (is_new && errno != EWOULDBLOCK);
  if (is_mine && IsStillThere(file, path)) return file;
  close(file);
  errno = 0;
  return -1;
}

}  // namespace

void HandleSignals() {
  // With the default disposition, a signal would end the process before the thread receives it.
  const sigset_t signals = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  try {
    std::thread(WaitForSignal, signals).detach();
  } catch (const std::system_error&) {
    // Without the thread, the signals end the process as by default.
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

SignalNotice::SignalNotice() { is_noting = true; }
SignalNotice::~SignalNotice() { is_noting = false; }
bool SignalNotice::HasCome() { return has_come; }

absl::Status TemporaryFile::Open(const std::string& target, std::ofstream& stream) {
  // As many commands as this may write one file at a time.
  constexpr int kTries = 100;
  Registry& registry = TemporaryFiles();
  const std::scoped_lock lock(registry.mutex);
  for (int i = 1; i <= kTries && file_ < 0; ++i) {
    path_ = target + ".whorl-" + std::to_string(i);
    file_ = OpenAndLock(path_);
    if (file_ < 0 && errno != 0) break;
  }
  if (file_ < 0) {
    path_.clear();
    return ErrnoStatus(target, "cannot be written", errno == 0 ? EBUSY : errno);
  }
  registry.paths.insert(path_);
  target_ = target;
  errno = 0;
  stream.open(path_, std::ios::binary | std::ios::trunc);
  return stream ? absl::OkStatus() : ErrnoStatus(target, "cannot be written", errno);
}

absl::Status TemporaryFile::Publish() {
  Registry& registry = TemporaryFiles();
  const std::scoped_lock lock(registry.mutex);
  if (rename(path_.c_str(), target_.c_str()) != 0) {
    return ErrnoStatus(target_, "cannot be written", errno);
  }
  registry.paths.erase(path_);
  path_.clear();
  return absl::OkStatus();
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) {
    Registry& registry = TemporaryFiles();
    const std::scoped_lock lock(registry.mutex);
    unlink(path_.c_str());
    registry.paths.erase(path_);
  }
  if (file_ >= 0) close(file_);  // which unlocks it
}

}  // namespace whorl::cli
