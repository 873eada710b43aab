// `--judge`: what the checkers say of programs that were not written here, from their commits and from
// what they say.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/cli/serve/control_testing.h"
#include "tests/support/raw_spanner.h"

namespace whorl::serve_test {
namespace {

namespace v1 = ::google::spanner::v1;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTable =
    "CREATE TABLE locktable (name STRING(MAX) NOT NULL, heartbeat TIMESTAMP OPTIONS "
    "(allow_commit_timestamp = true), token TIMESTAMP OPTIONS (allow_commit_timestamp = true), "
    "writer STRING(MAX)) PRIMARY KEY (name)";
constexpr const char* kInsert =
    "INSERT locktable (name, heartbeat, token, writer) VALUES ('job', PENDING_COMMIT_TIMESTAMP(), "
    "PENDING_COMMIT_TIMESTAMP(), 'one')";

// A program that uses the table as spindle does.
class Program {
 public:
  explicit Program(const std::string& address)
      : raw_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())),
        session_(raw_.CreateSession(kLockDatabase).reply.name()) {}

  void Writes(const std::string& sql) {
    v1::ExecuteSqlRequest execute;
    execute.set_session(session_);
    execute.mutable_transaction()->mutable_begin()->mutable_read_write();
    execute.set_sql(sql);
    execute.set_seqno(1);
    const auto begun = raw_.ExecuteSql(execute);
    ASSERT_TRUE(begun.ok()) << begun.status.error_message();
    v1::CommitRequest commit;
    commit.set_session(session_);
    commit.set_transaction_id(begun.reply.metadata().transaction().id());
    const auto committed = raw_.Commit(commit);
    ASSERT_TRUE(committed.ok()) << committed.status.error_message();
  }
  void Takes(const std::string& token) {
    Writes("UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP(), token = TIMESTAMP '" +
           token + "', writer = 'two' WHERE name = 'job'");
  }
  // In a way that brings no Commit.
  void WritesByPartitions(const std::string& sql) {
    v1::BeginTransactionRequest begin;
    begin.set_session(session_);
    begin.mutable_options()->mutable_partitioned_dml();
    v1::ExecuteSqlRequest execute;
    execute.set_session(session_);
    execute.mutable_transaction()->set_id(raw_.BeginTransaction(begin).reply.id());
    execute.set_sql(sql);
    execute.set_seqno(1);
    const auto ended = raw_.ExecuteSql(execute);
    ASSERT_TRUE(ended.ok()) << ended.status.error_message();
  }

 private:
  RawSpanner raw_;
  const std::string session_;
};

class VerdictTest : public ControlTest {
 protected:
  // Time stands still, and two programs have a port each.
  void StartJudging(std::vector<std::string> options = {"--lease", "10s"}) {
    Write("locks.sql", kTable);
    options.insert(options.end(), {"--judge", "spindle_v2", "--clients", "2", "--virtual-time",
                                   "--ddl", (folder_ / "locks.sql").string()});
    StartServe(options);
    const Json clients = Get("/clients")["clients"];
    one_.emplace(clients[0]["address"].get<std::string>());
    two_.emplace(clients[1]["address"].get<std::string>());
  }
  void Advance(const std::string& by) { Post("/clock", R"({"advance": ")" + by + "\"}"); }
  // The only lock's result of the invariant.
  Json ResultOf(const std::string& invariant) {
    const Json report = Get("/verdict");
    EXPECT_EQ(report["waiting"], 0);
    EXPECT_EQ(report["locks"].size(), 1U) << report;
    EXPECT_EQ(report["locks"][0]["lock"], "job");
    for (const Json& result : report["locks"][0]["verdicts"]) {
      if (result["invariant"] == invariant) return result;
    }
    ADD_FAILURE() << report;
    return {};
  }

  std::optional<Program> one_;
  std::optional<Program> two_;
};

