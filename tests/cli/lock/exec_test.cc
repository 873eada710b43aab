// `whorl lock exec` on whorl's own server: whatever happens to whorl, two commands never overlap, and
// no process is left running.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "protocol/spanner/status.h"
#include "tests/cli/lock/lock_cli_testing.h"

namespace whorl::exec_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using LockExecTest = LockCliTest;

TEST_F(LockExecTest, PassesOnTheCommandsExitCode) {
  Init("job");
  for (const int code : {0, 1, 9, 124, 255}) {
    EXPECT_THAT(Whorl("lock exec job -- sh -c 'exit " + std::to_string(code) + "'"),
                Complains(code, IsEmpty()));
  }
  EXPECT_EQ(Whorl("lock exec job -- sh -c 'kill -9 $$'").code, 128 + 9);
  EXPECT_EQ(Whorl("lock exec job -- sh -c 'kill -TERM $$'").code, 128 + 15);
}

// `pgrep -f 'whorl lock'` and ps find it by what was typed, not by the program it became.
TEST_F(LockExecTest, PsShowsWhatTheUserTyped) {
  Init("job");
  // The command's parent is the guard, and whorl is the guard's.
  constexpr const char* kPrint =
      "'read -r _ _ _ whorl _ </proc/$PPID/stat; readlink /proc/$whorl/exe; "
      "cat /proc/$whorl/comm; tr \"\\0\" \" \" </proc/$whorl/cmdline'";
  const Ended ended = Shell("PATH=\"$(dirname \"$W\"):$PATH\"; whorl lock exec job -- sh -c " +
                            std::string(kPrint) + " x");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("^/.*/whorl-grpc\nwhorl\nwhorl lock exec job -- "));
}

TEST_F(LockExecTest, TellsTheCommandItsLock) {
  Init("job");
  constexpr const char* kPrint = "'echo $WHORL_LOCK_NAME $WHORL_LOCK_ID $WHORL_LOCK_TOKEN'";
  const std::string first = Whorl(std::string("lock exec job --id me -- sh -c ") + kPrint).out;
  const std::string second = Whorl(std::string("lock exec job --id me -- sh -c ") + kPrint).out;
  EXPECT_THAT(first, testing::MatchesRegex("job me [0-9]{19}\n"));
  EXPECT_LT(first, second) << "the token does not grow";
}

// whorl does not interpret the arguments of the command.
TEST_F(LockExecTest, LeavesTheCommandsArgumentsAlone) {
  Init("job");
  EXPECT_EQ(Whorl("lock exec job -- printf '[%s]' --help '' -- --json").out,
            "[--help][][--][--json]");
}

TEST_F(LockExecTest, SaysWhyACommandCannotBeRun) {
  Init("job");
  EXPECT_THAT(Whorl("lock exec job -- whorl-no-such-command"),
              Complains(127, "whorl: whorl-no-such-command: No such file or directory\n"));
  EXPECT_THAT(Whorl("lock exec job -- /etc"), Complains(126, "whorl: /etc: Permission denied\n"));
  // And the lock was given back.
  EXPECT_EQ(Whorl("lock exec job --no-wait -- true").code, 0);
}

TEST_F(LockExecTest, GivesUpWhenAnotherHoldsTheLock) {
  Init("job");
  const std::string held = "whorl: the lock job is held by another process\n";
  const Ended ended = Shell(
      "\"$W\" lock exec job -- sh -c '"
      "\"$0\" lock exec job --no-wait -- touch a; echo $?; "
      "\"$0\" lock exec job --wait 3s -- touch a; echo $?; "
      "\"$0\" lock exec job --no-wait --conflict-exit-code 0 -- touch a; echo $?' \"$W\"");
  EXPECT_EQ(ended.out, "125\n125\n0\n");
  EXPECT_EQ(ended.err, held + held + held);
  EXPECT_FALSE(fs::exists(folder_ / "a"));
}

