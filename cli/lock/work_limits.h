// Says when the command of `whorl lock exec` has overrun: it holds the lock for longer than --max-hold, or has
// not touched --alive-file for --alive-within.
//
// Invariants:
//   1. Nothing here waits for the file once the command runs: its file system may hang, and the guard and the
//      renewals have to go on. A file that cannot be read is one that is not touched.
//   2. It overruns once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/time.h"
#include "real_client/liveness.h"

namespace whorl::cli {

struct WorkLimitOptions {
  std::optional<Duration> max_hold;
  std::string alive_file;  // absolute; empty: none
  std::optional<Duration> alive_within;
};

// Makes the path of the file absolute. Returns what is wrong with the options; empty if nothing is.
std::string CompleteLimits(WorkLimitOptions& options);

class WorkLimits {
 public:
  explicit WorkLimits(WorkLimitOptions options) : options_(std::move(options)) {}
  WorkLimits(const WorkLimits&) = delete;
  WorkLimits& operator=(const WorkLimits&) = delete;
  ~WorkLimits();

  // Touches the file, and makes it if it is not there: one of yesterday says nothing about today's work.
  // Returns what is wrong; empty if nothing is.
  std::string TouchFile();
  // The command starts now.
  void Begin(LocalInstant now);
  // When Overrun() has to be asked next.
  LocalInstant NextLook() const;
  // Why the command has to end, if it has to: "the command has held the lock for 2h (--max-hold)".
  std::optional<std::string> Overrun(LocalInstant now);
  // How often the file was seen to have been touched.
  uint64_t touches() const;

 private:
  struct Watch;

  WorkLimitOptions options_;
  LocalInstant hold_until_ = LocalInstant::Max();
  std::optional<real_client::Liveness> liveness_;
  std::shared_ptr<Watch> watch_;  // from TouchFile() on
  uint64_t touches_ = 0;          // at the last look
};

}  // namespace whorl::cli
