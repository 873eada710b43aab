#include "live/child_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace whorl {
namespace {

[[noreturn]] void ThrowErrno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// In the child, after fork: only what is safe between fork and exec.
[[noreturn]] void Become(char* const* arguments, int input, int output, int errors, pid_t parent) {
  constexpr int kCouldNotExec = 127;
  // The parent may have died before the first line took effect.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(kCouldNotExec);
  if (input >= 0) dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execv(arguments[0], arguments);
  _exit(kCouldNotExec);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, int standard_output,
                           int standard_input) {
  std::string path = (std::filesystem::temp_directory_path() / "whorl_child_XXXXXX").string();
  output_ = mkostemp(path.data(), O_CLOEXEC);
  if (output_ < 0) ThrowErrno("no file for the output of " + arguments.at(0));
  unlink(path.c_str());
  std::vector<std::string> copies = arguments;
  std::vector<char*> pointers;
  pointers.reserve(copies.size() + 1);
  for (std::string& argument : copies) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    Become(pointers.data(), standard_input, standard_output < 0 ? output_ : standard_output,
           output_, parent);
  }
  if (pid_ < 0) {
    close(output_);
    ThrowErrno("cannot fork to run " + arguments.at(0));
  }
}

ChildProcess::~ChildProcess() {
  Kill();
  close(output_);
}

bool ChildProcess::IsRunning() {
  if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

void ChildProcess::Kill() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, &status_, 0);
  pid_ = -1;
}

std::string ChildProcess::Output() const {
  std::string text;
  char piece[4096];
  while (true) {
    // The child's own place in the file is left alone.
    const ssize_t size = pread(output_, piece, sizeof(piece), static_cast<off_t>(text.size()));
    if (size <= 0) return text;
    text.append(piece, static_cast<size_t>(size));
  }
}

int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) ThrowErrno("no socket");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = bind(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0;
  close(fd);
  if (!bound) ThrowErrno("no free port");
  return ntohs(address.sin_port);
}

}  // namespace whorl
