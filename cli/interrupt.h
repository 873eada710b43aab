// Ends the command promptly when a person (Ctrl-C) or the system asks for it, without leaving
// half-written files.
//
// Invariant: a temporary file is removed unless it was published, whichever way the command ends
// (but for SIGKILL).
// A thread of its own waits for the signals, so that what it does needs no care for what a signal
// handler may do, and a long run needs no points at which it looks.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace whorl::cli {

// From now on SIGINT ends the command with 130 and SIGTERM with 143, and writing to a closed pipe
// is an error rather than a signal. Call it first, before any other thread is there.
void HandleSignals();

// While one is there, the first of these signals is only noted, so that long work can end early and
// report what it has; the second ends the command as ever.
class SignalNotice {
 public:
  SignalNotice();
  SignalNotice(const SignalNotice&) = delete;
  SignalNotice& operator=(const SignalNotice&) = delete;
  ~SignalNotice();

  static bool HasCome();
};

// A temporary file, known to those who clean up.
class TemporaryFile {
 public:
  // A new file beside `target`, so that it can become `target` in one step.
  // REQUIRES: not opened yet.
  absl::Status Open(const std::string& target);
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }
  // Makes it `target`, in place of a file that may be there.
  absl::Status Publish();

 private:
  std::string target_;
  std::string path_;  // empty: there is none
};

}  // namespace whorl::cli
