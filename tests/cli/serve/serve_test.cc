// `whorl serve`: a Spanner for programs that are not whorl's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "live/child_process.h"
#include "spanner_model/server/server.h"
#include "tests/cli/lock/lock_cli_testing.h"
#include "tests/support/test_certificate.h"

namespace whorl::serve_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ServeTest : public CliTest {
 protected:
  ServeTest() { setenv("WHORL_DATABASE", kLockDatabase, 1); }
  ~ServeTest() override { unsetenv("WHORL_DATABASE"); }

  Ended Serve(const std::string& options, const std::string& command) {
    return Shell("export W; \"$W\" serve --database \"$WHORL_DATABASE\" " + options + " -- " +
                 command);
  }
};

TEST_F(ServeTest, ACommandFindsTheServer) {
  EXPECT_THAT(Serve("", "sh -c '\"$W\" lock init --new job && \"$W\" lock exec job -- echo led'"),
              Ends(0, AllOf(HasSubstr("made table fenced_locks"), HasSubstr("\nled\n"))));
}

TEST_F(ServeTest, DatabasesBeginWithTheDdlOfFiles) {
  Write("a.sql", "CREATE TABLE a (k INT64) PRIMARY KEY (k);");
  Write("b.sql",
        "-- two\nCREATE TABLE b (k INT64) PRIMARY KEY (k);\nCREATE TABLE c (k INT64) PRIMARY KEY "
        "(k)");
  Write("again.sql", "CREATE TABLE c (k INT64) PRIMARY KEY (k);");
  EXPECT_THAT(Serve("--ddl a.sql --ddl b.sql", "\"$W\" lock init --ddl again.sql"),
              Ends(0, HasSubstr("done already: \"CREATE TABLE c \"")));
}

// A script that relies on them is told a release before it breaks.
TEST_F(ServeTest, DeprecatedOptionsWarnAndStillWork) {
  const Ended ended =
      Serve("--replication 1ms --no-retry-info --pending-column --repeatable-read", "echo served");
  EXPECT_THAT(ended, Ends(0, HasSubstr("served")));
  for (const char* option :
       {"--replication", "--no-retry-info", "--pending-column", "--repeatable-read"}) {
    EXPECT_THAT(ended.err, HasSubstr(std::string(option) + " will be removed in the next release"));
  }
  EXPECT_THAT(Serve("--epsilon 1ms", "true").err, Not(HasSubstr("will be removed")));
}

TEST_F(ServeTest, PassesOnHowTheCommandEnded) {
  EXPECT_EQ(Serve("", "sh -c 'exit 9'").code, 9);
  EXPECT_EQ(Serve("", "sh -c 'kill -9 $$'").code, 128 + SIGKILL);
  EXPECT_EQ(Serve("", "no_such_command").code, 127);
  EXPECT_EQ(Serve("", "/dev/null").code, 126);
  EXPECT_EQ(Serve("--prot 1", "true").code, 125);
}

TEST_F(ServeTest, SignalsReachTheCommand) {
  RunningWhorl serve({"serve", "--", "sh", "-c",
                      "trap 'echo heard; exit 4' TERM; echo there; while :; do read line; done"});
  ASSERT_TRUE(serve.output().WaitFor("there"));
  serve.Signal(SIGTERM);
  EXPECT_EQ(serve.WaitForEnd(), 4);
  EXPECT_THAT(serve.output().text(), HasSubstr("heard"));
}

// The command does not end by SIGTERM, and gets SIGKILL. WaitForEnd waits for it, too.
TEST_F(ServeTest, IfItDiesItSaysSoAndTheCommandEndsToo) {
  RunningWhorl serve({"serve", "--", "sh", "-c",
                      "trap 'echo heard' TERM; echo there; while :; do read line; done"});
  ASSERT_TRUE(serve.output().WaitFor("there"));
  serve.Signal(SIGTERM);
  ASSERT_TRUE(serve.output().WaitFor("heard"));  // so serve knows its process
  serve.Signal(SIGSEGV);
  EXPECT_EQ(serve.WaitForEnd(), 3);
  EXPECT_THAT(serve.output().text(), HasSubstr("whorl: died of SIGSEGV: a defect of whorl"));
}

