// A program that ends with who started it: a node, a server, the emulator.
//
// Invariants:
//   1. The child is ended by its process id in the destructor, and by the kernel when the thread
//      that started it dies without one: nothing is left behind. So it is started from a thread
//      that lives as long as it is needed.
//   2. What it prints goes to a file without a name, which is gone with whoever holds it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace whorl {

class ChildProcess {
 public:
  // `arguments`: the program's path first. Throws std::system_error when it cannot be started.
  // `standard_output`: where it prints to instead of the file; standard error goes to the file.
  // `standard_input`: what it reads; this process's own where there is none.
  explicit ChildProcess(const std::vector<std::string>& arguments, int standard_output = -1,
                        int standard_input = -1);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool IsRunning();
  // SIGKILL, and waits for its end. Nothing happens when it has ended.
  void Kill();
  // What it has printed so far, on both streams.
  std::string Output() const;

 private:
  int output_ = -1;
  pid_t pid_ = -1;  // -1 once its end was waited for
};

// A port of the loopback interface that was free a moment ago. Somebody else may take it before it
// is used: whoever starts a server on it tries again.
int FreePort();

}  // namespace whorl
