// Logs the events of locks, as text or as JSON lines, to standard output or to a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "real_client/os.h"
#include "sim/report/json_print.h"

namespace whorl::cli {

// An event of a lock, or of the process.
struct LogEvent {
  std::optional<Timestamp> time;  // by the wall clock; empty: when it is written
  std::string event;              // "leads"
  std::string lock;               // empty: the event concerns no lock
  std::string text;               // for people: "leads with token 7 for 9.98 s, unless renewed"
  std::vector<std::pair<std::string, sim::Json>> fields;  // in JSON
};

// Writes at once, and blocks while the reader of a pipe is slow.
// In JSON, "n" numbers the lines of this process from 1, so that missing ones are noticed.
class EventLog {
 public:
  EventLog(std::string id, bool json) : id_(std::move(id)), json_(json) {}
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog();

  // From now on logs to a file, appending to its content.
  absl::Status Open(const std::string& path);
  // Returns an error if the event could not be written whole.
  absl::Status Write(const LogEvent& event);

 private:
  const std::string id_;
  const bool json_;
  int64_t lines_ = 0;
  int file_ = 1;  // standard output
  std::string path_ = "standard output";
};

}  // namespace whorl::cli
