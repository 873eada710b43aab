#include "cli/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace whorl::cli {
namespace {

absl::Status CannotLock(const std::string& path, int error) {
  return absl::UnavailableError(
      Cat(path, ": cannot be locked: ", std::generic_category().message(error)));
}

}  // namespace

bool IsStillThere(int file, const std::string& path) {
  struct stat opened{};
  struct stat named{};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

absl::Status FileLock::Take(std::string_view option, const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status found = std::filesystem::status(path, error);
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found)) {
    return absl::InvalidArgumentError(Cat(option, " ", path, ": is not a regular file"));
  }
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return Lock(error ? path : real.string());
}

absl::Status FileLock::Lock(const std::string& path) {
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
          Cat(path, ": another command works with this file (it has locked ", path_, ")"));
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
