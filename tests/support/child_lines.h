// A child process whose standard output is read line by line while it runs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "live/child_process.h"
#include "protocol/spanner/time.h"

namespace whorl {

class ChildLines {
 public:
  // As ChildProcess; `arguments`: the program's path first.
  explicit ChildLines(const std::vector<std::string>& arguments);
  ~ChildLines();
  ChildLines(const ChildLines&) = delete;
  ChildLines& operator=(const ChildLines&) = delete;

  pid_t pid() const { return child_.pid(); }
  // SIGKILL, and waits for its end. What it has said can still be read.
  void Kill() { child_.Kill(); }
  // Nothing: no whole line came for so long, or the child has closed its output.
  std::optional<std::string> Next(Duration patience);
  // What it has printed on its standard error.
  std::string Errors() const { return child_.Output(); }

 private:
  int output_[2];  // the ends of a pipe: to read, to write
  ChildProcess child_;
  std::string heard_;
};

}  // namespace whorl
