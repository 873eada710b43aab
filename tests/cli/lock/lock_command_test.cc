// `whorl lock run`, `init`, `get`, `list` and `release`, and their messages about errors.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "google/spanner/admin/database/v1/spanner_database_admin.grpc.pb.h"
#include "protocol/protocols.h"
#include "real_client/admin_client.h"
#include "tests/cli/json_lines.h"
#include "tests/cli/lock/lock_cli_testing.h"
#include "tests/support/client_waits.h"

namespace whorl::lock_command_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

// Expects one sentence on standard error, and nothing on standard output.
void ExpectComplaint(const Ended& ended, int code, const std::string& sentence) {
  EXPECT_EQ(ended.code, code) << ended.err;
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, AllOf(StartsWith("whorl: "), ContainsRegex(sentence)));
  EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
}

// `whorl lock run job` with these options, which leads.
struct Leader : RunningWhorl {
  explicit Leader(const std::string& options = "")
      : RunningWhorl(Words("lock run job " + options)) {
    EXPECT_TRUE(output().WaitFor("leads with token")) << output().text();
  }
};

// --- get, list, release --------------------------------------------------------------------------

void SpannerSaysNo(LockDatabase& database) {
  database.server()->SetFaults([](const server::CallInfo&) {
    return server::FailBefore{Error(Code::kPermissionDenied, "the test says no")};
  });
}

// As when the retention period is over: the first read is that of the row as it is now.
void SpannerSaysNoToOldReads(LockDatabase& database) {
  database.server()->SetFaults([reads = std::make_shared<std::atomic<int>>(0)](
                                   const server::CallInfo& call) -> server::FaultAction {
    if (call.method != "ExecuteStreamingSql" || ++*reads == 1) return server::LetPass{};
    return server::FailBefore{Error(Code::kFailedPrecondition, "exceeds maximum staleness")};
  });
}

TEST_F(LockCliTest, SaysWhoHoldsALock) {
  Init("job");
  Init("free one");
  EXPECT_EQ(Whorl("lock get 'no such row'").code, 1);
  const Ended free = Whorl("lock get job --json");
  EXPECT_EQ(free.code, 1);
  EXPECT_EQ(json::parse(free.out)["held"], false);
  const Ended ended = Shell(
      "\"$W\" lock exec job --id me -- sh -c 'echo $WHORL_LOCK_TOKEN; \"$0\" lock get job --json; "
      "\"$0\" lock list' \"$W\"");
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::istringstream lines(ended.out);
  std::string token;
  std::string got;
  std::getline(lines, token);
  std::getline(lines, got);
  const json held = json::parse(got);
  EXPECT_EQ(held["held"], true);
  EXPECT_EQ(held["holder"], "me");
  EXPECT_EQ(held["token_ns"], token);
  const double left = std::stod(held["left"].get<std::string>());
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 10);
  const std::string table(std::istreambuf_iterator<char>(lines), {});
  EXPECT_THAT(table, MatchesRegex("lock      holder  since +token +lease left\n"
                                  "free one  -       -  +-  +free\n"
                                  "job       me      20.*Z  20.*Z  +[0-9]\\.[0-9]{3} s\n"));
}

// The `number`-th script of examples/operating/README.md, where files are written into this folder.
std::string ScriptOfOperators(int number, const std::string& folder) {
  const std::string page = ReadText(WHORL_SOURCE_DIR "/examples/operating/README.md");
  constexpr std::string_view kBegin = "```sh\n";
  size_t begin = 0;
  for (int i = 0; i < number; ++i) begin = page.find(kBegin, begin) + kBegin.size();
  return Replaced(page.substr(begin, page.find("```", begin) - begin), "/var/lib/node_exporter",
                  folder);
}

// Scripts that are copied: one that says nothing when nobody has ever run is worse than none.
class OperatorsScriptTest : public LockCliTest {
 protected:
  OperatorsScriptTest() {
    Write("whorl", "#!/bin/sh\nexec " WHORL_COMMAND " \"$@\"\n");
    Write("mail", "#!/bin/sh\necho \"$2\" to \"$3\"\n");
    fs::permissions(folder_ / "whorl", fs::perms::owner_all);
    fs::permissions(folder_ / "mail", fs::perms::owner_all);
  }
  Ended Script(int number, const std::string& before = "") {
    Write("script.sh", ScriptOfOperators(number, folder_.string()));
    return Shell("PATH=\"" + folder_.string() + ":$PATH\" " + before + " sh script.sh");
  }
};

TEST_F(OperatorsScriptTest, TheMailTellsHasNotRunFromCannotTell) {
  Init("nightly");
  EXPECT_EQ(Script(1).out, "nightly has not run to ops@example.com\n");
  EXPECT_EQ(Script(1, "SPANNER_EMULATOR_HOST=127.0.0.1:1").out,
            "nobody knows whether nightly has run to ops@example.com\n");
  ASSERT_EQ(Whorl("lock exec nightly -- true").code, 0);
  EXPECT_EQ(Script(1).out, "");
}

TEST_F(OperatorsScriptTest, TheMetricIsThereForALockThatWasNeverHeld) {
  if (Shell("jq --version").code != 0) GTEST_SKIP() << "no jq, which the script needs";
  const fs::path file = folder_ / "whorl_nightly.prom";
  const std::string name = R"(whorl_lock_last_held_timestamp_seconds{lock="nightly"} )";
  Init("nightly");
  ASSERT_EQ(Script(2).code, 0);
  EXPECT_EQ(ReadText(file), name + "0\n");
  ASSERT_EQ(Whorl("lock exec nightly -- true").code, 0);
  ASSERT_EQ(Script(2).code, 0);
  const std::string was_held = ReadText(file);
  EXPECT_THAT(was_held, MatchesRegex("whorl_lock_last_held.* [1-9][0-9]{9}\n"));
  // No answer is no reason to say that it was never held.
  EXPECT_EQ(Script(2, "SPANNER_EMULATOR_HOST=127.0.0.1:1").code, 3);
  EXPECT_EQ(ReadText(file), was_held);
  Write("while_held.sh", ScriptOfOperators(2, folder_.string()));
  ASSERT_EQ(Shell("rm whorl_nightly.prom; PATH=\"" + folder_.string() +
                  ":$PATH\" whorl lock exec nightly -- sh while_held.sh")
                .code,
            0);
  EXPECT_THAT(ReadText(file), MatchesRegex("whorl_lock_last_held.* [1-9][0-9]{9}\n"));
}

