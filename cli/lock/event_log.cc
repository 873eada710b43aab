#include "cli/lock/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "sim/scenario/error_text.h"

namespace whorl::cli {
namespace {

using sim::Cat;

absl::Status Failed(const std::string& path, int error) {
  return absl::UnavailableError(
      Cat(path, ": cannot be written: ", std::generic_category().message(error)));
}

}  // namespace

std::string WallTime() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return FormatRfc3339(Timestamp::FromUnixNanos(us * 1'000));
}

EventLog::~EventLog() {
  if (file_ != STDOUT_FILENO) close(file_);
}

absl::Status EventLog::Open(const std::string& path) {
  constexpr mode_t kMode = 0666;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode);
  if (file < 0) return Failed(path, errno);
  file_ = file;
  path_ = path;
  return absl::OkStatus();
}

absl::Status EventLog::Write(const LogEvent& event) {
  const std::string time = event.time.empty() ? WallTime() : event.time;
  std::string line;
  if (json_) {
    sim::Json json = sim::Json::object();
    json["time"] = time;
    json["event"] = event.event;
    json["id"] = id_;
    json["n"] = ++lines_;
    if (!event.lock.empty()) json["lock"] = event.lock;
    for (const auto& [name, value] : event.fields) json[name] = value;
    line = sim::DumpJson(json) + "\n";
  } else {
    line = Cat(time, " ", event.lock.empty() ? "" : Cat(sim::Printable(event.lock), ": "),
               event.text, "\n");
  }
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(path_, errno);
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace whorl::cli
