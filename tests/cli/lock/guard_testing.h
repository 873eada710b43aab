// Starts a process that plays whorl, with a guard and a command under it, and reads the output of
// all three.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/lock/guard.h"
#include "real_client/os.h"
#include "tests/cli/lock/family_output.h"

namespace whorl::cli {

// Prints a report as a line of the output: "report 7 0 1792\n".
inline void PrintReport(const GuardReport& report) {
  std::cout << "report " << static_cast<int>(report.kind) << " " << static_cast<int>(report.cause)
            << " " << report.number << "\n"
            << std::flush;
}
inline std::string ReportLine(GuardReportKind kind, EndCause cause, int32_t number) {
  std::ostringstream text;
  text << "report " << static_cast<int>(kind) << " " << static_cast<int>(cause) << " " << number
       << "\n";
  return text.str();
}
// Prints reports until the last.
inline void PrintReports(Guard& guard) {
  while (true) {
    const std::optional<GuardReport> report = guard.Wait(LocalInstant::Max());
    PrintReport(*report);
    if (report->IsLast()) return;
  }
}

class LockGuardTest : public testing::Test {
 protected:
  LockGuardTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~LockGuardTest() override {
    if (owner_ > 0) {
      kill(owner_, SIGKILL);
      waitpid(owner_, nullptr, 0);
    }
    if (input_ >= 0) close(input_);
    std::filesystem::remove_all(folder_);
  }

  static constexpr Duration kLease = Seconds(2);

  GuardOptions Victim(std::vector<std::string> words) {
    std::vector<std::string> command = {WHORL_VICTIM, beats_};
    command.insert(command.end(), words.begin(), words.end());
    return Command(std::move(command));
  }
  GuardOptions Command(std::vector<std::string> command) {
    return {.command = std::move(command),
            .environment = {{"WHORL_LOCK_NAME", "a name"}},
            .times = times_};
  }

  // Starts the process that plays whorl: `body` is all that it does with its guard.
  void Begin(const GuardOptions& options, const std::function<void(Guard&)>& body) {
    std::array<int, 2> ends{};
    std::array<int, 2> input{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(input.data(), O_CLOEXEC), 0);
    owner_ = fork();
    ASSERT_GE(owner_, 0);
    if (owner_ == 0) {
      dup2(input[0], STDIN_FILENO);
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      close(ends[1]);
      RunOwner(options, body);
    }
    close(ends[1]);
    close(input[0]);
    if (input_ >= 0) close(input_);
    input_ = input[1];
    output_.emplace(ends[0]);
  }
  // Ends the wait of `body` in AwaitGo().
  void Go() { ASSERT_EQ(write(input_, "g", 1), 1); }
  static void AwaitGo() {
    char byte = 0;
    EXPECT_EQ(read(STDIN_FILENO, &byte, 1), 1);
  }
  // Asks the command to end once the test says Go.
  static std::function<void(Guard&)> EndsBy(int signal) {
    return [=](Guard& guard) {
      guard.Start(1, real_client::MonotonicNow() + Seconds(60));
      PrintReport(*guard.Wait(LocalInstant::Max()));
      AwaitGo();
      std::cout << "asked " << real_client::MonotonicNow().ns << "\n";
      guard.End(signal);
      PrintReports(guard);
    };
  }
  [[noreturn]] static void RunOwner(const GuardOptions& options,
                                    const std::function<void(Guard&)>& body) {
    std::optional<Guard> guard;
    if (!Guard::Fork(options, guard).ok()) _exit(1);
    std::cout << "guard " << guard->pid() << "\n" << std::flush;
    body(*guard);
    std::cout << "owner ends\n" << std::flush;
    _exit(0);
  }
  // Waits until nothing is left. The last report is this one; of a command that was started, how it
  // ended.
  void ExpectLast(GuardReportKind kind, EndCause cause, int32_t number) {
    EXPECT_TRUE(output_->WaitForEnd());
    EXPECT_THAT(output_->text(), testing::HasSubstr(ReportLine(kind, cause, number)));
  }
  void ExpectEnd(EndCause cause, int32_t status) {
    ExpectLast(GuardReportKind::kEnded, cause, status);
  }
  pid_t GuardPid() {
    EXPECT_TRUE(output_->WaitFor("guard "));
    return static_cast<pid_t>(std::atoi(output_->text().c_str() + sizeof("guard ") - 1));
  }
  // The number of a kStarted that was printed.
  pid_t CommandPid() {
    EXPECT_TRUE(output_->WaitFor("report 0 0 "));
    const size_t at = output_->text().find("report 0 0 ");
    return static_cast<pid_t>(std::atoi(output_->text().c_str() + at + sizeof("report 0 0 ") - 1));
  }

  struct Beats {
    LocalInstant last;
    size_t processes = 0;
  };
  // Reads the beats that the victim's processes have written.
  Beats ReadBeats() {
    std::ifstream stream(beats_);
    Beats beats;
    std::vector<int64_t> pids;
    for (int64_t pid = 0, time = 0; stream >> pid >> time;) {
      beats.last = std::max(beats.last, LocalInstant{time});
      if (std::ranges::find(pids, pid) == pids.end()) pids.push_back(pid);
    }
    beats.processes = pids.size();
    return beats;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("whorl_guard_" + std::to_string(getpid()) + "_" +
       testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string beats_ = (folder_ / "beats").string();
  GuardTimes times_ = TimesFor(kLease, std::nullopt);
  pid_t owner_ = -1;
  int input_ = -1;
  std::optional<FamilyOutput> output_;
};

}  // namespace whorl::cli
