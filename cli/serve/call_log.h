// Records the calls between programs and a Spanner: the last ones as lines of JSON, all of them in
// a file, and their metrics.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "live/rules/rule_engine.h"

namespace whorl::cli {

// Thread-safe.
class CallLog {
 public:
  // How many lines are kept in memory; the file has all.
  static constexpr size_t kKept = 100'000;

  // `names`: of the clients, from the first on; empty: they have none.
  explicit CallLog(std::vector<std::string> names);
  ~CallLog();

  // Writes each line into the file, too. An error if it cannot be written.
  absl::Status OpenFile(const std::string& file);
  void Append(const live::CallRecord& record);
  // No more lines come; those who wait for some are woken. An error if the file has not got all.
  absl::Status End();

  struct Lines {
    uint64_t next = 0;               // the number of the line after the last one here
    std::vector<std::string> lines;  // each with its end of line
    bool has_ended = false;          // there will be no more
  };
  // The lines from number `from` on (they count from 0), `most` of them at most; those that are not
  // kept any more are left out.
  Lines From(uint64_t from, size_t most) const;
  // The same, but waits a quarter of a second for a line if there is none.
  Lines WaitFrom(uint64_t from, size_t most) const;

  // Calls by client, method and code, and how long they took, in Prometheus' text format.
  std::string Metrics() const;

 private:
  class Meters;

  Lines FromLocked(uint64_t from, size_t most) const;

  const std::vector<std::string> names_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<std::string> kept_;
  uint64_t written_ = 0;  // lines so far
  bool has_ended_ = false;
  std::ofstream file_;
  const std::unique_ptr<Meters> meters_;
};

}  // namespace whorl::cli
