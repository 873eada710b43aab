// Defines the exit codes, which are the same for every sub-command.
#pragma once

namespace whorl::cli {

enum ExitCode : int {
  kAsExpected = 0,
  kExpectationFailed =
      1,               // something was found that decides (exit_rules.h), or an expectation failed
  kBadInput = 2,       // bad input or usage
  kCannotRun = 3,      // no answer: ended early, something is missing, or it cannot be written
  kInterrupted = 130,  // Ctrl-C
  kReaderGone = 141,   // nobody reads standard output any more, as after `| head`
};

// Exit codes of `lock exec` itself; all other codes are those of the command that it runs.
enum ExecCode : int {
  kCommandOverran = 124,  // it was ended by --max-hold or --alive-within
  kExecFailed = 125,      // the lock was not taken, or was lost; or bad usage
  kCannotExecute = 126,   // the command is not executable
  kNoSuchCommand = 127,
};

}  // namespace whorl::cli
