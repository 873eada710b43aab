#include "cli/interrupt.h"

#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
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

// mkstemp creates files that only the owner can read; a published file should have the mode of any
// new file. The umask is first read while there is one thread, because reading it changes it.
mode_t ModeOfNewFiles() {
  static const mode_t mode = [] {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
  }();
  return mode;
}

}  // namespace

void HandleSignals() {
  // With the default disposition, a signal would end the process before the thread receives it.
  const sigset_t signals = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  ModeOfNewFiles();
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

absl::Status TemporaryFile::Open(const std::string& target) {
  std::string path = target + ".XXXXXX";
  Registry& registry = TemporaryFiles();
  const std::scoped_lock lock(registry.mutex);
  const int file = mkstemp(path.data());
  if (file < 0) return ErrnoStatus(target, "cannot be written", errno);
  fchmod(file, ModeOfNewFiles());
  close(file);
  registry.paths.insert(path);
  path_ = path;
  target_ = target;
  return absl::OkStatus();
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
  if (path_.empty()) return;
  Registry& registry = TemporaryFiles();
  const std::scoped_lock lock(registry.mutex);
  unlink(path_.c_str());
  registry.paths.erase(path_);
}

}  // namespace whorl::cli
