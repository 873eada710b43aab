// A command that tests run under a lock: it records when it was alive, until it is ended.
//
//   whorl_victim FILE WORD...
//
// Each of its processes appends "pid time" to FILE every millisecond (time: CLOCK_BOOTTIME, ns),
// and has said "ready" on standard output before. The words, in their order:
//   ignore     SIGTERM, SIGINT and SIGHUP do nothing to it
//   group      leaves a process behind in its own process group
//   daemon     leaves one behind that forked twice, in a session of its own
//   storm      leaves one behind that again and again forks, and ends as soon as its child runs
//   exit       ends with 0 instead of writing
//   int        ends with 5 on SIGINT
#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

namespace {

int file = -1;

void WriteTime() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const std::string line = std::to_string(getpid()) + " " +
                           std::to_string(now.tv_sec * 1'000'000'000 + now.tv_nsec) + "\n";
  if (write(file, line.data(), line.size()) < 0) _exit(1);
}

void SayReady() {
  constexpr std::string_view kReady = "ready\n";
  if (write(STDOUT_FILENO, kReady.data(), kReady.size()) < 0) _exit(1);
}

[[noreturn]] void Live() {
  WriteTime();
  SayReady();
  while (true) {
    constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 1'000'000};
    nanosleep(&kPause, nullptr);
    WriteTime();
  }
}

void LeaveBehind(bool as_daemon) {
  const pid_t child = fork();
  if (child != 0) {
    if (as_daemon) waitpid(child, nullptr, 0);
    return;
  }
  if (as_daemon) {
    setsid();
    if (fork() != 0) _exit(0);
  }
  Live();
}

void LeaveStorm() {
  if (fork() != 0) return;
  setsid();
  WriteTime();
  SayReady();
  while (true) {
    if (fork() != 0) _exit(0);
    WriteTime();
  }
}

void EndWithFive(int /*signal*/) { _exit(5); }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  file = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return 1;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "ignore") {
      for (const int signal_number : {SIGTERM, SIGINT, SIGHUP}) signal(signal_number, SIG_IGN);
    } else if (word == "group") {
      LeaveBehind(/*as_daemon=*/false);
    } else if (word == "daemon") {
      LeaveBehind(/*as_daemon=*/true);
    } else if (word == "storm") {
      LeaveStorm();
    } else if (word == "int") {
      signal(SIGINT, EndWithFive);
    } else if (word == "exit") {
      return 0;
    } else {
      return 2;
    }
  }
  Live();
}