TEST_F(VerdictTest, SaysHoldsOnlyWhereCommitsDecideIt) {
  StartJudging();
  EXPECT_EQ(Get("/verdict")["locks"].size(), 0U);
  one_->Writes(kInsert);
  EXPECT_EQ(ResultOf("token_monotonic")["verdict"], "holds");
  EXPECT_EQ(ResultOf("lease_respected")["verdict"], "unknown");
  EXPECT_EQ(ResultOf("lease_respected")["because"], "only one client has written");
  Advance("20s");
  two_->Takes("2026-01-01T00:00:20Z");
  EXPECT_EQ(ResultOf("lease_respected")["verdict"], "holds");
  EXPECT_EQ(ResultOf("token_monotonic")["verdict"], "holds");
  EXPECT_EQ(ResultOf("one_live_token")["verdict"], "holds");
  EXPECT_EQ(ResultOf("no_wedge")["because"],
            "no record says when faults were over, and who could have taken the lock");
  EXPECT_EQ(Get("/verdict")["judged_commits"], 2);
}

TEST_F(VerdictTest, SeesALeaseThatIsNotRespectedAndATokenThatGoesBack) {
  StartJudging();
  one_->Writes(kInsert);
  Advance("3s");
  two_->Takes("2026-01-01T00:00:03Z");
  const Json taken = ResultOf("lease_respected");
  EXPECT_EQ(taken["verdict"], "violated");
  EXPECT_EQ(taken["violations"], 1);
  EXPECT_THAT(taken["first"]["text"].get<std::string>(),
              HasSubstr("client 2 took lock \"job\" from client 1"));
  EXPECT_EQ(ResultOf("token_monotonic")["verdict"], "holds");
  Advance("20s");
  one_->Takes("2026-01-01T00:00:02Z");
  EXPECT_THAT(ResultOf("token_monotonic")["first"]["text"].get<std::string>(),
              HasSubstr("client 1 committed the token"));
  whorl_->Signal(SIGTERM);
  EXPECT_EQ(whorl_->WaitForEnd(), 1);  // spindle_v2 promises neither
  EXPECT_THAT(whorl_->output().text(),
              AllOf(HasSubstr("verdict on lock \"job\": lease_respected violated 1 times"),
                    HasSubstr("verdict on lock \"job\": unknown: ")));
}

TEST_F(VerdictTest, WithPromisedWhatNobodyPromisesDoesNotDecide) {
  StartJudging({"--lease", "10s", "--promised"});
  one_->Writes(kInsert);
  Advance("3s");
  two_->Takes("2026-01-01T00:00:03Z");
  EXPECT_EQ(ResultOf("lease_respected")["verdict"], "violated");
  whorl_->Signal(SIGTERM);
  EXPECT_EQ(whorl_->WaitForEnd(), 0);
  EXPECT_THAT(whorl_->output().text(),
              HasSubstr("which the protocol does not promise and which does not decide"));
}

TEST_F(VerdictTest, ALeaseThatNobodyStatesIsNotJudged) {
  StartJudging({});
  one_->Writes(kInsert);
  Advance("3s");
  two_->Takes("2026-01-01T00:00:03Z");
  EXPECT_THAT(ResultOf("lease_respected")["because"].get<std::string>(), HasSubstr("--lease"));
}

TEST_F(VerdictTest, BeliefsAreJudgedWhenAllWhoWriteSpeak) {
  StartJudging();
  EXPECT_THAT(Post("/clients/1/says", R"({"event": "leads"})", 400).dump(), HasSubstr("lock"));
  one_->Writes(kInsert);
  Advance("20s");
  two_->Takes("2026-01-01T00:00:20Z");
  Says(1, "leads");
  EXPECT_EQ(ResultOf("single_leader_belief")["because"],
            "client 2 has logged no line of when it leads, so whether there was one is not known");
  Says(2, "leads_not");
  EXPECT_EQ(ResultOf("single_leader_belief")["verdict"], "holds");
  Says(2, "leads");
  EXPECT_EQ(ResultOf("single_leader_belief")["verdict"], "violated");
}

TEST_F(VerdictTest, NothingHoldsAfterACommitThatDidNotPass) {
  StartJudging();
  one_->Writes(kInsert);
  EXPECT_EQ(ResultOf("token_monotonic")["verdict"], "holds");
  two_->WritesByPartitions("UPDATE locktable SET writer = 'x' WHERE name = 'job'");
  const Json result = ResultOf("token_monotonic");
  EXPECT_EQ(result["verdict"], "unknown");
  EXPECT_THAT(result["because"].get<std::string>(), HasSubstr("did not pass here"));
  EXPECT_EQ(Get("/verdict")["holes"].size(), 1U);
}

