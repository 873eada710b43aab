// Runs a child process that ends with its parent: a node, a server, the emulator.
//
// Invariants:
//   1. The destructor kills the child. If the thread that started the child ends before that, the
//      kernel kills it. So a child has to be started from a thread that lives as long as the child
//      is needed.
//   2. The child's output goes to a file without a name, which disappears when the last process
//      that has it open ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace whorl {

class ChildProcess {
 public:
  // `arguments` begins with the program's path. Throws std::system_error if it cannot be started.
  // `standard_output`, if given, replaces the file for standard output alone. `standard_input`: -1
  // gives the child this process's own.
  explicit ChildProcess(const std::vector<std::string>& arguments, int standard_output = -1,
                        int standard_input = -1);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool IsRunning();
  // As waitpid gives it. REQUIRES: the child has ended.
  int status() const { return status_; }
  // Sends SIGKILL and waits for the end. No effect if the child has ended.
  void Kill();
  // The output so far, of both streams.
  std::string Output() const;

 private:
  int output_ = -1;
  int status_ = 0;
  pid_t pid_ = -1;  // -1 once the child was reaped
};

// A port of the loopback interface that was free a moment ago. Another process may take it before it
// is used, so the caller has to try again with another port if its server cannot listen.
int FreePort();

}  // namespace whorl
