#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "base/text.h"
#include "cli/wrapped_output.h"

namespace whorl::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kWidthWithoutTerminal = 100;
constexpr std::chrono::seconds kProgressAfter(2);
constexpr std::chrono::milliseconds kProgressEvery(100);

// Whether the terminal shows a progress line. Only the main thread prints.
bool progress_stands = false;

std::string EnvironmentValue(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int WidthOf(int file) {
  winsize size{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's interface
  if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kWidthWithoutTerminal;
}

absl::Status WriteError(const std::string& where, int error) {
  const std::string reason =
      error == 0 ? "the write failed" : std::generic_category().message(error);
  return absl::UnavailableError(where + ": cannot be written: " + reason);
}

}  // namespace

void Complain(std::string_view message) {
  Progress::Clear();
  const std::string text = Cat("whorl: ", message);
  const bool on_terminal = isatty(STDERR_FILENO) == 1;
  std::cerr << (on_terminal ? Wrapped(text, static_cast<size_t>(WidthOf(STDERR_FILENO))) : text)
            << '\n'
            << std::flush;
}

absl::Status FlushStdout() {
  // After a write that failed before this, its reason still stands in errno.
  if (std::cout) errno = 0;
  if (std::cout.flush()) return absl::OkStatus();
  if (errno == EPIPE) return absl::CancelledError("nobody reads standard output any more");
  return WriteError("standard output", errno);
}

absl::Status OutputFile::Open(const std::string& path) {
  path_ = path;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  in_place_ = fs::exists(status) && !fs::is_regular_file(status);
  if (!in_place_) {
    // Behind a symbolic link, the file is replaced and the link stays.
    const fs::path real = fs::is_symlink(path, error) ? fs::canonical(path, error) : fs::path(path);
    if (error && fs::is_symlink(path)) return WriteError(path, error.value());
    return temporary_.Open(real.string(), stream_);
  }
  errno = 0;
  stream_.open(path, std::ios::binary | std::ios::trunc);
  return stream_ ? absl::OkStatus() : WriteError(path, errno);
}

int End(const absl::Status& done, int code) {
  if (done.ok()) return code;
  // A reader such as `| head` has read enough, and wants no complaint.
  if (absl::IsCancelled(done)) return kReaderGone;
  Complain(std::string(done.message()));
  return absl::IsInvalidArgument(done) ? kBadInput : kCannotRun;
}

absl::Status OutputFile::Commit() {
  // After a write that failed before this, its reason still stands in errno.
  if (!stream_) return WriteError(path_, errno);
  errno = 0;
  stream_.close();
  if (!stream_) return WriteError(path_, errno);
  return in_place_ ? absl::OkStatus() : temporary_.Publish();
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(Cat(path, ": cannot be created: ", error.message()));
}

bool StdoutIsTerminal() { return isatty(STDOUT_FILENO) == 1; }

bool WantsColour() {
  return StdoutIsTerminal() && EnvironmentValue("NO_COLOR").empty() &&
         EnvironmentValue("CI") != "true" && EnvironmentValue("TERM") != "dumb";
}

int ScreenWidth() { return WidthOf(STDOUT_FILENO); }

Progress::Progress()
    : on_terminal_(isatty(STDERR_FILENO) == 1 && EnvironmentValue("CI") != "true" &&
                   EnvironmentValue("TERM") != "dumb"),
      started_(std::chrono::steady_clock::now()) {}

bool Progress::IsDue() const {
  if (!on_terminal_) return false;
  const auto now = std::chrono::steady_clock::now();
  return now - started_ >= kProgressAfter && now - shown_ >= kProgressEvery;
}

void Progress::Show(std::string_view text) {
  shown_ = std::chrono::steady_clock::now();
  progress_stands = true;
  // Clear() would clear only a part of a line that the terminal breaks into two.
  const auto width = static_cast<size_t>(WidthOf(STDERR_FILENO)) - 1;
  std::cerr << "\r\x1b[K" << text.substr(0, width) << std::flush;
}

void Progress::Clear() {
  if (!progress_stands) return;
  progress_stands = false;
  std::cerr << "\r\x1b[K" << std::flush;
}

}  // namespace whorl::cli
