// Runs the scripts of the runner and the gRPC client with the google-cloud-cpp client: the calls
// and outcomes are the same, except where the library leaves no choice.
#include "tests/support/scripts.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "real_client/google_cloud/google_cloud_client.h"
#include "tests/support/script_servers.h"

namespace whorl::scripts_test {
namespace {

using Lines = std::vector<std::string>;

using real_client::MakeGoogleCloudClient;

// --- what the library does otherwise -------------------------------------------------------------

const std::string kBegun = "s1 INSERT begin #1: OK, t1";
const std::string kCommitted = "committed, 1 rows changed and 0 read";

// A Commit is sent once: without its answer, the outcome is unknown.
std::map<std::string, Lines> CommitsOnce() {
  const std::string lost = "s1 Commit t1: OK, a timestamp, but the reply is lost";
  const Lines reply_lost = {kBegun, lost, "unknown UNAVAILABLE"};
  return {
      {"TheReplyToCommitIsLost", reply_lost},
      {"CommitIsLostOnItsWay", {kBegun, "s1 Commit t1: lost", "unknown UNAVAILABLE"}},
      {"CommitIsLostTwice", reply_lost},
      {"TheSameErrorOfAResentCommitIsNot", reply_lost},
      {"TheSessionIsGoneAtAResentCommit", reply_lost},
      {"ResourceExhaustedIsRetriedAtCommit",
       {kBegun, "s1 Commit t1: RESOURCE_EXHAUSTED by script", "unknown RESOURCE_EXHAUSTED"}},
  };
}

// A later statement cannot be repeated with its sequence number.
std::map<std::string, Lines> RollsBack() {
  return {
      {"AStatementIsLostOnItsWay",
       {kBegun, "s1 INSERT t1 #2: lost", "s1 Rollback t1: OK", "aborted UNAVAILABLE"}},
      {"TheReplyToAStatementIsLostAndAnsweredFromMemory",
       {kBegun, "s1 INSERT t1 #2: OK, but the reply is lost", "s1 Rollback t1: OK",
        "aborted UNAVAILABLE"}},
      {"ResourceExhaustedIsRetriedAtAStatement",
       {kBegun, "s1 INSERT t1 #2: RESOURCE_EXHAUSTED by script", "s1 Rollback t1: OK",
        "aborted RESOURCE_EXHAUSTED"}},
      // It follows the answer, so no caller waits for it.
      {"TheRollbackIsLost",
       {"s1 INSERT begin #1: ALREADY_EXISTS", "s1 BeginTransaction begin: OK, t1",
        "s1 INSERT t1 #1: ALREADY_EXISTS", "s1 Rollback t1: OK, but the reply is lost",
        "aborted ALREADY_EXISTS"}},
  };
}

// If a statement that carries the begin fails, the library begins explicitly and sends the
// statement again. It offers no BeginTransaction, so a query that reads nothing takes its place.
std::map<std::string, Lines> Begins() {
  const Lines session_lost = {
      "s1 INSERT begin #1: NOT_FOUND", "s1 BeginTransaction begin: NOT_FOUND",
      "s2 SELECT begin #1: OK, t1",    "s2 INSERT t1 #2: OK",
      "s2 Commit t1: OK, a timestamp", kCommitted};
  return {
      {"TheBeginIsLostOnItsWay",
       {"s1 INSERT begin #1: lost", "s1 BeginTransaction begin: OK, t1", "s1 INSERT t1 #1: OK",
        "s1 Commit t1: OK, a timestamp", kCommitted}},
      {"TheSessionIsGoneAtTheFirstStatement", session_lost},
      {"TheSessionIsGoneTwice", session_lost},
      {"MutationsAlone",
       {"s1 SELECT begin #1: OK, t1", "s1 Commit t1 with 1 mutations: OK, a timestamp",
        "committed"}},
  };
}

Lines Expected(const Script& script) {
  for (const auto& others : {CommitsOnce(), RollsBack(), Begins()}) {
    const auto found = others.find(script.name);
    if (found != others.end()) return found->second;
  }
  return LinesOnRegular(script.expected);
}

// The library has no multiplexed sessions.
std::vector<Script> Scripts() {
  std::vector<Script> scripts = AllScripts();
  std::erase_if(scripts,
                [](const Script& script) { return script.sessions == SessionKind::kMultiplexed; });
  return scripts;
}
std::string NameOf(const testing::TestParamInfo<Script>& script) { return script.param.name; }

class GoogleCloudScriptTest : public testing::TestWithParam<Script> {};

TEST_P(GoogleCloudScriptTest, ByTheModel) {
  EXPECT_EQ(RunOnServer(GetParam(), MakeGoogleCloudClient), Expected(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Scripts, GoogleCloudScriptTest, testing::ValuesIn(Scripts()), NameOf);

using GoogleCloudScriptEmulatorTest = ScriptEmulatorTest;

TEST_P(GoogleCloudScriptEmulatorTest, ByTheEmulator) {
  Expect(Expected(GetParam()), MakeGoogleCloudClient);
}

INSTANTIATE_TEST_SUITE_P(Scripts, GoogleCloudScriptEmulatorTest,
                         testing::ValuesIn(ScriptsForTheEmulator()), NameOf);

}  // namespace
}  // namespace whorl::scripts_test