TEST_F(OperatorsScriptTest, ASuccessLeavesAMarkAndAFailureDoesNot) {
  Init("nightly");
  const fs::path file = folder_ / "nightly_success.prom";
  EXPECT_EQ(Script(3).code, 127);
  EXPECT_FALSE(fs::exists(file));
  Write("backup.sh", "#!/bin/sh\n");
  fs::permissions(folder_ / "backup.sh", fs::perms::owner_all);
  EXPECT_EQ(Script(3).code, 0);
  EXPECT_THAT(ReadText(file), MatchesRegex("nightly_last_success_timestamp_seconds [0-9]+\n"));
}

// "Did the nightly job run?" is asked in the morning, when nobody holds its lock.
TEST_F(LockCliTest, SaysUntilWhenAFreeLockWasHeldAndByWhom) {
  Init("job");
  Init("never");
  ASSERT_EQ(Whorl("lock exec job --id pod-a -- true").code, 0);
  const json got = json::parse(Whorl("lock get job --json").out);
  EXPECT_EQ(got["held"], false);
  EXPECT_EQ(got["last_holder"], "pod-a");
  EXPECT_THAT(got["last_held_until"].get<std::string>(), MatchesRegex("20.*Z"));
  EXPECT_FALSE(json::parse(Whorl("lock get never --json").out).contains("last_held_until"));
  EXPECT_THAT(Whorl("lock list").out,
              MatchesRegex("lock   holder  since  token  last held until +by +lease left\n"
                           "job    -       -      -      20[^ ]+Z +pod-a +free\n"
                           "never  -       -      -      -  +-  +free\n"));
  EXPECT_EQ(Whorl("lock get job --held-within 1h").code, 0);
  EXPECT_EQ(Whorl("lock get job --held-within 1us").code, 1);
  EXPECT_EQ(Whorl("lock get never --held-within 1h").code, 1);
  for (const auto& [words, code] : {std::pair{"job --held-within 1h", 0}, std::pair{"never", 1}}) {
    const Ended quiet = Whorl(std::string("lock get --quiet ") + words);
    EXPECT_EQ(quiet.code, code) << words;
    EXPECT_EQ(quiet.out + quiet.err, "") << words;
  }
  EXPECT_THAT(Whorl("lock get job --quiet --json"),
              Complains(2, HasSubstr("--quiet prints nothing, and --json one object")));
  // The row's version from before its release is gone.
  SpannerSaysNoToOldReads(*database_);
  EXPECT_THAT(Whorl("lock get job").out, HasSubstr("not known"));
}

TEST_F(LockCliTest, AListWithoutLocks) {
  EXPECT_EQ(Whorl("lock list").out, "no locks in fenced_locks\n");
  EXPECT_EQ(Whorl("lock list --json").out, "[]\n");
}

TEST_F(LockCliTest, ReleaseWantsForce) {
  Init("job");
  ExpectComplaint(Whorl("lock release job"), 2, "release --force ends its lease from outside");
  ExpectComplaint(Whorl("lock release --force nothing"), 1, "there is no lock \"nothing\"");
  EXPECT_EQ(Whorl("lock release --force job").out, "the lease of lock \"job\" was ended\n");
}

// A process that has taken the lock since the operator looked keeps it.
TEST_F(LockCliTest, ReleaseFreesOnlyWhomItIsMeantFor) {
  Init("job");
  Leader run("--id one");
  const std::string kept = "the lock job is held by one, with token [0-9]+; nothing was released";
  ExpectComplaint(Whorl("lock release --force job --holder two"), 1, kept);
  ExpectComplaint(Whorl("lock release --force job --token 5"), 1, kept);
  ExpectComplaint(Whorl("lock release --force job --token 5 --holder one"), 1, kept);
  const json held = json::parse(Whorl("lock get job --json").out);
  const std::string token = held["token"].get<std::string>();
  EXPECT_EQ(Whorl("lock release --force job --holder one --token " + token).code, 0);
  EXPECT_TRUE(run.output().WaitFor("leads with token", 2));
  const json again = json::parse(Whorl("lock get job --json").out);
  const std::string number = again["token_ns"].get<std::string>();
  EXPECT_EQ(Whorl("lock release --force job --token " + number).code, 0);
  ExpectComplaint(Whorl("lock release --force job --token yesterday"), 2,
                  "--token wants the holder's token, a number or a time");
  ExpectComplaint(Whorl("lock release --force job --protocol semaphore --token 5"), 2,
                  "semaphore has no tokens");
}

TEST_F(LockCliTest, AListComesInPages) {
  for (const char* name : {"a1", "a2", "b1", "b2", "b3"}) Init(name);
  const auto names = [&](const std::string& options) {
    std::string found;
    for (const json& lock : json::parse(Whorl("lock list --json " + options).out)) {
      found += lock["lock"].get<std::string>() + " ";
    }
    return found;
  };
  EXPECT_EQ(names(""), "a1 a2 b1 b2 b3 ");
  EXPECT_EQ(names("--prefix b"), "b1 b2 b3 ");
  EXPECT_EQ(names("--prefix b --limit 2"), "b1 b2 ");
  EXPECT_EQ(names("--prefix b --after b2"), "b3 ");
  EXPECT_EQ(Whorl("lock list --limit 2").err, "whorl: there may be more: --after a2\n");
  EXPECT_EQ(Whorl("lock list --limit 9").err, "");
}