// What the server tells of its rows needs no reading: old versions may be gone when they are judged.
TEST_F(VerdictTest, JudgesWhatCanBeReadNoMore) {
  StartJudging({"--lease", "10s", "--retention", "1s"});
  one_->Writes(kInsert);
  Advance("3s");
  two_->Takes("2026-01-01T00:00:03Z");
  Advance("2h");
  EXPECT_EQ(ResultOf("lease_respected")["verdict"], "violated");
  EXPECT_EQ(Get("/verdict")["holes"].size(), 0U);
}

// The words of check's lines are judged as those of a log.
TEST_F(VerdictTest, WorkThatClientsSpeakOfIsJudged) {
  StartJudging();
  one_->Writes(kInsert);
  Advance("20s");
  two_->Takes("2026-01-01T00:00:20Z");
  EXPECT_EQ(ResultOf("single_worker")["verdict"], "unknown");
  Says(1, "works");
  Says(1, "rests");
  EXPECT_THAT(ResultOf("single_worker")["because"].get<std::string>(), HasSubstr("client 2"));
  Says(2, "works");
  EXPECT_EQ(ResultOf("single_worker")["verdict"], "holds");
  Says(1, "works");
  const Json both = ResultOf("single_worker");
  EXPECT_EQ(both["verdict"], "violated");
  EXPECT_THAT(both["first"]["text"].get<std::string>(),
              HasSubstr("client 1 was at work under lock \"job\" while client 2 did"));
  EXPECT_THAT(Post("/clients/1/says", R"({"event": "sleeps", "lock": "job"})", 400).dump(),
              HasSubstr("sleeps"));
  // What a log declares of its process would change what is certain of it.
  EXPECT_THAT(Post("/clients/1/says",
                   R"({"event": "answer", "lock": "job", "has": true, "offset": "1h"})", 400)
                  .dump(),
              HasSubstr("takes no"));
}

// Without the time of the question an answer may have been true when it was asked: neither held nor violated.
TEST_F(VerdictTest, WhatIsNotCertainIsPossible) {
  StartJudging();
  one_->Writes(kInsert);
  Advance("20s");
  two_->Takes("2026-01-01T00:00:20Z");
  Advance("1s");
  Post("/clients/2/says", R"({"event": "answer", "lock": "job", "has": true})", 204);
  EXPECT_NE(ResultOf("has_lock_truthful")["verdict"], "possible");
  Post("/clients/1/says", R"({"event": "answer", "lock": "job", "has": true})", 204);
  const Json result = ResultOf("has_lock_truthful");
  EXPECT_EQ(result["verdict"], "possible");
  EXPECT_EQ(result["possible"], 1);
  EXPECT_THAT(result["because"].get<std::string>(), HasSubstr("asked"));
  whorl_->Signal(SIGTERM);
  EXPECT_EQ(whorl_->WaitForEnd(), 0);
  EXPECT_THAT(
      whorl_->output().text(),
      HasSubstr("verdict on lock \"job\": has_lock_truthful possibly violated 1 times; first: "));
}

// Programs on one port are distinguished by the names in their rows, if there are two names.
TEST_F(VerdictTest, ProgramsOnOnePortAreThoseThatRowsName) {
  StartJudging();
  one_->Writes(kInsert);
  EXPECT_EQ(ResultOf("lease_respected")["because"], "only one client has written");
  Write("locks.sql", kTable);
  StartServe({"--lease", "10s", "--judge", "spindle_v2", "--virtual-time", "--ddl",
              (folder_ / "locks.sql").string()});
  Program all(Get("/clients")["clients"][0]["address"].get<std::string>());
  all.Writes(kInsert);
  EXPECT_THAT(ResultOf("lease_respected")["because"].get<std::string>(),
              HasSubstr("all programs use one port"));
  Advance("3s");
  all.Takes("2026-01-01T00:00:03Z");
  EXPECT_THAT(ResultOf("lease_respected")["first"]["text"].get<std::string>(),
              HasSubstr("two took lock \"job\" from one"));
  EXPECT_THAT(ResultOf("one_live_token")["because"].get<std::string>(),
              HasSubstr("all programs use one port"));
  EXPECT_THAT(
      Post("/clients/1/says", R"({"event": "answer", "lock": "job", "has": true})", 400).dump(),
      HasSubstr("--clients"));
}

