#include "cli/serve/last_line.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <string_view>

#include "cli/exit_code.h"
#include "spanner_model/server/current_call.h"

namespace whorl::cli {
namespace {

constexpr unsigned kSecondsToEnd = 2;

std::atomic<pid_t> command = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free);

void Put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

std::string_view NameOf(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    default:
      return "SIGABRT";
  }
}

// SIGTERM, and SIGKILL two seconds later.
void EndCommand() {
  const pid_t child = command.exchange(0);
  if (child <= 0) return;
  kill(child, SIGTERM);
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 20'000'000};
  for (int i = 0; i < 100; ++i) {
    if (waitpid(child, nullptr, WNOHANG) != 0) return;
    nanosleep(&kPause, nullptr);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

void Die(int signal) {
  const std::string_view call = server::CurrentCall::Text();
  Put("whorl: died of ");
  Put(NameOf(signal));
  Put(call.empty() ? "" : " in ");
  Put(call);
  Put(": a defect of whorl; please report this line, `whorl --version` and the call's request\n");
  EndCommand();
  _exit(kCannotRun);
}

void GiveUpEnding(int /*signal*/) {
  Put("whorl: a call still runs after two seconds; ended without it\n");
  EndCommand();
  _exit(kCannotRun);
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigfillset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void SayHowItDies() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) Handle(signal, Die);
}

void EndsWithIt(pid_t child) { command = child; }

void MustEndSoon(bool must) {
  Handle(SIGALRM, GiveUpEnding);
  alarm(must ? kSecondsToEnd : 0);
}

}  // namespace whorl::cli