// Cron makes mail of every word, each night, on each machine but one. Errors are worth a mail.
TEST_F(LockExecTest, QuietSaysNothingWhereAnotherHoldsTheLock) {
  Init("job");
  const Ended ended = Shell(
      "\"$W\" lock exec job -- sh -c '"
      "\"$0\" lock exec job --no-wait --quiet -- touch a; echo $?; "
      "\"$0\" lock exec job --wait 1s --conflict-exit-code 0 --quiet -- touch a; echo $?; "
      "\"$0\" lock exec other --no-wait --must-exist --quiet -- touch a; echo $?' \"$W\"");
  EXPECT_EQ(ended.out, "125\n0\n125\n");
  EXPECT_THAT(ended.err, testing::StartsWith("whorl: there is no lock \"other\""));
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_THAT(
      Whorl("lock exec job --quiet -- true"),
      Complains(125, HasSubstr("--quiet is about giving up, which takes --wait or --no-wait")));
}

// A mistyped name would protect nothing.
TEST_F(LockExecTest, SaysThatALockIsNotThereBeforeItIsMade) {
  Init("nightly");
  const Ended made = Whorl("lock exec nihgtly --lease 1s -- echo ran");
  EXPECT_EQ(made.code, 0);
  EXPECT_EQ(
      made.err,
      "whorl: there is no lock \"nihgtly\" in fenced_locks (nearly the same: \"nightly\"); it "
      "is made now, and who makes it waits for a lease (1s) before it leads\n");
  EXPECT_THAT(Whorl("lock exec nihgtly -- true"), Ends(0));
  EXPECT_THAT(
      Whorl("lock exec other --must-exist -- touch a"),
      Complains(125, HasSubstr("there is no lock \"other\" in fenced_locks, and --must-exist")));
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_THAT(Whorl("lock get other").out, HasSubstr("there is no lock \"other\""));
  EXPECT_EQ(Whorl("lock exec nightly --must-exist -- true").code, 0);
  EXPECT_THAT(Whorl("lock exec a --must-exist --protocol spindle_v3 -- true"),
              Complains(125, HasSubstr("deletes its row")));
}

// Nobody would ever lead, in silence.
TEST_F(LockExecTest, SaysThatATableWithoutItsOnlyRowIsNobodysToTake) {
  Write("table.sql", std::string(FindProtocol("semaphore")->create_table));
  ASSERT_EQ(Whorl("lock init --ddl table.sql").code, 0);
  EXPECT_THAT(Whorl("lock exec job --protocol semaphore --wait 2s -- true").err,
              HasSubstr("there is no row in LeaderElection; nobody can take the lock until `whorl "
                        "lock init --protocol semaphore` has made it\n"));
}

// --- rows that init makes ------------------------------------------------------------------------

// A deployment that calls init at each start must not let a second process work beside the first.
TEST_F(LockExecTest, ARowThatInitMakesInThePlaceOfALostOneIsNotTakenBesideTheLeader) {
  Init("job");
  RunningWhorl first(Victim("first", {}));
  ASSERT_TRUE(first.output().WaitFor("ready\n"));
  Write("drop.sql", "DROP TABLE fenced_locks");
  ASSERT_EQ(Whorl("lock init --table other --ddl drop.sql").code, 0);
  ASSERT_THAT(Whorl("lock init job --lease 2s").out, HasSubstr("is free at 20"));
  RunningWhorl second(Victim("second", {}));
  ASSERT_TRUE(second.output().WaitFor("ready\n")) << second.output().text();
  EXPECT_EQ(first.WaitForEnd(), 125);
  second.Signal(SIGTERM);
  EXPECT_EQ(second.WaitForEnd(), 128 + SIGTERM);
  EXPECT_GT(ReadBeats("second").first, ReadBeats("first").last);
}

// It is not held, so --conflict-exit-code, which says that the job runs elsewhere, would be a lie.
TEST_F(LockExecTest, ARowThatWaitsIsNotHeldByAnotherProcess) {
  ASSERT_EQ(Whorl("lock init job").code, 0);
  const auto refused = Complains(
      125,
      testing::MatchesRegex("whorl: lock \"job\" is free at 20.*Z: whorl lock init made .*\n"));
  EXPECT_THAT(Whorl("lock exec job --no-wait --conflict-exit-code 0 -- touch a"), refused);
  EXPECT_EQ(Whorl("lock exec job --wait 2s --conflict-exit-code 0 -- touch a").code, 125);
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_THAT(Whorl("lock get job"), Ends(1, HasSubstr("free at 20")));
  ASSERT_EQ(Whorl("lock init other --lease 1s").code, 0);
  EXPECT_EQ(Whorl("lock exec other --lease 1s -- true").code, 0);
}

