// Starts a child process, and reads its standard output line by line while it runs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "live/child_process.h"

namespace whorl {

class ChildLines {
 public:
  // Starts the program `arguments[0]`, as ChildProcess does.
  explicit ChildLines(const std::vector<std::string>& arguments);
  ~ChildLines();
  ChildLines(const ChildLines&) = delete;
  ChildLines& operator=(const ChildLines&) = delete;

  pid_t pid() const { return child_.pid(); }
  bool IsRunning() { return child_.IsRunning(); }
  // As waitpid gives it. REQUIRES: the child has ended.
  int status() const { return child_.status(); }
  // Sends SIGKILL and waits for the end. The output so far can still be read.
  void Kill() { child_.Kill(); }
  // The next line; nullopt if none is complete within `patience`, or the child has closed its
  // output.
  std::optional<std::string> Next(Duration patience);
  // Its standard error so far.
  std::string Errors() const { return child_.Output(); }

 private:
  int output_[2];  // a pipe's read and write ends
  ChildProcess child_;
  std::string heard_;
};

}  // namespace whorl
