// Where the command writes: standard output that is checked, files that appear whole or not at
// all, and what the terminal is like.
//
// Invariant: whoever reads a file or a pipe gets all of it or an exit code that says otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"

namespace whorl::cli {

// "whorl: message" on standard error, under a progress line that may stand there.
void Complain(std::string_view message);

// Flushes standard output; an error when something of it could not be written.
absl::Status FlushStdout();

// How a command ends that has nothing left to do: `code`, or with a complaint when `done` is an
// error: kBadInput when that is kInvalidArgument, otherwise kCannotRun.
int End(const absl::Status& done, int code = kAsExpected);

// A file that is written beside its place and put there by Commit(). Devices and pipes (/dev/full,
// /dev/stdout) cannot be replaced; they are written as they are.
class OutputFile {
 public:
  // An error when the place cannot be written.
  absl::Status Open(const std::string& path);
  std::ostream& stream() { return stream_; }
  absl::Status Commit();

 private:
  std::string path_;
  TemporaryFile temporary_;
  bool in_place_ = false;
  std::ofstream stream_;
};

// A folder for output, with those above it; one that is there already will do.
absl::Status MakeFolder(const std::string& path);

bool StdoutIsTerminal();
// Whether people see standard output in colour: a terminal, and neither NO_COLOR, nor CI=true, nor
// a terminal that knows none.
bool WantsColour();
// Characters in a line; 100 where standard output is no terminal.
int ScreenWidth();

// How far the work is ("12 of 100 runs"), on the last line of the terminal, once it has taken two
// seconds.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { Clear(); }

  // Whether it is time to say something again.
  bool IsDue() const;
  void Show(std::string_view text);
  // Before anything else is printed.
  static void Clear();

 private:
  bool on_terminal_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace whorl::cli