TEST_F(LockCliTest, AListOfMoreThanAPageIsWhole) {
  std::string all;
  for (int i = 0; i < 1500; ++i) all += " n" + std::to_string(i);
  ASSERT_EQ(Shell("\"$W\" lock init --new" + all + " >/dev/null").code, 0);
  EXPECT_EQ(json::parse(Whorl("lock list --json").out).size(), 1500U);
}

TEST_F(LockCliTest, DeletesRowsOfLocksThatNobodyHolds) {
  Init("job");
  Leader run;
  ExpectComplaint(Whorl("lock delete job"), 1, "the lock job is held");
  EXPECT_EQ(Whorl("lock delete --older-than 1ns").out, "0 locks deleted\n");
  EXPECT_EQ(run.EndBy(SIGTERM), 0);
  EXPECT_EQ(Whorl("lock delete --older-than 1h").out, "0 locks deleted\n");
  EXPECT_THAT(Whorl("lock delete --older-than 1ns --dry-run").out,
              MatchesRegex("would delete \"job\", last used 20.*Z\n1 lock would be deleted\n"));
  EXPECT_EQ(Whorl("lock delete job").out, "deleted \"job\"\n");
  ExpectComplaint(Whorl("lock delete job"), 1, "there is no lock \"job\"");
  Init("other");
  EXPECT_THAT(Whorl("lock delete --older-than 1ns --prefix oth").out,
              MatchesRegex("deleted \"other\", last used 20.*Z\n1 lock deleted\n"));
  // It can be taken again.
  EXPECT_EQ(Whorl("lock exec job --lease 1s -- true").code, 0);
  ExpectComplaint(Whorl("lock delete job --protocol spindle_v2"), 2, "needs the rows of its locks");
  ExpectComplaint(Whorl("lock delete"), 2, "names of locks, or --older-than");
}

// --- init ----------------------------------------------------------------------------------------

TEST(LockInitTest, MakesWhatEachProtocolNeedsAndFindsItAgain) {
  for (const ProtocolInfo& info : Protocols()) {
    SCOPED_TRACE(info.name);
    const auto database = ServeModel("");
    const std::string lock = "SPANNER_EMULATOR_HOST=" + database->Connection().endpoint +
                             " WHORL_DATABASE=" + kLockDatabase + " " WHORL_COMMAND " lock ";
    const std::string of = " --table other_table --protocol " + std::string(info.name);
    const std::string init = lock + "init --new job" + of + " >/dev/null 2>&1";
    for (const std::string& line : {init, init, lock + "exec job" + of + " -- true"}) {
      EXPECT_EQ(std::system(line.c_str()), 0) << line;  // NOLINT(concurrency-mt-unsafe)
    }
  }
}

TEST_F(LockCliTest, InitSaysWhatItMade) {
  const std::string there = "table fenced_locks is there already, as fenced_lease needs it\n";
  EXPECT_EQ(Whorl("lock init --new a b").out,
            there + "lock \"a\" can be taken\nlock \"b\" can be taken\n");
  EXPECT_EQ(Whorl("lock init a").out, there + "lock \"a\" is there already\n");
  EXPECT_THAT(
      Whorl("lock init c --lease 20s").out,
      MatchesRegex(there + "lock \"c\" is free at 20.*Z; --new if the lock never existed\n"));
  EXPECT_THAT(Whorl("lock init c").out, HasSubstr("lock \"c\" was made before, and is free at 20"));
  EXPECT_THAT(Whorl("lock list").out, ContainsRegex("c +-  +-  +-  +free at 20.*Z\n"));
  EXPECT_EQ(Whorl("lock init --new c").out, there + "lock \"c\" can be taken\n");
  EXPECT_EQ(Whorl("lock exec c --no-wait -- true").code, 0);
  EXPECT_THAT(Whorl("lock init --protocol semaphore").out,
              MatchesRegex("made table LeaderElection for semaphore\nthe row of LeaderElection is "
                           "free at 20.*Z; --new if the lock never existed\n"));
  EXPECT_THAT(Whorl("lock init --protocol semaphore --new").out,
              HasSubstr("the row of LeaderElection can be taken\n"));
  EXPECT_EQ(Whorl("lock init --protocol spindle_v2").out, "made table locktable for spindle_v2\n");
  ExpectComplaint(Whorl("lock init --lease 2h a"), 2, "a lease of 7200s is too long");
}

TEST_F(LockCliTest, InitDoesTheDdlOfAFileToo) {
  Write("more.sql",
        "-- Comments; with semicolons\nCREATE TABLE a (k INT64) PRIMARY KEY (k);\n"
        "CREATE TABLE b (k INT64, # here, too;\n  v INT64) PRIMARY KEY (k);\n\n");
  EXPECT_THAT(Whorl("lock init --ddl more.sql").out,
              HasSubstr("did \"CREATE TABLE a \"\ndid \"CREATE TABLE b \"\n"));
  EXPECT_THAT(Whorl("lock init --ddl more.sql").out,
              HasSubstr("done already: \"CREATE TABLE a \"\ndone already: \"CREATE TABLE b"));
  Write("wrong.sql", "CREATE TABEL c;");
  ExpectComplaint(Shell("\"$W\" lock init --ddl wrong.sql >/dev/null"), 3, "TABEL");
  ExpectComplaint(Whorl("lock init --ddl none.sql"), 2, "--ddl: \"none.sql\" cannot be read");
}

