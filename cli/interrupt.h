// Ends the command promptly on SIGINT (Ctrl-C) or SIGTERM, without leaving half-written files.
//
// Invariant: a temporary file is removed unless it was published, whichever way the command ends
// (except SIGKILL).
// A separate thread waits for the signals. So it may call functions that a signal handler must not
// call, and a long run does not have to poll.
#pragma once

#include <fstream>
#include <string>

#include "absl/status/status.h"

namespace whorl::cli {

// From now on SIGINT ends the command with 130 and SIGTERM with 143, and writing to a closed pipe
// is an error rather than a signal. REQUIRES: no other thread runs yet.
void HandleSignals();

// While such an object exists, the first of these signals is only noted, so that long work can end
// early and report what it has. The second one ends the command as usual.
class SignalNotice {
 public:
  SignalNotice();
  SignalNotice(const SignalNotice&) = delete;
  SignalNotice& operator=(const SignalNotice&) = delete;
  ~SignalNotice();

  static bool HasCome();
};

// A temporary file, which is removed if a signal ends the command. Its name is that of its target with
// ".whorl-1" at the end, or ".whorl-2" and so on while other commands write the same target. It is locked,
// so the next command for the target sees which one SIGKILL left behind, and uses that one again.
class TemporaryFile {
 public:
  // Creates a file beside `target`, so that it can become `target` in one step, and opens `stream` on it.
  // A signal comes before or after both: a stream that opened the file later by its path would create it
  // anew after the signal had removed it. REQUIRES: not opened yet.
  absl::Status Open(const std::string& target, std::ofstream& stream);
  TemporaryFile() = default;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  // Renames it to `target`, replacing an existing file.
  absl::Status Publish();

 private:
  std::string target_;
  std::string path_;  // empty: there is none
  int file_ = -1;     // open, for its lock
};

}  // namespace whorl::cli
