// Keeps two commands from working on one file.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace whorl::cli {

// Whether the open file still has this name. Otherwise another command has renamed or removed it since it was
// opened, and a lock on it keeps nobody away from the name.
bool IsStillThere(int file, const std::string& path);

// The lock is on a file beside, `path` with ".lock" at its end, which is removed afterwards. One that
// a killed command left behind is not locked any more, and is used again.
class FileLock {
 public:
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  // Locks the file of an option, such as "--checkpoint", until this object or the process ends, whether it is
  // there yet or not. Another name of it has the same lock. Returns an error at once if another process
  // has the lock, if it is no regular file, or if there can be no lock in its folder. REQUIRES: not taken yet.
  absl::Status Take(std::string_view option, const std::string& path);

 private:
  absl::Status Lock(const std::string& path);

  std::string path_;
  int file_ = -1;
};

}  // namespace whorl::cli