TEST_F(LockCliTest, InitRefusesATableOfAnotherShape) {
  ExpectComplaint(Whorl("lock init --protocol spindle_v3 --table fenced_locks"), 3,
                  "table fenced_locks that is not as spindle_v3 needs it: it has no column OWNER");
}

TEST_F(LockCliTest, InitCanMakeTheDatabase) {
  const std::string other = "projects/test-project/instances/test-instance/databases/other";
  ExpectComplaint(Whorl("lock init --database " + other), 3,
                  "NOT_FOUND: .*[Dd]atabase.*lock init --create-database");
  EXPECT_THAT(Whorl("lock init --create-database job --database " + other),
              Ends(0, StartsWith("made database " + other + "\nmade table fenced_locks")));
  EXPECT_EQ(Whorl("lock init --create-database --database " + other).code, 0);
  EXPECT_EQ(Whorl("lock exec job --database " + other + " -- true").code, 0);
}

// --- run -----------------------------------------------------------------------------------------

TEST_F(LockCliTest, RunLogsHowALockPasses) {
  Init("job");
  Leader first("--id one");
  RunningWhorl second(Words("lock run job --id two --json"));
  ASSERT_TRUE(second.output().WaitFor("\"started\""));
  EXPECT_EQ(first.EndBy(SIGTERM), 0);
  EXPECT_THAT(first.output().text(),
              ContainsRegex("Z job: takes part as one, by fenced_lease with a lease of 10s\n"));
  EXPECT_THAT(first.output().text(), ContainsRegex("Z job: leads no longer\n"));
  EXPECT_THAT(first.output().text(), ContainsRegex("Z stopped\n$"));
  ASSERT_TRUE(second.output().WaitFor("\"leads\"")) << second.output().text();
  EXPECT_EQ(second.EndBy(SIGINT), 0);
  std::map<std::string, int> events;
  int number = 0;
  for (const json& event : JsonLines(second.output().text())) {
    EXPECT_EQ(event["id"], "two");
    EXPECT_EQ(event["n"], ++number);
    EXPECT_THAT(event["time"].get<std::string>(), MatchesRegex("20.*T.*Z"));
    ++events[event["event"].get<std::string>()];
    if (event["event"] == "leads") {
      EXPECT_THAT(event["token"].get<std::string>(), Not(IsEmpty()));
    }
  }
  EXPECT_EQ(events["started"], 1);
  EXPECT_EQ(events["leads"], 1);
  EXPECT_EQ(events["lost"], 1);
  EXPECT_EQ(events["stopped"], 1);
}

// To judge the log, one has to know until when the process believed.
TEST_F(LockCliTest, RunLogsRenewalsInJsonOnly) {
  Init("job");
  RunningWhorl json_run(Words("lock run job --lease 1s --json"));
  ASSERT_TRUE(json_run.output().WaitFor("\"renewed\"", 2)) << json_run.output().text();
  EXPECT_EQ(json_run.EndBy(SIGTERM), 0);
  for (const json& event : JsonLines(json_run.output().text())) {
    if (event["event"] != "renewed") continue;
    EXPECT_EQ(event["lock"], "job");
    const double left = std::stod(event["left"].get<std::string>());
    EXPECT_GT(left, 0);
    EXPECT_LE(left, 1);
  }
  Leader text_run("--lease 1s");
  // They outlive calls that the server answers while this test ends.
  const auto commits = std::make_shared<std::atomic<int>>(0);
  const auto renewed = std::make_shared<std::promise<void>>();
  database_->server()->SetObserver(
      [commits, renewed](const server::CallInfo& call, server::CallPhase stage, const Status&) {
        const bool is_done = call.method == "Commit" && stage == server::CallPhase::kAnswered;
        if (is_done && ++*commits == 2) renewed->set_value();
      });
  renewed->get_future().wait();
  EXPECT_EQ(text_run.EndBy(SIGTERM), 0);
  EXPECT_THAT(text_run.output().text(), Not(HasSubstr("job: renewed")));
}

TEST_F(LockCliTest, RunTakesPartInSeveralLocksAndAppendsToAFile) {
  Init("a");
  Init("b");
  Write("log", "before\n");
  RunningWhorl run(Words("lock run a b --out " + (folder_ / "log").string()));
  ASSERT_TRUE(RunsUntil([&] { return Whorl("lock get a").code + Whorl("lock get b").code == 0; }));
  EXPECT_EQ(run.EndBy(SIGTERM), 0);
  EXPECT_THAT(run.output().text(), IsEmpty());
  EXPECT_THAT(ReadText(folder_ / "log"), AllOf(StartsWith("before\n"), HasSubstr("Z a: leads"),
                                               HasSubstr("Z b: leads"), HasSubstr("Z stopped\n")));
}

TEST_F(LockCliTest, ALogThatCannotBeWrittenEndsRunAndGivesTheLockBack) {
  Init("job");
  ExpectComplaint(Shell("\"$W\" lock run job >/dev/full"), 3, "No space left on device");
  ExpectComplaint(Whorl("lock run job --out /dev/full"), 3,
                  "/dev/full: cannot be written: No space");
  ExpectComplaint(Whorl("lock run job --out no/such/folder/log"), 3, "No such file or directory");
  EXPECT_EQ(Whorl("lock get job").code, 1);
}