// --- leases that are too short -------------------------------------------------------------------

// Each call takes longer than the lease, or nearly.
TEST_F(LockExecTest, SaysThatALeaseIsTooShortForTheLatency) {
  const auto exec = [&](const std::string& latency, const std::string& options) {
    Write("faults.json", R"({"faults": [{"match": {}, "do": "latency", "add": ")" + latency +
                             R"(", "times": 0}]})");
    return Shell("export W; \"$W\" serve --database " + std::string(kLockDatabase) +
                 " --faults faults.json -- sh -c '\"$W\" lock init --new job >/dev/null && "
                 "\"$W\" lock exec job " +
                 options + " -- sleep 60'");
  };
  constexpr const char* kHint =
      "; the lease of 1s is too short for this latency: [a-z ]+ took [0-9.]+ s\n";
  const auto is_told =
      AllOf(testing::ContainsRegex(kHint), Not(HasSubstr("the guard of the command was lost")));
  EXPECT_THAT(exec("600ms", "--lease 1s --wait 10s"), Complains(125, is_told));
  EXPECT_THAT(exec("150ms", "--lease 1s"), Complains(125, is_told));
}

// --- what is held, and what only failed -------------------------------------------------------------

// A job that ends with 0 because "another does it" must be done by another: --conflict-exit-code 0 hides
// everything else.
TEST_F(LockExecTest, AFreeLockHasNoConflictWhateverSpannerSays) {
  Init("job");
  for (const char* method : {"ExecuteStreamingSql", "ExecuteSql", "Commit"}) {
    for (const Code code : whorl::AllOf<Code>()) {
      if (code == Code::kOk) continue;
      SCOPED_TRACE(std::string(method) + " " + std::string(WordOf(code)));
      database_->server()->SetFaults(
          [method = std::string_view(method), code](const server::CallInfo& call) {
            if (call.method != method) return server::FaultAction(server::LetPass{});
            return server::FaultAction(server::FailBefore{Error(code, "said by the test")});
          });
      const Ended ended = Shell(
          "x() { \"$W\" lock exec job --lease 1s --conflict-exit-code 0 \"$@\" -- touch ran; "
          "echo $?; }; x --no-wait 2>no_wait & x --wait 200ms 2>wait; wait; cat no_wait wait >&2");
      EXPECT_EQ(ended.out, "125\n125\n") << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("said by the test"));
      EXPECT_THAT(ended.err, Not(HasSubstr("held by another process")));
      EXPECT_FALSE(fs::exists(folder_ / "ran"));
    }
  }
}

TEST_F(LockExecTest, SaysAReasonOnceAndNotForEachAttempt) {
  Init("job");
  database_->server()->SetFaults([](const server::CallInfo& call) {
    if (call.method != "Commit") return server::FaultAction(server::LetPass{});
    return server::FaultAction(server::FailBefore{Error(Code::kInternal, "said by the test")});
  });
  EXPECT_THAT(
      Whorl("lock exec job --wait 2s -- true"),
      Complains(125,
                testing::MatchesRegex(
                    "whorl: take: INTERNAL: said by the test[^\n]*; still trying\n"
                    "whorl: INTERNAL: the lock job was not taken[^\n]*said by the test[^\n]*\n")));
}

// No name is taken for SQL, a file or an option.
TEST_F(LockExecTest, TakesAnyName) {
  for (const std::string name : {"x; DROP TABLE locktable; --", "\"; SELECT 1", "@name", "../../x",
                                 "\xC3\xBC \xF0\x9F\x94\x92"}) {
    Init(name);
    const Ended ended = Whorl("lock exec '" + name + "' -- sh -c 'echo \"$WHORL_LOCK_NAME\"'");
    EXPECT_EQ(ended.out, name + "\n") << ended.err;
    EXPECT_EQ(Whorl("lock get '" + name + "' --json").code, 1);
  }
}

TEST_F(LockExecTest, ALongCommandKeepsItsLockByRenewals) {
  Init("job");
  const Ended ended = Shell(
      "\"$W\" lock exec job --lease 1s -- sh -c 'sleep 3; \"$0\" lock exec job --no-wait -- true; "
      "echo $?' \"$W\"");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "125\n");
}

