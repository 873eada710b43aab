// The guard of `whorl lock exec`, alone: commands that do not want to end, daemons, and a whorl
// that is killed or stopped. No lock stands behind the deadline; the processes are real.
//
// The tests print how long before the deadline the last process was alive. On an overloaded machine
// the guard is late, too, so they only require that the deadline is met.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "cli/lock/process_tree.h"
#include "real_client/os.h"
#include "tests/cli/lock/guard_testing.h"
#include "tests/cli/lock/process_state.h"

namespace whorl::cli::guard_process_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string InMs(Duration duration) { return std::to_string(duration.ns / 1'000) + " us"; }

// Starts the command and prints the reports until the last one.
std::function<void(Guard&)> Starts(std::optional<uint64_t> token, Duration left) {
  return [=](Guard& guard) {
    guard.Start(token, real_client::MonotonicNow() + left);
    PrintReports(guard);
  };
}
void StartAndWait(Guard& guard) { Starts(7, Seconds(3600))(guard); }

// --- how a command ends --------------------------------------------------------------------------

TEST_F(LockGuardTest, PassesOnHowTheCommandEnded) {
  struct Case {
    std::string script;
    int status;
  };
  for (const Case& one : {Case{"exit 0", 0}, Case{"exit 7", 7 << 8}, Case{"exit 255", 255 << 8},
                          Case{"kill -9 $$", SIGKILL}, Case{"kill -TERM $$", SIGTERM}}) {
    Begin(Command({"sh", "-c", one.script}), StartAndWait);
    SCOPED_TRACE(one.script);
    ExpectEnd(EndCause::kItself, one.status);
    waitpid(owner_, nullptr, 0);
  }
}

// As when a heartbeat's answer comes just as the command ends.
TEST_F(LockGuardTest, SaysHowTheCommandEndedThoughItHasNotReadAllThatItWasTold) {
  const std::string go = (folder_ / "go").string();
  const std::string script = "until [ -e " + go + " ]; do :; done; kill -STOP $PPID; exit 7";
  Begin(Command({"sh", "-c", script}), [&go](Guard& guard) {
    const LocalInstant deadline = real_client::MonotonicNow() + Seconds(3600);
    guard.Start(7, deadline);
    const std::optional<GuardReport> started = guard.Wait(LocalInstant::Max());
    std::ofstream{go};
    while (StateOf(started->number) != 'Z') sched_yield();
    for (int i = 0; i < 10; ++i) guard.Renew(deadline);
    for (const pid_t child : ChildrenOfThisProcess()) kill(child, SIGCONT);
    PrintReports(guard);
  });
  ExpectEnd(EndCause::kItself, 7 << 8);
}

TEST_F(LockGuardTest, GivesTheCommandItsEnvironment) {
  constexpr const char* kScript = "echo \"[$WHORL_LOCK_NAME] [${WHORL_LOCK_TOKEN-none}] [$HOME]\"";
  Begin(Command({"sh", "-c", kScript}), Starts(18'446'744'073'709'551'615U, Seconds(60)));
  EXPECT_TRUE(output_->WaitForEnd());
  const char* home = std::getenv("HOME");
  const std::string rest = "] [" + std::string(home == nullptr ? "" : home) + "]\n";
  EXPECT_THAT(output_->text(), HasSubstr("[a name] [18446744073709551615" + rest));
  waitpid(owner_, nullptr, 0);

  setenv("WHORL_LOCK_TOKEN", "of another lock", 1);
  Begin(Command({"sh", "-c", kScript}), Starts(std::nullopt, Seconds(60)));
  unsetenv("WHORL_LOCK_TOKEN");
  EXPECT_TRUE(output_->WaitForEnd());
  EXPECT_THAT(output_->text(), HasSubstr("[a name] [none" + rest));
}

TEST_F(LockGuardTest, SaysWhyACommandCannotBeStarted) {
  std::ofstream(folder_ / "text") << "no program";
  for (const auto& [command, error] :
       {std::pair{std::string("whorl-no-such-command"), ENOENT},
        std::pair{(folder_ / "text").string(), EACCES}, std::pair{folder_.string(), EACCES}}) {
    Begin(Command({command}), StartAndWait);
    SCOPED_TRACE(command);
    ExpectLast(GuardReportKind::kCannotStart, EndCause::kItself, error);
    waitpid(owner_, nullptr, 0);
  }
}

TEST_F(LockGuardTest, StartsNothingWhenTheDeadlineHasPassed) {
  for (const Duration left :
       {Seconds(-1), Duration{}, times_.margin, times_.margin + times_.warning}) {
    Begin(Victim({}), Starts(1, left));
    ExpectLast(GuardReportKind::kTooLate, EndCause::kItself, 0);
    EXPECT_FALSE(std::filesystem::exists(beats_));
    waitpid(owner_, nullptr, 0);
  }
}

TEST_F(LockGuardTest, WithoutAStartItEndsWithItsOwner) {
  Begin(Victim({}), [](Guard&) {});
  EXPECT_TRUE(output_->WaitForEnd());
  EXPECT_THAT(output_->text(), HasSubstr("owner ends"));
  EXPECT_FALSE(std::filesystem::exists(beats_));
}

// nohup needs SIGHUP to stay ignored, and a command in a pipe needs SIGPIPE as it was.
TEST_F(LockGuardTest, LeavesTheCommandTheSignalsThatWhorlWasStartedWith) {
  signal(SIGHUP, SIG_IGN);
  Begin(Command({"grep", "Sig[BI]", "/proc/self/status"}), StartAndWait);
  signal(SIGHUP, SIG_DFL);
  EXPECT_TRUE(output_->WaitForEnd());
  EXPECT_THAT(output_->text(), HasSubstr("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000001\n"));
}

// --- what is left in the background --------------------------------------------------------------

TEST_F(LockGuardTest, EndsWhatTheCommandHasLeftBehind) {
  Begin(Victim({"ignore", "group", "daemon", "daemon", "exit"}), StartAndWait);
  ExpectEnd(EndCause::kItself, 0);
}

TEST_F(LockGuardTest, EndsProcessesThatForkAndEndWithoutPause) {
  Begin(Victim({"ignore", "storm"}), EndsBy(SIGTERM));
  ASSERT_TRUE(output_->WaitFor("ready\n", 2));
  Go();
  ExpectEnd(EndCause::kAsked, SIGKILL);
  std::cout << ReadBeats().processes << " processes\n";
}

// --- asked to end --------------------------------------------------------------------------------

TEST_F(LockGuardTest, PassesOnASignalAndWhatTheCommandMakesOfIt) {
  Begin(Victim({"int"}), EndsBy(SIGINT));
  ASSERT_TRUE(output_->WaitFor("ready"));
  Go();
  ExpectEnd(EndCause::kAsked, 5 << 8);
}

TEST_F(LockGuardTest, KillsACommandThatIgnoresIt) {
  Begin(Victim({"ignore", "daemon"}), EndsBy(SIGTERM));
  ASSERT_TRUE(output_->WaitFor("ready\n", 2));
  Go();
  ExpectEnd(EndCause::kAsked, SIGKILL);
  const size_t at = output_->text().find("asked ") + sizeof("asked ") - 1;
  const LocalInstant asked = {std::atoll(output_->text().c_str() + at)};
  const Duration lived = ReadBeats().last - asked;
  std::cout << "lived on for " << InMs(lived) << " with " << InMs(times_.kill_after)
            << " allowed\n";
  EXPECT_GE(lived, times_.kill_after / 2);
}

TEST_F(LockGuardTest, ASignalToTheGuardIsPassedOn) {
  Begin(Victim({}), StartAndWait);
  const pid_t guard = GuardPid();
  ASSERT_TRUE(output_->WaitFor("ready"));
  kill(guard, SIGTERM);
  ExpectEnd(EndCause::kAsked, SIGTERM);
}

TEST_F(LockGuardTest, AStoppedCommandGoesOn) {
  Begin(Victim({}), StartAndWait);
  const pid_t command = CommandPid();
  ASSERT_TRUE(output_->WaitFor("ready"));
  kill(command, SIGSTOP);
  EXPECT_TRUE(
      output_->WaitFor(ReportLine(GuardReportKind::kContinued, EndCause::kItself, SIGSTOP)));
  kill(command, SIGKILL);
  EXPECT_TRUE(output_->WaitForEnd());
}

// --- the deadline --------------------------------------------------------------------------------

class LockGuardDeadlineTest : public LockGuardTest {
 protected:
  // The command writes as long as it lives; `words` make it hard to end. `harm` is done to whorl
  // once all run.
  void ExpectNothingOutlivesTheDeadline(std::vector<std::string> words, size_t processes,
                                        int harm) {
    const LocalInstant deadline = real_client::MonotonicNow() + kLease;
    Begin(Victim(std::move(words)), [deadline](Guard& guard) {
      guard.Start(1, deadline);
      PrintReports(guard);
    });
    ASSERT_TRUE(output_->WaitFor("ready\n", processes));
    const LocalInstant harmed = real_client::MonotonicNow();
    if (harm != 0) kill(owner_, harm);
    // Only what was stopped may be left.
    if (harm == SIGSTOP) {
      ASSERT_TRUE(output_->WaitFor("was not renewed in time"));
      const Beats beats = ReadBeats();
      Expect(beats, deadline, deadline - times_.margin);
      kill(owner_, SIGCONT);
      EXPECT_TRUE(output_->WaitForEnd());
      EXPECT_EQ(ReadBeats().last, beats.last) << "something lived on";
      return;
    }
    EXPECT_TRUE(output_->WaitForEnd());
    const LocalInstant kill_at = harm == SIGKILL ? harmed + times_.kill_after : LocalInstant::Max();
    Expect(ReadBeats(), deadline, std::min(kill_at, deadline - times_.margin));
  }

  void Expect(const Beats& beats, LocalInstant deadline, LocalInstant kill_at) {
    std::cout << "last alive " << InMs(beats.last - kill_at) << " after SIGKILL was due, and "
              << InMs(deadline - beats.last) << " before the deadline\n";
    EXPECT_LT(beats.last, deadline);
  }
};

TEST_F(LockGuardDeadlineTest, ACommandThatIgnoresSigtermIsKilledInTime) {
  ExpectNothingOutlivesTheDeadline({"ignore"}, 1, 0);
  EXPECT_THAT(output_->text(),
              HasSubstr(ReportLine(GuardReportKind::kEnded, EndCause::kDeadline, SIGKILL)));
}

TEST_F(LockGuardDeadlineTest, OneThatDoesNotIgnoreItEndsBefore) {
  ExpectNothingOutlivesTheDeadline({"group", "daemon"}, 3, 0);
  EXPECT_THAT(output_->text(),
              HasSubstr(ReportLine(GuardReportKind::kEnded, EndCause::kDeadline, SIGTERM)));
}

TEST_F(LockGuardDeadlineTest, WhenWhorlIsKilled) {
  ExpectNothingOutlivesTheDeadline({"ignore", "group", "daemon"}, 3, SIGKILL);
  EXPECT_THAT(output_->text(), HasSubstr("whorl: whorl itself was killed"));
  EXPECT_THAT(output_->text(), Not(HasSubstr("owner ends")));
}

TEST_F(LockGuardDeadlineTest, WhenWhorlIsStopped) {
  ExpectNothingOutlivesTheDeadline({"ignore", "group", "daemon"}, 3, SIGSTOP);
  EXPECT_THAT(output_->text(),
              HasSubstr(ReportLine(GuardReportKind::kEnded, EndCause::kDeadline, SIGKILL)));
}

TEST_F(LockGuardDeadlineTest, RenewalsMoveIt) {
  Begin(Victim({}), [](Guard& guard) {
    const LocalInstant start = real_client::MonotonicNow();
    guard.Start(1, start + Milliseconds(600));
    PrintReport(*guard.Wait(LocalInstant::Max()));
    for (int i = 1; i <= 10; ++i) {
      EXPECT_FALSE(guard.Wait(start + Milliseconds(i * 100)).has_value()) << i;
      guard.Renew(start + Milliseconds(600 + i * 100));
    }
    guard.End(SIGTERM);
    PrintReports(guard);
  });
  ExpectEnd(EndCause::kAsked, SIGTERM);
}

// --- the guard itself is killed ------------------------------------------------------------------

TEST_F(LockGuardTest, WhenTheGuardIsKilledNothingIsLeft) {
  Begin(Victim({"ignore", "group", "daemon"}), StartAndWait);
  const pid_t guard = GuardPid();
  ASSERT_TRUE(output_->WaitFor("ready\n", 3));
  kill(guard, SIGKILL);
  ExpectLast(GuardReportKind::kGuardLost, EndCause::kItself, SIGKILL);
}

TEST_F(LockGuardTest, WhenTheGuardIsKilledBeforeItHasStartedAnything) {
  Begin(Victim({}), [](Guard& guard) {
    guard.Kill();
    PrintReports(guard);
  });
  ExpectLast(GuardReportKind::kGuardLost, EndCause::kItself, -1);
}

// --- a terminal ----------------------------------------------------------------------------------

class LockGuardTerminalTest : public LockGuardTest {
 protected:
  // As Begin, in a session with a terminal of its own.
  void BeginOnTerminal(const GuardOptions& options, const std::function<void(Guard&)>& body) {
    owner_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    ASSERT_GE(owner_, 0);
    if (owner_ == 0) {
      signal(SIGTTOU, SIG_IGN);  // as whorl does after the guard was forked
      RunOwner(options, body);
    }
    output_.emplace(terminal_);
  }
  void Press(char key) { ASSERT_EQ(write(terminal_, &key, 1), 1); }
  static constexpr char kCtrlC = 3;
  static constexpr char kCtrlZ = 26;

  int terminal_ = -1;  // output_ owns it
};

TEST_F(LockGuardTerminalTest, CtrlCReachesTheCommandAndNotWhorl) {
  BeginOnTerminal(Victim({"int"}), [](Guard& guard) {
    StartAndWait(guard);
    std::cout << (tcgetpgrp(STDIN_FILENO) == getpgrp() ? "whorl's terminal" : "lost") << "\n";
  });
  ASSERT_TRUE(output_->WaitFor("ready"));
  Press(kCtrlC);
  EXPECT_TRUE(output_->WaitFor("owner ends"));
  EXPECT_THAT(output_->text(), HasSubstr("whorl's terminal"));
  const std::string end = ReportLine(GuardReportKind::kEnded, EndCause::kItself, 5 << 8);
  EXPECT_THAT(output_->text(), HasSubstr(end.substr(0, end.size() - 1)));  // \r\n follows
}

TEST_F(LockGuardTerminalTest, CtrlZDoesNotStopTheCommand) {
  BeginOnTerminal(Victim({"int"}), StartAndWait);
  ASSERT_TRUE(output_->WaitFor("ready"));
  Press(kCtrlZ);
  EXPECT_TRUE(output_->WaitFor("report " +
                               std::to_string(static_cast<int>(GuardReportKind::kContinued)) +
                               " 0 " + std::to_string(SIGTSTP)));
  Press(kCtrlC);
  EXPECT_TRUE(output_->WaitFor("owner ends"));
}

TEST_F(LockGuardTerminalTest, TheCommandCanReadTheTerminal) {
  BeginOnTerminal(Command({"sh", "-c", "read line; echo \"got $line\""}), StartAndWait);
  ASSERT_TRUE(output_->WaitFor("report 0 0"));
  constexpr std::string_view kLine = "a line\n";
  ASSERT_EQ(write(terminal_, kLine.data(), kLine.size()), static_cast<ssize_t>(kLine.size()));
  EXPECT_TRUE(output_->WaitFor("owner ends"));
  EXPECT_THAT(output_->text(), HasSubstr("got a line"));
}

// Another job has the terminal, so the command would stop at each attempt to read.
TEST_F(LockGuardTerminalTest, ACommandInTheBackgroundThatWantsTheTerminalIsEnded) {
  owner_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
  ASSERT_GE(owner_, 0);
  if (owner_ == 0) {
    // The session's leader keeps the foreground, as a shell does.
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      signal(SIGTTOU, SIG_IGN);
      RunOwner(Command({"cat"}), StartAndWait);
    }
    waitpid(job, nullptr, 0);
    _exit(0);
  }
  output_.emplace(terminal_);
  EXPECT_TRUE(output_->WaitFor("owner ends"));
  EXPECT_THAT(
      output_->text(),
      HasSubstr("report " + std::to_string(static_cast<int>(GuardReportKind::kNeedsTerminal)) +
                " 0 " + std::to_string(SIGTTIN)));
}

// --- times ---------------------------------------------------------------------------------------

TEST(GuardTimesTest, AreFractionsOfTheLease) {
  const GuardTimes ten = TimesFor(Seconds(10), std::nullopt);
  EXPECT_EQ(ten.kill_after, Seconds(1));
  EXPECT_EQ(ten.warning, Seconds(1));
  EXPECT_EQ(ten.margin, Milliseconds(200));
  EXPECT_EQ(TimesFor(Seconds(1), std::nullopt).margin, Milliseconds(50));
  EXPECT_EQ(TimesFor(Seconds(60), std::nullopt).margin, Milliseconds(500));
  // A long grace does not make the lease run out early.
  const GuardTimes patient = TimesFor(Seconds(10), Seconds(60));
  EXPECT_EQ(patient.kill_after, Seconds(60));
  EXPECT_EQ(patient.warning, Seconds(2));
}

}  // namespace
}  // namespace whorl::cli::guard_process_test