TEST_F(LockCliTest, RunServesMetrics) {
  Init("job");
  const std::string address = "127.0.0.1:" + std::to_string(FreePort());
  Leader run("--lease 1s --metrics " + address);
  ExpectComplaint(Whorl("lock run other --metrics " + address), 3, "the port is taken");
  EXPECT_EQ(Whorl("lock exec other --metrics " + address + " -- true").code, 125);
  std::string text;
  ASSERT_TRUE(RunsUntil([&] {
    text = Shell("bash -c 'exec 3<>/dev/tcp/127.0.0.1/" + address.substr(10) +
                 "; printf \"GET /metrics HTTP/1.0\\r\\n\\r\\n\" >&3; cat <&3'")
               .out;
    return text.find("step=\"beat\"") != std::string::npos;
  })) << text;
  const std::string labels = "{protocol=\"fenced_lease\"} ";
  EXPECT_THAT(text, HasSubstr("\nwhorl_build_info{version=\""));
  EXPECT_THAT(text, HasSubstr("\nwhorl_locks" + labels + "1\n"));
  EXPECT_THAT(text, HasSubstr("\nwhorl_locks_led" + labels + "1\n"));
  EXPECT_THAT(text, ContainsRegex("\nwhorl_lock_last_heartbeat_timestamp_seconds.* 1[0-9.e+]+\n"));
  EXPECT_THAT(text, HasSubstr("\nwhorl_lock_terms_total" + labels + "1\n"));
  EXPECT_THAT(text, HasSubstr("\nwhorl_lock_heartbeats_failed_total" + labels + "0\n"));
  EXPECT_THAT(text, Not(HasSubstr("lock=\"job\"")));
  EXPECT_THAT(text, HasSubstr("# TYPE whorl_lock_transaction_duration_seconds histogram\n"));
  EXPECT_EQ(run.EndBy(SIGTERM), 0);
}

TEST_F(LockCliTest, RunSaysWhenSpannerDoesNotAnswerAndWhenItDoesAgain) {
  Init("job");
  Leader run("--lease 1s");
  SpannerSaysNo(*database_);
  EXPECT_TRUE(run.output().WaitFor("beat: PERMISSION_DENIED: the test says no"));
  EXPECT_TRUE(run.output().WaitFor("leads no longer"));
  database_->server()->SetFaults({});
  EXPECT_TRUE(run.output().WaitFor("Spanner answers again"));
  EXPECT_TRUE(run.output().WaitFor("leads with token", 2));
  EXPECT_EQ(run.EndBy(SIGTERM), 0);
}

// Reads are answered while every write is denied.
TEST_F(LockCliTest, RunDoesNotTakeAReadForTheEndOfTheTrouble) {
  Init("job");
  Leader run("--lease 1s");
  std::atomic<int> reads = 0;
  database_->server()->SetFaults([&reads](const server::CallInfo& call) -> server::FaultAction {
    if (call.method == "ExecuteStreamingSql") ++reads;
    if (call.method != "ExecuteSql") return server::LetPass{};
    return server::FailBefore{Error(Code::kPermissionDenied, "the test denies writes")};
  });
  ASSERT_TRUE(run.output().WaitFor("beat: PERMISSION_DENIED: the test denies writes"));
  ASSERT_TRUE(run.output().WaitFor("take: PERMISSION_DENIED: the test denies writes"));
  const int seen = reads;
  ASSERT_TRUE(RunsUntil([&] { return Whorl("lock get job").code >= 0 && reads >= seen + 6; }));
  EXPECT_THAT(run.output().text(), Not(HasSubstr("answers again")));
  database_->server()->SetFaults({});
  EXPECT_TRUE(run.output().WaitFor("Spanner answers again"));
  EXPECT_EQ(run.EndBy(SIGTERM), 0);
}

// `timeout` signals its child and then the group that both are in.
TEST_F(LockCliTest, ASignalThatIsRepeatedAtOnceIsOneSignal) {
  Init("job");
  Leader run;
  const auto gate = std::make_shared<server::Gate>();
  database_->server()->SetFaults([gate](const server::CallInfo& call) -> server::FaultAction {
    if (call.method == "Commit") return server::HoldRequest{gate};
    return server::LetPass{};
  });
  run.Signal(SIGTERM);
  ASSERT_TRUE(run.output().WaitFor("leads no longer"));
  run.Signal(SIGTERM);
  database_->server()->SetFaults({});
  gate->Open();
  EXPECT_EQ(run.WaitForEnd(), 0);
  EXPECT_EQ(Whorl("lock get job").code, 1);
}

TEST_F(LockCliTest, RunSaysWhatItCouldNotGiveBackInTime) {
  Init("job");
  Leader run("--release-timeout 50ms");
  const auto gate = std::make_shared<server::Gate>();
  database_->server()->SetFaults(
      [gate](const server::CallInfo&) { return server::HoldRequest{gate}; });
  run.Signal(SIGTERM);
  EXPECT_TRUE(run.output().WaitFor("1 lock was not given back within 50ms, and will expire"));
  EXPECT_EQ(run.WaitForEnd(), 0);
  gate->Open();
}

TEST_F(LockCliTest, RunSaysThatALeaseIsRaised) {
  RunningWhorl run(Words("lock run job --lease 10ms"));
  EXPECT_TRUE(run.output().WaitFor("with a lease of 1s, its least, instead of 10ms"));
  EXPECT_EQ(run.EndBy(SIGTERM), 0);
  EXPECT_THAT(Whorl("lock exec job --lease 10ms -- true").err,
              HasSubstr("a lease of 10ms is below fenced_lease's least: 1s is used"));
}

TEST_F(LockCliTest, ATableOfAnotherProtocolIsRefused) {
  Init("job");
  ExpectComplaint(Whorl("lock exec job --protocol spindle_v2 --table fenced_locks -- true"), 125,
                  "the table fenced_locks is fenced_lease's.*name another table");
  ExpectComplaint(Whorl("lock init --protocol spindle_v2 --table fenced_locks"), 3,
                  "that is fenced_lease's.*--table names another one");
}

TEST_F(LockCliTest, ALockThatDoesNotExistIsNotFree) {
  EXPECT_THAT(Whorl("lock get nothing"),
              Ends(1, StartsWith("there is no lock \"nothing\" in fenced_locks")));
  EXPECT_EQ(json::parse(Whorl("lock get nothing --json").out)["exists"], false);
  Init("job");
  EXPECT_EQ(json::parse(Whorl("lock get job --json").out)["exists"], true);
}

