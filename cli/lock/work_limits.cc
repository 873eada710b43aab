#include "cli/lock/work_limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/text.h"
#include "cli/output.h"

namespace whorl::cli {
namespace {

std::string Name(const std::string& path) { return Printable(path, 1000); }

std::string ErrnoText() { return std::generic_category().message(errno); }

// What distinguishes one state of the file from another.
struct Stamp {
  ino_t file = 0;
  int64_t seconds = 0;
  int64_t ns = 0;

  friend bool operator==(const Stamp&, const Stamp&) = default;
};
Stamp StampOf(const struct stat& file) {
  return {.file = file.st_ino, .seconds = file.st_mtim.tv_sec, .ns = file.st_mtim.tv_nsec};
}

}  // namespace

std::string CompleteLimits(WorkLimitOptions& options) {
  if (options.alive_file.empty() && options.alive_within) {
    return "--alive-within is about a file that the command touches: name it by --alive-file FILE";
  }
  if (options.alive_file.empty()) return {};
  if (!options.alive_within) {
    return "--alive-file takes --alive-within TIME, within which the command touches the file "
           "again";
  }
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(options.alive_file, error);
  options.alive_file = path.string();
  const std::string folder = path.parent_path().string();
  struct stat file{};
  if (stat(options.alive_file.c_str(), &file) == 0) {
    if (!S_ISREG(file.st_mode)) {
      return Cat("--alive-file: ", Name(options.alive_file), " is no regular file");
    }
    if (access(options.alive_file.c_str(), W_OK) == 0) return {};
    return Cat("--alive-file: ", Name(options.alive_file), " cannot be touched: ", ErrnoText());
  }
  if (errno == ENOENT && access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return Cat("--alive-file: ", Name(options.alive_file), " cannot be made: ", ErrnoText());
}

// Looks at the file on a thread of its own, which nobody waits for.
struct WorkLimits::Watch {
  Watch(std::string file, Stamp touched) : path(std::move(file)), seen(touched) {}

  const std::string path;
  Stamp seen;  // used by Run() only
  std::atomic<uint64_t> touches = 0;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;  // guarded by mutex

  void Run(Duration every) {
    std::unique_lock lock(mutex);
    while (!ended) {
      lock.unlock();
      struct stat file{};
      if (stat(path.c_str(), &file) == 0 && StampOf(file) != seen) {
        seen = StampOf(file);
        ++touches;
      }
      lock.lock();
      changed.wait_for(lock, std::chrono::nanoseconds(every.ns), [this] { return ended; });
    }
  }
};

WorkLimits::~WorkLimits() {
  if (watch_ == nullptr) return;
  const std::lock_guard lock(watch_->mutex);
  watch_->ended = true;
  watch_->changed.notify_all();
}

std::string WorkLimits::TouchFile() {
  if (options_.alive_file.empty()) return {};
  // A pipe would wait for a reader.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int file = open(options_.alive_file.c_str(), kFlags, 0666);  // NOLINT: the system's
  struct stat touched{};
  const bool done = file >= 0 && futimens(file, nullptr) == 0 && fstat(file, &touched) == 0;
  const std::string why = done ? std::string() : ErrnoText();
  if (file >= 0) close(file);
  if (done) {
    watch_ = std::make_shared<Watch>(options_.alive_file, StampOf(touched));
    return {};
  }
  return Cat("--alive-file: ", Name(options_.alive_file), " cannot be touched: ", why);
}

void WorkLimits::Begin(LocalInstant now) {
  if (options_.max_hold) hold_until_ = now + *options_.max_hold;
  if (watch_ == nullptr) return;
  liveness_.emplace(*options_.alive_within, now);
  std::thread([watch = watch_, every = liveness_->every()] { watch->Run(every); }).detach();
}

uint64_t WorkLimits::touches() const { return watch_ == nullptr ? 0 : watch_->touches.load(); }

LocalInstant WorkLimits::NextLook() const {
  return liveness_ ? std::min(hold_until_, liveness_->NextLook()) : hold_until_;
}

std::optional<std::string> WorkLimits::Overrun(LocalInstant now) {
  std::string why;
  if (now >= hold_until_) {
    why = Cat("the command has held the lock for ", FormatDuration(*options_.max_hold),
              " (--max-hold)");
  } else if (liveness_ && now >= liveness_->NextLook()) {
    const uint64_t seen = touches();
    const bool has_sign = std::exchange(touches_, seen) != seen;
    if (!liveness_->IsAlive(has_sign, now)) {
      why = Cat("the command has not touched ", Name(options_.alive_file), " for ",
                FormatDuration(*options_.alive_within), " (--alive-within)");
    }
  }
  if (why.empty()) return std::nullopt;
  hold_until_ = LocalInstant::Max();
  liveness_.reset();
  return why;
}

}  // namespace whorl::cli