TEST_F(ServeTest, WithoutACommandItSaysWhereItIsUntilASignal) {
  RunningWhorl serve(Words("serve --database " + std::string(kLockDatabase)));
  ASSERT_TRUE(serve.output().WaitFor(std::string(kLockDatabase) + "\n"));
  const std::string text = serve.output().text();
  EXPECT_THAT(text, ContainsRegex("^SPANNER_EMULATOR_HOST=127.0.0.1:[0-9]+\n"));
  const std::string address = text.substr(0, text.find('\n'));
  EXPECT_EQ(Shell(address + " \"$W\" lock init job").code, 0);
  const std::string port = address.substr(address.rfind(':') + 1);
  EXPECT_THAT(
      Whorl("serve --port " + port),
      Complains(3, "whorl: cannot listen on 127.0.0.1:" + port +
                       ": Address already in use; name another port, or a free one by --port 0\n"));
  serve.Signal(SIGINT);
  EXPECT_EQ(serve.WaitForEnd(), 0);
}

TEST_F(ServeTest, BadInputIsToldBeforeAnythingIsServed) {
  Write("wrong.sql", "CREATE TABEL a;");
  EXPECT_THAT(Whorl("serve --ddl wrong.sql"), Complains(2, HasSubstr("TABEL")));
  EXPECT_EQ(Whorl("serve --ddl none.sql").code, 2);
  EXPECT_THAT(Whorl("serve --split locks:m").err, HasSubstr("--ddl makes no table locks"));
  EXPECT_THAT(Whorl("serve --split locks").err, HasSubstr("needs TABLE:KEY, got locks"));
  EXPECT_THAT(Whorl("serve --database d").err, HasSubstr("--database: "));
  EXPECT_EQ(Whorl("serve --epsilon 5").code, 2);
  EXPECT_EQ(Whorl("serve --").code, 2);
}

// The reply to the lock's first commit is lost: exec asks what became of it, and leads.
TEST_F(ServeTest, FaultsStrikeTheCallsOfACommand) {
  Write("faults.json", R"({"faults": [
    {"match": {"protocol": "fenced_lease", "step": "take"}, "do": "abort"},
    {"match": {"method": "BatchWrite"}, "do": "error", "code": "UNAVAILABLE"}]})");
  EXPECT_THAT(Serve("--faults faults.json --history calls.jsonl",
                    "sh -c '\"$W\" lock init --new job && \"$W\" lock exec job -- echo led'"),
              Ends(0, HasSubstr("led\n"),
                   AllOf(HasSubstr("faults.json:2 (/faults/0) struck 1 of"),
                         HasSubstr("(/faults/1) matched no call"))));
  const std::string history = ReadText(folder_ / "calls.jsonl");
  EXPECT_THAT(history, AllOf(HasSubstr("\"fault\":\"faults.json:2 (/faults/0)\""),
                             HasSubstr("\"code\":\"ABORTED\""), HasSubstr("commit_timestamp")));
}

// The client resends a Commit whose answer it did not get. A history with two answers would not say why.
TEST_F(ServeTest, AHistoryHasNoCodeWhereAnAnswerWasRefused) {
  Write("faults.json", R"({"faults": [{"match": {"method": "Commit", "phase": "served"},
    "do": "partition", "mode": "refuse", "for": "50ms"}]})");
  EXPECT_EQ(Serve("--faults faults.json --history calls.jsonl", "\"$W\" lock init --new job").code,
            0);
  const std::string history = ReadText(folder_ / "calls.jsonl");
  EXPECT_THAT(history, ContainsRegex("\"code\":null,\"commit_timestamp\":[^\n]*\"fault\":"));
  EXPECT_THAT(history, Not(ContainsRegex("\"code\":\"OK\"[^\n]*\"fault\":")));
}

// The history has more calls that match than the rule has counted: it looks at none after its last time.
TEST_F(ServeTest, SaysFromWhichCallOnARuleStrikes) {
  const auto report_of = [&](const std::string& match) {
    Write("faults.json", R"({"faults": [{"match": {"method": "ExecuteStreamingSql")" + match +
                             R"(}, "do": "error", "code": "UNAVAILABLE"}]})");
    return Serve("--faults faults.json",
                 "sh -c '\"$W\" lock init --new job && \"$W\" lock get job; \"$W\" lock get job'")
        .err;
  };
  EXPECT_THAT(report_of(R"(, "count": 2)"),
              HasSubstr("(/faults/0) struck 1 of 2 calls that it matches; it begins with number 2 "
                        "and was over then\n"));
  EXPECT_THAT(report_of(""), HasSubstr("struck 1 of 1 calls that it matches; it was over then\n"));
  EXPECT_THAT(report_of(R"(, "count": 1000)"), HasSubstr("; it begins with number 1000\n"));
}

