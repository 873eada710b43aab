#include "cli/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "sim/scenario/error_text.h"

namespace whorl::cli {
namespace {

// Whether the open file still has this name: its last holder removed it.
bool IsStillThere(int file, const std::string& path) {
  struct stat opened{};
  struct stat named{};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

absl::Status CannotLock(const std::string& path, int error) {
  return absl::UnavailableError(
      sim::Cat(path, ": cannot be locked: ", std::generic_category().message(error)));
}

}  // namespace

absl::Status FileLock::Take(const std::string& path) {
  path_ = path + ".lock";
  while (true) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
    const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return CannotLock(path_, errno);
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(file);
      if (error != EWOULDBLOCK) return CannotLock(path_, error);
      return absl::UnavailableError(
          sim::Cat(path, ": another command works with this file (it has locked ", path_, ")"));
    }
    if (IsStillThere(file, path_)) {
      file_ = file;
      return absl::OkStatus();
    }
    close(file);
  }
}

FileLock::~FileLock() {
  if (file_ < 0) return;
  unlink(path_.c_str());
  close(file_);
}

}  // namespace whorl::cli
