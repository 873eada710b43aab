// Keeps two commands from working on one file.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace whorl::cli {

// The lock is on a file beside, `path` with ".lock" at its end, which is removed afterwards. One that
// a killed command left behind is not locked any more, and is used again.
class FileLock {
 public:
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  // Locks until this object or the process ends. Returns an error at once if another process has the
  // lock, or if there can be none in this folder. REQUIRES: not taken yet.
  absl::Status Take(const std::string& path);

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace whorl::cli
