// Runs `whorl lock` against a server in this process, as people and scripts do.
#pragma once

#include <fcntl.h>
#include <pty.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/prctl.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/child_process.h"
#include "tests/cli/cli_testing.h"
#include "tests/cli/lock/family_output.h"
#include "tests/support/lock_database.h"

namespace whorl {

// whorl with arguments, and all processes that it starts. The destructor kills those that are left.
class RunningWhorl {
 public:
  explicit RunningWhorl(const std::vector<std::string>& arguments, bool on_terminal = false) {
    std::vector<std::string> words = {WHORL_COMMAND};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    on_terminal ? StartOnTerminal(pointers.data()) : Start(pointers.data());
  }
  RunningWhorl(const RunningWhorl&) = delete;
  RunningWhorl& operator=(const RunningWhorl&) = delete;
  ~RunningWhorl() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    kill(pid_, SIGCONT);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  FamilyOutput& output() { return *output_; }
  void Signal(int signal) const { kill(pid_, signal); }
  void Press(char key) const { EXPECT_EQ(write(terminal_, &key, 1), 1); }
  int EndBy(int signal) {
    Signal(signal);
    return WaitForEnd();
  }
  // Its exit code, or 128 and the signal, when nothing of its family is left.
  int WaitForEnd() {
    if (terminal_ < 0) {
      EXPECT_TRUE(output_->WaitForEnd()) << output_->text();
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  void Start(char* const* arguments) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);  // NOLINT
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      execv(arguments[0], arguments);
      _exit(1);
    }
    close(ends[1]);
    output_.emplace(ends[0]);
  }
  void StartOnTerminal(char* const* arguments) {
    pid_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      execv(arguments[0], arguments);
      _exit(1);
    }
    output_.emplace(terminal_);
  }

  pid_t pid_ = -1;
  int terminal_ = -1;  // output_ owns it
  std::optional<FamilyOutput> output_;
};

class LockCliTest : public CliTest {
 protected:
  explicit LockCliTest(std::string_view protocol = "fenced_lease")
      : database_(ServeModel(protocol)) {
    setenv("SPANNER_EMULATOR_HOST", database_->Connection().endpoint.c_str(), 1);
    setenv("WHORL_DATABASE", kLockDatabase, 1);
    unsetenv("WHORL_LOCK_TOKEN");
  }
  ~LockCliTest() override {
    unsetenv("SPANNER_EMULATOR_HOST");
    unsetenv("WHORL_DATABASE");
  }

  // A lock that never existed, so that the first process need not wait for a lease.
  void Init(const std::string& name) { EXPECT_EQ(Whorl("lock init --new '" + name + "'").code, 0); }
  // exec of the victim that writes into `beats` as long as it lives.
  std::vector<std::string> Victim(const std::string& beats, const std::vector<std::string>& words,
                                  const std::string& lease = "2s") {
    std::vector<std::string> arguments = {"lock", "exec", "job", "--lease", lease};
    arguments.insert(arguments.end(), {"--", WHORL_VICTIM, (folder_ / beats).string()});
    arguments.insert(arguments.end(), words.begin(), words.end());
    return arguments;
  }

  // Asks again and again, each time by a program that is run; false after a minute.
  static bool RunsUntil(const std::function<bool()>& holds) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < give_up) {
      if (holds()) return true;
    }
    return false;
  }

  struct Beats {
    int64_t first = std::numeric_limits<int64_t>::max();  // CLOCK_BOOTTIME, ns
    int64_t last = 0;
  };
  Beats ReadBeats(const std::string& name) const {
    std::ifstream stream(folder_ / name);
    Beats beats;
    for (int64_t pid = 0, time = 0; stream >> pid >> time;) {
      beats.first = std::min(beats.first, time);
      beats.last = std::max(beats.last, time);
    }
    return beats;
  }

  std::unique_ptr<LockDatabase> database_;
};

}  // namespace whorl