// --- what is done to whorl -----------------------------------------------------------------------

TEST_F(LockExecTest, CommandsDoNotOverlapWhenWhorlIsKilled) {
  Init("job");
  RunningWhorl first(Victim("first", {"ignore", "group", "daemon"}));
  ASSERT_TRUE(first.output().WaitFor("ready\n", 3)) << first.output().text();
  RunningWhorl second(Victim("second", {}));
  first.Signal(SIGKILL);
  EXPECT_EQ(first.WaitForEnd(), 128 + SIGKILL);  // and nothing is left
  EXPECT_THAT(first.output().text(), HasSubstr("whorl: whorl itself was killed"));
  ASSERT_TRUE(second.output().WaitFor("ready\n"));
  second.Signal(SIGTERM);
  EXPECT_EQ(second.WaitForEnd(), 128 + SIGTERM);
  const int64_t gap = ReadBeats("second").first - ReadBeats("first").last;
  std::cout << "nobody ran for " << gap / 1'000'000 << " ms\n";
  EXPECT_GT(gap, 0);
}

TEST_F(LockExecTest, CommandsDoNotOverlapWhenWhorlIsStopped) {
  Init("job");
  RunningWhorl first(Victim("first", {"ignore", "group", "daemon"}));
  ASSERT_TRUE(first.output().WaitFor("ready\n", 3)) << first.output().text();
  RunningWhorl second(Victim("second", {}));
  first.Signal(SIGSTOP);
  ASSERT_TRUE(second.output().WaitFor("ready\n"));
  first.Signal(SIGCONT);
  EXPECT_EQ(first.WaitForEnd(), 125);
  EXPECT_THAT(first.output().text(), HasSubstr("was not renewed in time"));
  second.Signal(SIGINT);
  EXPECT_EQ(second.WaitForEnd(), 128 + SIGINT);
  const int64_t gap = ReadBeats("second").first - ReadBeats("first").last;
  std::cout << "nobody ran for " << gap / 1'000'000 << " ms\n";
  EXPECT_GT(gap, 0);
}

// As long as the lock is renewed, nothing else would show that the guard could not end the command.
TEST_F(LockExecTest, AGuardThatIsStoppedIsContinued) {
  Init("job");
  RunningWhorl whorl(Victim("beats", {}, "1s"));
  ASSERT_TRUE(whorl.output().WaitFor("ready\n"));
  std::ifstream children("/proc/" + std::to_string(whorl.pid()) + "/task/" +
                         std::to_string(whorl.pid()) + "/children");
  pid_t guard = -1;
  ASSERT_TRUE(children >> guard);
  kill(guard, SIGSTOP);
  ASSERT_TRUE(whorl.output().WaitFor("the guard of the command does not answer; it is continued"));
  // It works again: it hears that whorl is to end.
  whorl.Signal(SIGTERM);
  EXPECT_EQ(whorl.WaitForEnd(), 128 + SIGTERM);
}

TEST_F(LockExecTest, ASignalToWhorlEndsTheCommandAndGivesTheLockBack) {
  Init("job");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    RunningWhorl whorl(Victim("beats", {"daemon"}, "20s"));
    ASSERT_TRUE(whorl.output().WaitFor("ready\n", 2)) << whorl.output().text();
    whorl.Signal(signal);
    EXPECT_EQ(whorl.WaitForEnd(), 128 + signal) << whorl.output().text();
    EXPECT_EQ(Whorl("lock get job").code, 1);
  }
}

TEST_F(LockExecTest, ACommandThatIgnoresSignalsIsKilled) {
  Init("job");
  RunningWhorl whorl(Victim("beats", {"ignore", "group", "daemon"}));
  ASSERT_TRUE(whorl.output().WaitFor("ready\n", 3)) << whorl.output().text();
  whorl.Signal(SIGTERM);
  EXPECT_EQ(whorl.WaitForEnd(), 128 + SIGKILL);
  EXPECT_EQ(Whorl("lock get job").code, 1);
}

