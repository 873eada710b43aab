// Keeps the file of `whorl hunt --checkpoint`: a report (report.h) of the shard's first runs, from
// which the same command goes on. `whorl hunt --merge` takes it as any other report.
//
// Invariants:
//   1. The file is a whole report or is not there: it is written beside its place and renamed.
//   2. One hunt at a time works with it.
//   3. A hunt that went on reports what an undisturbed one does, to the byte.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "cli/file_lock.h"
#include "cli/hunt/report.h"

namespace whorl::cli {

class HuntCheckpoint {
 public:
  // Without a file: nothing is read and nothing is written.
  HuntCheckpoint() = default;

  // Locks the file and reads it if it is there. `begun` is the report of no run of this hunt.
  //   kInvalidArgument: it is no report, a damaged one, one of another hunt (the message says what
  //   differs), or of a whorl in which runs end otherwise.
  absl::Status Open(const std::string& path, const HuntReport& begun);

  bool is_open() const { return !path_.empty(); }
  // The report that was read; it has no runs if there was no file.
  const HuntReport& report() const { return report_; }

  // A failure is told at once, and again after a later write has succeeded. REQUIRES: it is open, and
  // the report says which run was its last one, unless it has none.
  absl::Status Write(const HuntReport& report);

 private:
  absl::Status Read(const HuntReport& begun);
  absl::Status WriteNow(const HuntReport& report) const;

  std::string path_;
  FileLock lock_;
  HuntReport report_;
  bool has_failed_ = false;
};

}  // namespace whorl::cli