// One line of CI: the command succeeds, and its locks do not.
TEST_F(VerdictTest, ABrokenPromiseFailsACommandThatSucceeds) {
  EXPECT_THAT(Shell("export W; \"$W\" serve --database " + std::string(kLockDatabase) +
                    " --judge fenced_lease -- sh -c '\"$W\" lock init job --database " +
                    kLockDatabase + "'"),
              Complains(0, AllOf(HasSubstr("holds: token_monotonic"), Not(HasSubstr("violated")))));

  ASSERT_EQ(mkfifo((folder_ / "go").c_str(), 0600), 0);
  RunningWhorl serve({"serve", "--database", kLockDatabase, "--clients", "2", "--judge",
                      "fenced_lease", "--", "sh", "-c",
                      std::string(WHORL_COMMAND) + " lock init job --database " + kLockDatabase +
                          "; echo two is $WHORL_CLIENT_2.; " + "cat " + (folder_ / "go").string()});
  ASSERT_TRUE(serve.output().WaitFor("."));
  ASSERT_TRUE(serve.output().WaitFor("two is "));
  const std::string text = serve.output().text();
  const size_t begin = text.find("two is ") + 7;
  ASSERT_TRUE(serve.output().WaitFor(".\n"));
  const std::string all = serve.output().text();
  Program two(all.substr(begin, all.find(".\n", begin) - begin));
  const std::string take =
      "UPDATE fenced_locks SET heartbeat = PENDING_COMMIT_TIMESTAMP(), lease_ms = 10000, attempt = "
      "'a', token = ";
  two.Writes(take + "PENDING_COMMIT_TIMESTAMP(), writer = 'two' WHERE name = 'job'");
  two.Writes(take + "TIMESTAMP '2020-01-01T00:00:00Z', writer = 'three' WHERE name = 'job'");
  std::ofstream(folder_ / "go") << "\n";
  EXPECT_EQ(serve.WaitForEnd(), 1);
  EXPECT_THAT(serve.output().text(),
              HasSubstr("token_monotonic violated 1 times; first: client 2"));
}

TEST_F(VerdictTest, BadOptionsSayWhatIsMissing) {
  EXPECT_THAT(Whorl("serve --judge spindle").err, HasSubstr("spindle_v2"));
  EXPECT_THAT(Whorl("serve --lease 10s").err, HasSubstr("--judge"));
  EXPECT_THAT(Whorl("serve --promised").err, HasSubstr("--judge"));
}

// Without this, who names a table of another library reads that nobody has written to it.
TEST_F(VerdictTest, SaysWhichColumnsTheTableLacks) {
  Write(
      "shedlock.sql",
      "CREATE TABLE shedlock (name STRING(64) NOT NULL, lock_until TIMESTAMP, locked_at TIMESTAMP, "
      "owner INT64) PRIMARY KEY (name)");
  StartServe({"--judge", "lease_lock", "--table", "ShedLock", "--ddl",
              (folder_ / "shedlock.sql").string()});
  Program program(Get("/clients")["clients"][0]["address"].get<std::string>());
  for (const char* name : {"a", "b", "c"}) {
    program.Writes("INSERT shedlock (name, lock_until) VALUES ('" + std::string(name) +
                   "', CURRENT_TIMESTAMP())");
  }
  const Json holes = Get("/verdict")["holes"];
  ASSERT_EQ(holes.size(), 1U) << holes;
  EXPECT_EQ(holes[0],
            "table \"ShedLock\" has not lease_lock's columns: it lacks key STRING, owner STRING, "
            "leased_until TIMESTAMP, created_at TIMESTAMP, ttl TIMESTAMP; it has name, lock_until, "
            "locked_at, owner");
  whorl_->Signal(SIGTERM);
  EXPECT_EQ(whorl_->WaitForEnd(), 0);
  EXPECT_THAT(whorl_->output().text(),
              AllOf(HasSubstr("verdict: not all is known: table \"ShedLock\" has not lease_lock's"),
                    Not(HasSubstr("no commit has touched"))));
}

TEST_F(VerdictTest, SaysThatThereIsNoSuchTable) {
  Write("locks.sql", kTable);
  StartServe(
      {"--judge", "spindle_v2", "--table", "locks", "--ddl", (folder_ / "locks.sql").string()});
  Program(Get("/clients")["clients"][0]["address"].get<std::string>()).Writes(kInsert);
  EXPECT_EQ(Get("/verdict")["holes"].dump(), R"(["there is no table \"locks\""])");
}

}  // namespace
}  // namespace whorl::serve_test