TEST_F(LockExecTest, ASignalWhileItWaitsStartsNothing) {
  Init("job");
  RunningWhorl holder(Victim("first", {}, "60s"));
  ASSERT_TRUE(holder.output().WaitFor("ready\n"));
  RunningWhorl waiter(Victim("second", {}));
  // It waits once it has asked who holds the lock.
  std::promise<void> asked;
  std::atomic<bool> told = false;
  database_->server()->SetObserver([&](const server::CallInfo& call, server::CallPhase stage,
                                       const Status&) {
    const bool read = call.method == "ExecuteStreamingSql" && stage == server::CallPhase::kAnswered;
    if (read && !told.exchange(true)) asked.set_value();
  });
  asked.get_future().wait();
  waiter.Signal(SIGTERM);
  EXPECT_EQ(waiter.WaitForEnd(), 128 + SIGTERM);
  EXPECT_FALSE(fs::exists(folder_ / "second"));
  holder.Signal(SIGTERM);
  EXPECT_EQ(holder.WaitForEnd(), 128 + SIGTERM);
  database_->server()->SetObserver({});
}

TEST_F(LockExecTest, WithATerminalCtrlCIsTheCommands) {
  Init("job");
  RunningWhorl whorl(Victim("beats", {"int"}), true);
  ASSERT_TRUE(whorl.output().WaitFor("ready")) << whorl.output().text();
  constexpr char kCtrlZ = 26;
  constexpr char kCtrlC = 3;
  whorl.Press(kCtrlZ);
  ASSERT_TRUE(whorl.output().WaitFor("cannot be stopped; it goes on")) << whorl.output().text();
  whorl.Press(kCtrlC);
  EXPECT_EQ(whorl.WaitForEnd(), 5);
}

TEST_F(LockExecTest, WhatTheCommandLeavesInTheBackgroundEndsBeforeTheLockIsGivenBack) {
  Init("job");
  RunningWhorl whorl(Victim("beats", {"ignore", "daemon", "exit"}));
  EXPECT_EQ(whorl.WaitForEnd(), 0) << whorl.output().text();
  EXPECT_EQ(Whorl("lock exec job --no-wait -- true").code, 0);
}

// --- a command that does not end -------------------------------------------------------------------

// A dead job with live renewals keeps the others from working.
TEST_F(LockExecTest, ACommandThatRunsForTooLongIsToldToEnd) {
  Init("job");
  EXPECT_THAT(
      Whorl("lock exec job --max-hold 300ms -- sh -c 'trap \"exit 7\" TERM; while :; do :; done'"),
      Complains(124,
                "whorl: the command has held the lock for 300ms (--max-hold) and is "
                "being ended\n"));
  EXPECT_EQ(Whorl("lock exec job --no-wait -- true").code, 0) << "the lock was not given back";
  EXPECT_THAT(Whorl("lock exec job --max-hold 1h -- sh -c 'exit 7'"), Complains(7, IsEmpty()));
}

// Otherwise the next would work beside it: it lives here for three leases after it was told to end.
TEST_F(LockExecTest, TheLockIsRenewedUntilACommandThatRanForTooLongHasEnded) {
  Init("job");
  std::vector<std::string> words = Victim("first", {"ignore", "daemon"}, "1s");
  words.insert(words.begin() + 3, {"--max-hold", "200ms", "--kill-after", "3s"});
  RunningWhorl first(words);
  ASSERT_TRUE(first.output().WaitFor("ready\n", 2)) << first.output().text();
  RunningWhorl second(Victim("second", {"exit"}, "1s"));
  EXPECT_EQ(first.WaitForEnd(), 124) << first.output().text();
  EXPECT_EQ(second.WaitForEnd(), 0) << second.output().text();
  const Beats held = ReadBeats("first");
  EXPECT_GT(held.last - held.first, Seconds(2).ns);
  EXPECT_LT(held.last, ReadBeats("second").first);
}

TEST_F(LockExecTest, ACommandThatDoesNotTouchItsFileIsToldToEnd) {
  Init("job");
  // One of yesterday, and it does not count as touched because it is there.
  Write("beat", "");
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24);
  fs::last_write_time(folder_ / "beat", old);
  std::vector<std::string> words = Victim("beats", {});
  const std::string file = (folder_ / "beat").string();
  words.insert(words.begin() + 3, {"--alive-file", file, "--alive-within", "400ms"});
  RunningWhorl whorl(words);
  EXPECT_EQ(whorl.WaitForEnd(), 124);
  EXPECT_THAT(whorl.output().text(), HasSubstr("whorl: the command has not touched " + file +
                                               " for 400ms (--alive-within) and is being ended\n"));
  EXPECT_GT(fs::last_write_time(folder_ / "beat"), old);
  EXPECT_EQ(Whorl("lock exec job --no-wait -- true").code, 0) << "the lock was not given back";
}