TEST_F(ServeTest, EachClientHasAPortOfItsOwn) {
  Write(
      "faults.json",
      R"({"faults": [{"match": {"client": 2}, "do": "error", "code": "PERMISSION_DENIED", "times": 0}]})");
  EXPECT_THAT(
      Serve(
          "--faults faults.json --clients 2",
          "sh -c '\"$W\" lock init job && SPANNER_EMULATOR_HOST=$WHORL_CLIENT_2 \"$W\" lock list'"),
      Complains(3, HasSubstr("PERMISSION_DENIED")));
}

TEST_F(ServeTest, RulesThatCannotBeMeantAreToldBeforeAnythingIsServed) {
  Write("faults.json", "{\"faults\": [\n{\"do\": \"abbort\"}]}");
  EXPECT_THAT(Whorl("serve --faults faults.json"),
              Complains(2, AllOf(HasSubstr("faults.json:2: /faults/0/do"), HasSubstr("abort"))));
  EXPECT_EQ(Whorl("serve --faults none.json").code, 2);
  EXPECT_EQ(Whorl("proxy").code, 2);
  EXPECT_EQ(Serve("--history /no/such/file", "true").code, 125);
}

// Java's and Python's clients wait for an hour for the answer to a Commit, in silence.
TEST_F(ServeTest, SaysWhichCallHangsByWhichRule) {
  Write("faults.json",
        R"({"faults": [{"match": {"method": "Commit"}, "do": "drop_reply", "times": 0}]})");
  RunningWhorl serve(Words("serve --hangs-after 50ms --database " + std::string(kLockDatabase) +
                           " --faults " + (folder_ / "faults.json").string() +
                           " -- " WHORL_COMMAND " lock init job"));
  EXPECT_TRUE(serve.output().WaitFor("Commit of client 1 has had no answer for 50ms by "))
      << serve.output().text();
  EXPECT_THAT(serve.output().text(), HasSubstr("faults.json:1 (/faults/0), drop_reply; it hangs"));
  serve.Signal(SIGTERM);
  serve.WaitForEnd();
}

TEST_F(ServeTest, AProxyStandsBeforeAnotherServer) {
  RunningWhorl serve(Words("serve --database " + std::string(kLockDatabase)));
  ASSERT_TRUE(serve.output().WaitFor(std::string(kLockDatabase) + "\n"));
  const std::string text = serve.output().text();
  const std::string address = text.substr(text.find('=') + 1, text.find('\n') - text.find('=') - 1);
  Write("faults.json", R"({"faults": [{"match": {"method": "Commit"}, "do": "abort"}]})");
  EXPECT_THAT(Shell("export W; \"$W\" proxy --to " + address +
                    " --faults faults.json -- sh -c '\"$W\" lock init --new job && \"$W\" lock "
                    "exec job -- echo led'"),
              Complains(0, HasSubstr("struck 1 of")));
  serve.Signal(SIGINT);
  EXPECT_EQ(serve.WaitForEnd(), 0);
}

// As real Spanner and Spanner Omni speak it; the programs behind the proxy need no certificate.
TEST_F(ServeTest, AProxySpeaksTlsToItsServer) {
  const TestCertificate certificate = MakeTestCertificate();
  server::ServerOptions options;
  options.tls = server::TlsOptions{.certificate_chain_pem = certificate.certificate_pem,
                                   .private_key_pem = certificate.private_key_pem};
  options.backend.databases = {{.name = kLockDatabase, .statements = {}}};
  auto server = server::Server::Start(std::move(options));
  ASSERT_TRUE(server.ok()) << server.status().message();
  Write("ca.pem", certificate.certificate_pem);
  Write("no.json", "{}");
  const auto proxy = [&](const std::string& with) {
    return Shell(
        "export W; \"$W\" proxy --to " + (*server)->address() + with +
        " --faults faults.json -- sh -c '\"$W\" lock init --new job && \"$W\" lock exec job "
        "-- echo led'");
  };
  Write("faults.json", R"({"faults":[{"match": {"method": "Commit"}, "do": "abort"}]})");
  EXPECT_THAT(proxy(" --ca ca.pem"), Ends(0, HasSubstr("led")));
  EXPECT_EQ(Whorl("proxy --to localhost:1 --ca none.pem").code, 2);
  EXPECT_THAT(Whorl("proxy --to localhost:1 --credentials no.json -- true").err,
              HasSubstr("key file"));
}

}  // namespace
}  // namespace whorl::serve_test
