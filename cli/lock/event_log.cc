#include "cli/lock/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/text.h"
#include "real_client/os.h"

namespace whorl::cli {
namespace {

absl::Status Failed(const std::string& path, int error) {
  return absl::UnavailableError(
      Cat(path, ": cannot be written: ", std::generic_category().message(error)));
}

// To the microsecond, for people.
Timestamp Shortened(Timestamp time) {
  return Timestamp::FromUnixNanos(time.UnixNanos() / 1'000 * 1'000);
}

}  // namespace

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
  const Timestamp time = event.time ? *event.time : real_client::SystemNow();
  std::string line;
  if (json_) {
    sim::Json json = sim::Json::object();
    json["time"] = FormatRfc3339(time);
    json["event"] = event.event;
    json["id"] = id_;
    json["n"] = ++lines_;
    if (!event.lock.empty()) json["lock"] = event.lock;
    for (const auto& [name, value] : event.fields) json[name] = value;
    line = sim::DumpJson(json) + "\n";
  } else {
    line = Cat(FormatRfc3339(Shortened(time)), " ",
               event.lock.empty() ? "" : Cat(Printable(event.lock), ": "), event.text, "\n");
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