TEST_F(LockCliTest, OptionsSayWhereSpannerIs) {
  const std::string endpoint = database_->Connection().endpoint;
  EXPECT_EQ(Shell("SPANNER_EMULATOR_HOST=127.0.0.1:1 \"$W\" lock list --endpoint " + endpoint).code,
            0);
  // Without TLS on the other side.
  Write("ca.pem", "no certificate");
  EXPECT_EQ(Whorl("lock list --ca ca.pem").code, 3);
  ExpectComplaint(Whorl("lock list --ca none.pem"), 2, "--ca: \"none.pem\" cannot be read");
  Write("empty.json", "");
  ExpectComplaint(Whorl("lock list --credentials empty.json"), 2,
                  "--credentials: \"empty.json\" is empty");
  EXPECT_EQ(Whorl("lock list --database-role reader").code, 0);
  EXPECT_EQ(Whorl("lock exec job --concurrency 1 -- true").code, 0);
  ExpectComplaint(Whorl("lock run job --concurrency 0"), 2, "--concurrency");
}

// --- names that nobody has used ------------------------------------------------------------------

// A lock of a mistyped name protects nothing.
TEST_F(LockCliTest, RunSaysThatALockIsNotThereAndRefusesItIfItMustBe) {
  Init("nightly");
  RunningWhorl run(Words("lock run nightly nihgtly --lease 1s"));
  ASSERT_TRUE(run.output().WaitFor("nihgtly: leads with token"));
  const std::string text = run.output().text();
  const size_t at = text.find(
      "whorl: there is no lock \"nihgtly\" in fenced_locks (nearly the same: \"nightly\"); it is "
      "made now, and who makes it waits for a lease (1s) before it leads\n");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_LT(at, text.find("nihgtly: takes part"));
  EXPECT_THAT(text, Not(HasSubstr("no lock \"nightly\"")));
  EXPECT_EQ(run.EndBy(SIGTERM), 0);
  ExpectComplaint(Whorl("lock run nigthly --must-exist"), 2,
                  "there is no lock \"nigthly\" in fenced_locks .nearly the same: \"nightly\", "
                  "\"nihgtly\"., and --must-exist");
  EXPECT_EQ(json::parse(Whorl("lock get nigthly --json").out)["exists"], false);
  ExpectComplaint(Whorl("lock run job --must-exist --protocol lease_lock"), 2,
                  "--must-exist: a process of lease_lock that gives a lock back deletes its row");
}

// --- ids -----------------------------------------------------------------------------------------

// Both lead, in protocols that take a row of this id for their own.
struct SharedId {
  std::string protocol;
  std::string lease;
};
class SharedIdTest : public LockCliTest, public testing::WithParamInterface<SharedId> {
 protected:
  SharedIdTest() : LockCliTest(GetParam().protocol) {}
};

INSTANTIATE_TEST_SUITE_P(Protocols, SharedIdTest,
                         testing::Values(SharedId{"lease_lock", "6s"}, SharedId{"spindle_v3", "8s"},
                                         SharedId{"semaphore", "6s"}),
                         [](const auto& param) { return param.param.protocol; });

TEST_P(SharedIdTest, RunWarnsWhenASecondProcessBeatsUnderItsId) {
  const std::vector<std::string> arguments =
      Words("lock run job --id host-1 --protocol " + GetParam().protocol + " --lease " +
            GetParam().lease);
  RunningWhorl first(arguments);
  ASSERT_TRUE(first.output().WaitFor("job: leads")) << first.output().text();
  RunningWhorl second(arguments);
  const std::string warning = "job: another process beats under this id, host-1: each process";
  // Each write of the second follows one of the first, which looks after each of its own.
  EXPECT_TRUE(first.output().WaitFor(warning)) << first.output().text() << second.output().text();
  EXPECT_EQ(second.EndBy(SIGTERM), 0);
  EXPECT_EQ(first.EndBy(SIGTERM), 0);
}

// --- an address that accepts connections and never answers ---------------------------------------

TEST_F(LockCliTest, EveryCommandEndsInTimeAndSaysWhatItWaitsFor) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 64), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string host = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const std::string commands =
      "export SPANNER_EMULATOR_HOST=" + host +
      "\nfor args in 'init job' 'init --create-database' 'get job' list 'release --force job' "
      "migrate 'exec job --no-wait -- true'; do\n"
      "  { \"$W\" lock $args 2>&1; echo \"$args: $?\"; } >\"out$$.${args%% *}.${#args}\" &\n"
      "done; wait; cat out$$.*";
  const Ended ended = Shell(commands);
  close(listener);
  for (const char* end :
       {"init job: 3", "init --create-database: 3", "get job: 3", "list: 3",
        "release --force job: 3", "migrate: 3", "exec job --no-wait -- true: 125"}) {
    EXPECT_THAT(ended.out, HasSubstr(std::string(end) + "\n"));
  }
  const std::string notice = "whorl: waiting for Spanner at " + host + "\n";
  const size_t without = Replaced(ended.out, notice, "").size();
  EXPECT_EQ((ended.out.size() - without) / notice.size(), 7U) << ended.out;
}

// --- migration -----------------------------------------------------------------------------------

// On the official emulator.
class LockCliEmulatorTest : public CliTest {
 protected:
  void SetUp() override {
    if (emulator_ == nullptr) GTEST_SKIP() << kNoEmulator;
    setenv("SPANNER_EMULATOR_HOST", emulator_->address().c_str(), 1);
    setenv("WHORL_DATABASE", kLockDatabase, 1);
  }
  ~LockCliEmulatorTest() override {
    unsetenv("SPANNER_EMULATOR_HOST");
    unsetenv("WHORL_DATABASE");
  }

