// Writes the command's output: to standard output, whose errors are noticed, and to files that
// appear whole or not at all; and tells what the terminal can do.
//
// Invariant: if a file or a pipe did not get all of the output, the exit code says so.
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

// Prints "whorl: message" on standard error, below the progress line if there is one.
void Complain(std::string_view message);

// Flushes standard output. Returns an error if any of it could not be written.
absl::Status FlushStdout();

// The exit code of a command whose work is done: `code`; or, if `done` is an error, which this prints,
// kBadInput for kInvalidArgument and kCannotRun otherwise.
int End(const absl::Status& done, int code = kAsExpected);

// A file that is written beside its place and moved there by Commit(). Devices and pipes (/dev/full,
// /dev/stdout) cannot be replaced, so they are written directly.
class OutputFile {
 public:
  // Returns an error if the place cannot be written.
  absl::Status Open(const std::string& path);
  std::ostream& stream() { return stream_; }
  absl::Status Commit();

 private:
  std::string path_;
  TemporaryFile temporary_;
  bool in_place_ = false;
  std::ofstream stream_;
};

// Creates a folder for output and its parents, unless they exist.
absl::Status MakeFolder(const std::string& path);

bool StdoutIsTerminal();
// Whether to print in colour: standard output is a terminal that has colours, and neither NO_COLOR
// nor CI=true is set.
bool WantsColour();
// The number of characters in a line; 100 if standard output is no terminal.
int ScreenWidth();

// Shows how far the work is ("12 of 100 runs") on the last line of the terminal, once it has taken
// two seconds.
class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { Clear(); }

  // Whether it is time to show the progress again.
  bool IsDue() const;
  // `text` is ASCII. What does not fit into the line is left out.
  void Show(std::string_view text);
  // Clears the line. Call it before anything else is printed.
  static void Clear();

 private:
  bool on_terminal_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace whorl::cli
