// Lines about what happens to locks, for people or as JSON, on standard output or in a file.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "sim/report/json_print.h"

namespace whorl::cli {

// One thing that happened.
struct LogEvent {
  std::string event;  // "leads"
  std::string lock;   // empty: of no lock
  std::string text;   // for people: "leads with token 7 for 9.98 s, unless renewed"
  std::vector<std::pair<std::string, sim::Json>> fields;  // in JSON
};

// Write may be called from any thread; it writes at once, and may wait for whoever reads.
class EventLog {
 public:
  EventLog(std::string id, bool json) : id_(std::move(id)), json_(json) {}
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog();

  // Into a file from now on, behind what stands there.
  absl::Status Open(const std::string& path);
  // An error when it could not be written whole.
  absl::Status Write(const LogEvent& event);

 private:
  const std::string id_;
  const bool json_;
  int file_ = 1;  // standard output
  std::string path_ = "standard output";
};

}  // namespace whorl::cli
