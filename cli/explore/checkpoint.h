// Reads and writes the file of `whorl explore --checkpoint`.
//
// Invariants:
//   1. The file is a whole checkpoint or is not there: it is written beside its place and renamed.
//   2. One search at a time works with it.
//   3. Writing takes a few per cent of the time at most.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "cli/file_lock.h"
#include "sim/explore/engine/checkpoint.h"

namespace whorl::cli {

class CheckpointFile {
 public:
  // Without a file: nothing is read and nothing is written.
  CheckpointFile() = default;

  // Locks the file and reads it if it is there. Returns an error if it is none, if it is damaged, or
  // if it is of a search with other settings, which the message names.
  absl::Status Open(const std::string& path, explore::Settings settings);

  // Moves out the checkpoint that was read; empty if there was no file.
  std::optional<explore::Checkpoint> Take() { return std::exchange(read_, std::nullopt); }

  // Whether it is time to write: at once, and then now and then.
  bool IsDue() const;
  // `bad`: empty, but of a search for no_wedge. A failure is told at once, and stays until a later write succeeds.
  void Write(const explore::SearchRecord& record, const explore::WaitingLinks& waiting,
             const explore::BadGraph& bad);

  bool is_open() const { return !path_.empty(); }
  bool is_written() const { return is_written_; }
  const std::string& path() const { return path_; }
  // Of the last write.
  const absl::Status& status() const { return status_; }

 private:
  using Clock = std::chrono::steady_clock;

  absl::Status Read();
  absl::Status CheckSettings(const explore::Settings& read) const;
  absl::Status WriteNow(const explore::SearchRecord& record, const explore::WaitingLinks& waiting,
                        const explore::BadGraph& bad) const;

  std::string path_;
  FileLock lock_;
  explore::Settings settings_;
  std::optional<explore::Checkpoint> read_;
  Clock::time_point due_;
  bool is_written_ = false;
  absl::Status status_;
};

}  // namespace whorl::cli