  // A command that ends on a busy machine may leave a transaction open, which the next one then ends.
  const std::unique_ptr<EmulatorProcess> emulator_ =
      EmulatorProcess::Start(EmulatorAborts::kByDefault);
};

TEST_F(LockCliEmulatorTest, TurnsSpindlesTableIntoFencedLeasesUnlessASpindleBeats) {
  ASSERT_EQ(Whorl("lock init --create-database --protocol spindle_v2").code, 0);
  {
    Leader old("--protocol spindle_v2 --lease 2s");
    ExpectComplaint(Shell("\"$W\" lock migrate --lease 2s >/dev/null"), 1,
                    "lock \"job\" was renewed or taken.*stop all processes of spindle");
    EXPECT_EQ(Whorl("lock get job --protocol spindle_v2").code, 0);
    EXPECT_EQ(old.EndBy(SIGTERM), 0);
  }
  EXPECT_THAT(Whorl("lock migrate --lease 2s"),
              Ends(0, HasSubstr("the table locktable is as fenced_lease needs it")));
  EXPECT_THAT(Whorl("lock migrate --lease 2s").out, HasSubstr("needs it already"));
  EXPECT_EQ(Whorl("lock exec job --table locktable --lease 2s -- true").code, 0);
  ExpectComplaint(Whorl("lock exec job --protocol spindle_v2 -- true"), 125,
                  "the table locktable is fenced_lease's");
  ExpectComplaint(Whorl("lock migrate --table nothing"), 3, "there is no table nothing");
  EXPECT_EQ(Whorl("lock init --protocol semaphore").code, 0);
  ExpectComplaint(Whorl("lock migrate --table LeaderElection"), 3, "is not spindle_v2's");
}

// --- the official emulator -----------------------------------------------------------------------

TEST_F(LockCliEmulatorTest, FromNothingToACommandUnderALock) {
  for (const ProtocolInfo& info : Protocols()) {
    SCOPED_TRACE(info.name);
    const std::string which =
        " --protocol " + std::string(info.name) + " --table t_" + std::string(info.name) + " ";
    EXPECT_EQ(Whorl("lock init --create-database --new job" + which).code, 0);
    const Ended again = Whorl("lock init job" + which);
    EXPECT_THAT(again.out, HasSubstr("is there already")) << again.err;
    EXPECT_THAT(Whorl("lock exec job" + which + "-- \"$W\" lock get job" + which), Ends(0));
    // If a release deletes the row, there is no such lock any more.
    const bool row_is_gone = info.force_release.starts_with("DELETE");
    EXPECT_EQ(Whorl("lock release --force job" + which).code, row_is_gone ? 1 : 0);
    if (info.init_lock.empty() && info.init_row.empty()) continue;
    const std::string waits = " --lease 5s --protocol " + std::string(info.name) + " --table w_" +
                              std::string(info.name) + " ";
    EXPECT_THAT(Whorl("lock init job" + waits).out, HasSubstr(" is free at 20"));
    EXPECT_THAT(Whorl("lock exec job --no-wait" + waits + "-- true"),
                Complains(125, HasSubstr(" is free at 20")));
    EXPECT_EQ(Whorl("lock exec job" + waits + "-- true").code, 0);
  }
}

TEST_F(LockCliEmulatorTest, ADatabaseOfTheOtherDialectIsToldAsWhatItIs) {
  const std::string instance = "projects/test-project/instances/test-instance";
  const std::string database = instance + "/databases/pg";
  setenv("WHORL_DATABASE", database.c_str(), 1);
  EXPECT_EQ(Whorl("lock init --create-database --database " + instance + "/databases/other").code,
            0);
  namespace v1 = google::spanner::admin::database::v1;
  v1::CreateDatabaseRequest request;
  request.set_parent(instance);
  request.set_create_statement("CREATE DATABASE \"pg\"");
  request.set_database_dialect(v1::POSTGRESQL);
  grpc::ClientContext context;
  google::longrunning::Operation operation;
  const auto stub = v1::DatabaseAdmin::NewStub(emulator_->channel());
  ASSERT_TRUE(stub->CreateDatabase(&context, request, &operation).ok());
  ExpectComplaint(Whorl("lock init"), 3, "seems to be of the PostgreSQL dialect.*GoogleSQL");
  ExpectComplaint(Whorl("lock get job"), 3, "seems to be of the PostgreSQL dialect");
}

// --- trouble -------------------------------------------------------------------------------------

TEST_F(LockCliTest, WithoutAServer) {
  const std::string nowhere =
      "SPANNER_EMULATOR_HOST=127.0.0.1:" + std::to_string(FreePort()) + " \"$W\" lock ";
  EXPECT_THAT(Shell(nowhere + "exec job --wait 500ms --lease 1s -- true"),
              Complains(125, HasSubstr("is the emulator running?")));
}

TEST_F(LockCliTest, WithoutPermission) {
  SpannerSaysNo(*database_);
  const std::string sentence = "PERMISSION_DENIED: the test says no .*roles/spanner.databaseUser";
  ExpectComplaint(Whorl("lock exec job -- true"), 125, sentence);
  ExpectComplaint(Whorl("lock get job"), 3, sentence);
  ExpectComplaint(Whorl("lock list"), 3, sentence);
  ExpectComplaint(Whorl("lock release --force job"), 3, sentence);
}

TEST_F(LockCliTest, WithoutCredentials) {
  EXPECT_THAT(
      Shell(
          "unset SPANNER_EMULATOR_HOST; HOME=/nowhere GOOGLE_APPLICATION_CREDENTIALS=/nowhere/key "
          "\"$W\" lock exec job --wait 20s -- true"),
      Complains(125, HasSubstr("gcloud auth application-default login")));
}