TEST_F(LockExecTest, ACommandThatTouchesItsFileGoesOn) {
  Init("job");
  EXPECT_THAT(
      Whorl("lock exec job --alive-file beat --alive-within 1s -- sh -c 'cd /; i=0; "
            "while [ $i -lt 25 ]; do touch \"$WHORL_ALIVE_FILE\"; sleep 0.1; i=$((i + 1)); done'"),
      Complains(0, IsEmpty()));
  EXPECT_TRUE(fs::exists(folder_ / "beat"));
}

TEST_F(LockExecTest, LimitsThatMakeNoSenseAreRefused) {
  EXPECT_THAT(Whorl("lock exec job --alive-file beat -- true"),
              Complains(125, HasSubstr("--alive-file takes --alive-within TIME")));
  EXPECT_THAT(Whorl("lock exec job --alive-within 1s -- true"),
              Complains(125, HasSubstr("name it by --alive-file FILE")));
  EXPECT_THAT(Whorl("lock exec job --alive-file no/beat --alive-within 1s -- true"),
              Complains(125, HasSubstr("/no/beat cannot be made: No such file or directory")));
  EXPECT_THAT(Whorl("lock exec job --max-hold 0s -- true"),
              Complains(125, HasSubstr("--max-hold wants at least 1ms")));
  EXPECT_FALSE(fs::exists(folder_ / "beat"));
}

// --- what happens to the lock --------------------------------------------------------------------

TEST_F(LockExecTest, ALockThatIsLostEndsTheCommand) {
  Init("job");
  RunningWhorl whorl(Victim("beats", {"group"}));
  ASSERT_TRUE(whorl.output().WaitFor("ready\n", 2)) << whorl.output().text();
  EXPECT_THAT(Whorl("lock release --force job --lease 2s"),
              Complains(0, AllOf(HasSubstr("holds lock \"job\""), HasSubstr("fencing tokens"))));
  EXPECT_EQ(whorl.WaitForEnd(), 125);
  EXPECT_THAT(whorl.output().text(),
              HasSubstr("lock \"job\" was lost; the command is being ended"));
}

TEST_F(LockExecTest, WithoutAServerTheCommandEndsByItsDeadline) {
  Init("job");
  RunningWhorl whorl(Victim("beats", {"ignore"}));
  ASSERT_TRUE(whorl.output().WaitFor("ready\n")) << whorl.output().text();
  database_.reset();
  EXPECT_EQ(whorl.WaitForEnd(), 125);
  EXPECT_THAT(whorl.output().text(), HasSubstr("whorl: "));
}

// --- with every protocol -------------------------------------------------------------------------

// Side by side, since they do nothing but wait.
TEST(LockExecProtocolsTest, RunACommandForLongerThanALease) {
  std::vector<std::unique_ptr<LockDatabase>> databases;
  std::vector<std::unique_ptr<RunningWhorl>> running;
  // Of a protocol that keeps its rows, and makes them itself, the first start says that there was none.
  const std::vector<std::pair<const char*, std::string>> protocols = {
      {"spindle_v2", "whorl: there is no lock \"job\" in locktable; it is made now\n"},
      {"spindle_v3", ""},
      {"semaphore", ""},
      {"lease_lock", ""}};
  for (const auto& [protocol, says] : protocols) {
    databases.push_back(ServeModel(protocol));
    setenv("SPANNER_EMULATOR_HOST", databases.back()->Connection().endpoint.c_str(), 1);
    running.push_back(std::make_unique<RunningWhorl>(
        Words("lock exec job --database " + std::string(kLockDatabase) + " --protocol " + protocol +
              " --lease 5s -- sleep 6")));
  }
  unsetenv("SPANNER_EMULATOR_HOST");
  for (size_t i = 0; i < running.size(); ++i) {
    EXPECT_EQ(running[i]->WaitForEnd(), 0) << running[i]->output().text();
    EXPECT_EQ(running[i]->output().text(), protocols[i].second);
  }
}

}  // namespace
}  // namespace whorl::exec_test
