// How the command ends: the same for every sub-command.
#pragma once

namespace whorl::cli {

enum ExitCode : int {
  kAsExpected = 0,
  kExpectationFailed = 1,  // a violation was found, or an expected one was not
  kBadInput = 2,           // bad input or usage
  kCannotRun = 3,          // something is missing, or the output cannot be written
  kInterrupted = 130,      // by Ctrl-C
};

}  // namespace whorl::cli