TEST_F(LockCliTest, WithoutTheDatabase) {
  const std::string other =
      " --database projects/test-project/instances/test-instance/databases/nothing ";
  ExpectComplaint(Whorl("lock get job" + other), 3, "NOT_FOUND: .*lock init --create-database");
  ExpectComplaint(Whorl("lock exec job" + other + "-- true"), 125,
                  "NOT_FOUND: .*lock init --create-database");
}

TEST_F(LockCliTest, WithoutTheTableOrWithAnotherOne) {
  const std::string none =
      "there is no table nothing in projects/.*whorl lock init --protocol fenced_lease --table "
      "nothing. makes it";
  ExpectComplaint(Whorl("lock get job --table nothing"), 3, none);
  ExpectComplaint(Whorl("lock exec job --table nothing -- true"), 125, none);
  const std::string other = "the table fenced_locks in .* is not as spindle_v3 needs it";
  ExpectComplaint(Whorl("lock get job --protocol spindle_v3 --table fenced_locks"), 3, other);
  ExpectComplaint(Whorl("lock exec job --protocol spindle_v3 --table fenced_locks -- true"), 125,
                  other);
}

// --- usage ---------------------------------------------------------------------------------------

TEST_F(LockCliTest, UsageIsToldWithTheNearestWord) {
  ExpectComplaint(Whorl("lock"), 2, "a sub-command is missing \\(whorl lock --help");
  ExpectComplaint(Whorl("lock exce job"), 2, "unknown sub-command exce; did you mean exec\\?");
  ExpectComplaint(Whorl("lock get job --databse x"), 2, "--databse; did you mean --database\\?");
  ExpectComplaint(Whorl("lock get"), 2, "NAME is required");
  ExpectComplaint(Whorl("lock get ''"), 2, "argument 2 of whorl lock is empty");
  ExpectComplaint(Whorl("lock get job --database d"), 2, "--database: .*projects/");
  ExpectComplaint(Whorl("lock get job --table 'a; b'"), 2, "expected a letter, then letters");
  ExpectComplaint(Whorl("lock get job --protocol fencedlease"), 2, "did you mean \"?fenced_lease");
  ExpectComplaint(Whorl("lock get job --client rest"), 2, "grpc");
  ExpectComplaint(Whorl("lock run a a"), 2, "lock \"a\" is named twice");
  ExpectComplaint(Whorl("lock run a --metrics x"), 2, "such as 127.0.0.1:9464");
  ExpectComplaint(Whorl("lock run a --lease 1h30"), 2, "--lease: ");
  ExpectComplaint(Shell("unset WHORL_DATABASE; \"$W\" lock list"), 2, "which database\\?");
}

TEST_F(LockCliTest, UsageOfExecLeavesLowerCodesToItsCommand) {
  ExpectComplaint(Whorl("lock exec job"), 125, "whorl lock exec NAME -- COMMAND");
  ExpectComplaint(Whorl("lock exec job true"), 125, "unexpected argument true");
  ExpectComplaint(Whorl("lock exec -- true"), 125, "NAME is required");
  ExpectComplaint(Whorl("lock exec job --wiat 3s -- true"), 125, "did you mean --wait\\?");
  ExpectComplaint(Whorl("lock exec job --wait 3s --no-wait -- true"), 125, "does not go with");
  ExpectComplaint(Whorl("lock exec job --conflict-exit-code 256 -- true"), 125, "from 0 to 255");
  ExpectComplaint(Whorl("lock exec job --lease 0s -- true"), 125, "--lease wants at least");
  ExpectComplaint(Whorl("lock exec job --lease 2h -- true"), 125, "too long for fenced_lease");
}

TEST_F(LockCliTest, HelpNamesTheCommandAsItIsTyped) {
  for (const char* sub :
       {"", "exec ", "run ", "init ", "get ", "list ", "release ", "delete ", "migrate "}) {
    EXPECT_THAT(Whorl("lock " + std::string(sub) + "--help"),
                Ends(0, testing::AllOf(HasSubstr("Usage: whorl lock " + std::string(sub)),
                                       Not(HasSubstr("whorl-grpc")))));
  }
  EXPECT_THAT(Whorl("--help").out, HasSubstr("  lock  "));
  EXPECT_THAT(Whorl("lock --version").out, StartsWith("whorl "));
}

TEST_F(LockCliTest, WithoutItsProgramItSaysWhatIsMissing) {
  fs::create_directories(folder_ / "bin");
  fs::copy_file(WHORL_COMMAND, folder_ / "bin/whorl");
  const std::string sentence = "whorl lock needs the program .*/bin/whorl-grpc, which is missing";
  ExpectComplaint(Shell("bin/whorl lock get job"), 3, sentence);
  ExpectComplaint(Shell("bin/whorl lock exec job -- true"), 125, sentence);
}

// Whatever the arguments are, the command ends with one of its own exit codes.
TEST_F(LockCliTest, AnyArgumentsAreAnswered) {
  std::mt19937 chance(20261122);  // NOLINT(cert-msc51-cpp): the same words each time
  std::vector<std::string> words = Words(
      "exec get list release init job -- --wait 1ms -1s --id --json --table --lease 1s '--x=y' -h "
      "'%s%n' '' --no-wait true --force --protocol all --client --out= -vvv --conflict-exit-code 7 "
      "--kill-after 99999999999s");
  words.emplace_back("\"$(printf '\\377')\"");
  for (int i = 0; i < 150; ++i) {
    std::string line = "lock";
    const size_t count = chance() % 7;
    for (size_t n = 0; n < count; ++n) line += " " + words[chance() % words.size()];
    const Ended ended = Whorl(line);
    EXPECT_LT(ended.code, 128) << line << "\n" << ended.err;
  }
}

}  // namespace
}  // namespace whorl::lock_command_test
