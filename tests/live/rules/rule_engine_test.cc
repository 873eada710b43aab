// Rules strike the calls that they match, as often as they say.
#include "live/rules/rule_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "google/spanner/v1/spanner.pb.h"

namespace whorl::live::rule_engine_test {
namespace {

using testing::ElementsAre;
using Action = Interception::Action;

namespace v1 = google::spanner::v1;

class RuleEngineTest : public testing::Test {
 protected:
  void Rules(const std::string& faults) {
    RuleFile file = ParseRules("f", "{\"faults\":" + faults + "}");
    ASSERT_THAT(file.errors, testing::IsEmpty());
    for (CallRule& rule : file.rules) engine_.Add(std::move(rule));
  }
  Interception Sends(const std::string& sql, int16_t client = 0, const std::string& id = "") {
    v1::ExecuteSqlRequest request;
    request.set_session("s");
    if (!id.empty()) request.mutable_transaction()->set_id(id);
    request.set_sql(sql);
    (*request.mutable_params()->mutable_fields())["name"].set_string_value("job");
    return Arrives({.node = client, .number = ++number_, .method = "ExecuteStreamingSql"}, request);
  }
  // Of another transaction each time.
  Interception Commits() { return Commits("t" + std::to_string(number_)); }
  Interception Commits(const std::string& id) {
    v1::CommitRequest request;
    request.set_session("s");
    request.set_transaction_id(id);
    return Calls("Commit", request);
  }
  Interception Calls(const std::string& method, const google::protobuf::Message& request) {
    return Arrives({.number = ++number_, .method = method}, request);
  }
  Interception Arrives(const ProxiedCall& call, const google::protobuf::Message& request) {
    Interception interception = engine_.OnRequest(call, request.SerializeAsString());
    if (interception.action == Action::kAnswer) engine_.OnDelivery(call, Delivery::kSent);
    return interception;
  }
  Interception Hears(const Status& status = {}, Delivery delivery = Delivery::kSent) {
    const ProxiedCall call = {.number = number_, .method = "Commit"};
    Interception interception = engine_.OnReply(call, status, {});
    if (interception.action != Action::kDrop) engine_.OnDelivery(call, delivery);
    return interception;
  }
  Interception HearsOfCommit() {
    v1::CommitResponse reply;
    reply.mutable_commit_timestamp()->set_seconds(1);
    return engine_.OnReply({.number = number_, .method = "Commit"}, {},
                           {reply.SerializeAsString()});
  }
  void Later() {
    for (auto& [after, task] : std::exchange(later_, {})) task();
  }

  LocalInstant now_ = LocalInstant{} + Seconds(100);
  std::vector<std::pair<int16_t, sim::LinkState>> links_;
  std::vector<std::pair<Duration, std::function<void()>>> later_;
  std::vector<CallRecord> records_;
  std::vector<std::string> said_;
  uint64_t number_ = 0;
  RuleEngine engine_{
      {.seed = 1,
       .wall = [] { return Timestamp{}; },
       .steady = [this] { return now_; },
       .link = [this](int16_t client, sim::LinkState state) { links_.emplace_back(client, state); },
       .later = [this](Duration later,
                       std::function<void()> task) { later_.emplace_back(later, std::move(task)); },
       .record = [this](const CallRecord& one) { records_.push_back(one); },
       .say = [this](const std::string& line) { said_.push_back(line); },
       .say_after = Seconds(10)}};
};

TEST_F(RuleEngineTest, StrikesByMethodCountAndTimes) {
  Rules(R"([{"match": {"method": "Commit", "count": 2, "nth": 2}, "do": "abort", "times": 2}])");
  std::vector<Action> actions;
  for (int i = 0; i < 7; ++i) {
    Sends("SELECT 1");
    actions.push_back(Commits().action);
  }
  EXPECT_THAT(actions, ElementsAre(Action::kPass, Action::kAnswer, Action::kPass, Action::kAnswer,
                                   Action::kPass, Action::kPass, Action::kPass));
  EXPECT_EQ(engine_.List()[0].struck, 2);
  EXPECT_TRUE(engine_.List()[0].over);
}

TEST_F(RuleEngineTest, AbortsHaveRetryInfo) {
  Rules(R"([{"match": {}, "do": "abort"}])");
  const Interception aborted = Commits();
  EXPECT_EQ(aborted.status.code, Code::kAborted);
  EXPECT_TRUE(aborted.status.retry_after.has_value());
  EXPECT_EQ(records_.at(0).fault, "f:1 (/faults/0)");
}

TEST_F(RuleEngineTest, MatchesSqlTablesParametersStepsAndClients) {
  const std::string read = "select TOKEN, writer from locktable where name = 'x'";
  for (const auto& [rule, matches] : std::vector<std::pair<std::string, bool>>{
           {R"("sql": "SELECT token,writer FROM locktable WHERE name=@n")", true},
           {R"("sql": "SELECT token FROM locktable WHERE name=@n")", false},
           {R"("sql_matches": "token.*FROM")", true},
           {R"("sql_matches": "^token")", false},
           {R"("table": "LockTable")", true},
           {R"("table": "lock")", false},
           {R"("parameters": {"name": "job"})", true},
           {R"("parameters": {"name": "other"})", false},
           {R"("protocol": "spindle_v2", "step": "reread")", true},
           {R"("protocol": "spindle_v2", "step": "check")", false},
           {R"("client": 3)", true},
           {R"("client": 2)", false}}) {
    Rules(R"([{"do": "error", "code": "UNAVAILABLE", "match": {)" + rule + "}}]");
    const bool struck = Sends(read, 2).action == Action::kAnswer;
    EXPECT_EQ(struck, matches) << rule;
    ASSERT_TRUE(engine_.Remove(engine_.List().at(0).number)) << rule;
  }
}

TEST_F(RuleEngineTest, ServedCallsAreAnsweredOrLostAfterwards) {
  Rules(
      R"([{"match": {}, "do": "drop_reply"}, {"match": {"phase": "served"}, "do": "error", "code": "INTERNAL"}])");
  EXPECT_EQ(Commits().action, Action::kPass);
  EXPECT_EQ(Hears().action, Action::kDrop);
  EXPECT_FALSE(records_.back().answered);
  Commits();
  // It matched the first call, too, but another rule struck that.
  const Interception answered = Hears();
  EXPECT_EQ(answered.action, Action::kAnswer);
  EXPECT_EQ(answered.status.code, Code::kInternal);
  EXPECT_EQ(records_.size(), 2U);
}

// A history that says OK of an answer which nobody got hides why the call comes again.
TEST_F(RuleEngineTest, AnAnswerThatIsLostIsRecordedAsNone) {
  Commits();
  Hears();
  EXPECT_TRUE(records_.back().answered);
  Commits();
  Hears({}, Delivery::kLost);
  EXPECT_FALSE(records_.back().answered);
  EXPECT_EQ(records_.size(), 2U);
}

// By which the judge knows up to which time it has heard of all commits.
TEST_F(RuleEngineTest, ACommitIsUnderWayUntilItsAnswerIsDelivered) {
  const ProxiedCall call = {.number = 1, .method = "Commit"};
  Commits();
  EXPECT_TRUE(engine_.OldestCommitUnderWay().has_value());
  engine_.OnReply(call, {}, {});
  EXPECT_THAT(records_, testing::IsEmpty());
  EXPECT_TRUE(engine_.OldestCommitUnderWay().has_value());
  now_ = now_ + Seconds(3);
  engine_.OnDelivery(call, Delivery::kSent);
  EXPECT_EQ(records_.at(0).took, Seconds(3));
  EXPECT_FALSE(engine_.OldestCommitUnderWay().has_value());
}

TEST_F(RuleEngineTest, TimesArePastTheirTtlAndDrawn) {
  Rules(
      R"([{"match": {}, "do": "latency", "ttl": "10s", "add": {"min": "1s", "p50": "2s", "p99": "2980ms", "max": "3s"}}])");
  for (int i = 0; i < 20; ++i) {
    const Interception late = Commits();
    EXPECT_GE(late.delay, Seconds(1));
    EXPECT_LE(late.delay, Seconds(3));
    EXPECT_EQ(Hears().action, Action::kPass);
  }
  now_ = now_ + Seconds(11);
  EXPECT_EQ(Commits().delay, Duration());
}

TEST_F(RuleEngineTest, ProbabilitiesStrikeSoManyInAHundred) {
  Rules(R"([{"match": {}, "do": "abort", "percent": 30}])");
  int struck = 0;
  for (int i = 0; i < 1000; ++i) struck += Commits().action == Action::kAnswer ? 1 : 0;
  EXPECT_GT(struck, 230);
  EXPECT_LT(struck, 370);
}

TEST_F(RuleEngineTest, ABlackHoleCutsTheClientOffForItsTime) {
  Rules(R"([{"match": {"client": 2}, "do": "partition", "for": "5s"}])");
  Sends("SELECT 1", 1);
  EXPECT_THAT(links_,
              ElementsAre(std::pair<int16_t, sim::LinkState>(1, sim::LinkState::kBlackHoled)));
  ASSERT_EQ(later_.size(), 1U);
  EXPECT_EQ(later_[0].first, Seconds(5));
  later_[0].second();
  EXPECT_EQ(links_.back(), (std::pair<int16_t, sim::LinkState>(1, sim::LinkState::kUp)));
}

TEST_F(RuleEngineTest, AResetRefusesTheClientsConnectionsForItsTime) {
  Rules(R"([{"match": {"phase": "served"}, "do": "partition", "for": "100ms", "mode": "refuse"}])");
  Commits();
  EXPECT_THAT(links_, testing::IsEmpty());
  Hears();
  EXPECT_THAT(links_, ElementsAre(std::pair<int16_t, sim::LinkState>(0, sim::LinkState::kRefused)));
  ASSERT_EQ(later_.size(), 1U);
  later_[0].second();
  EXPECT_EQ(links_.back(), (std::pair<int16_t, sim::LinkState>(0, sim::LinkState::kUp)));
}

// The reply to a Commit was lost, and the client asks again: Spanner never says ABORTED of what it has
// committed.
TEST_F(RuleEngineTest, ACommitThatComesAgainGetsTheFirstAnswer) {
  Rules(R"([{"match": {"method": "Commit"}, "do": "drop_reply"},
            {"match": {"method": "Commit"}, "do": "abort", "times": 0}])");
  // Nothing is aborted before the rule is there, or after its first Commit has passed.
  ASSERT_TRUE(engine_.Remove(2));
  EXPECT_EQ(Commits("t").action, Action::kPass);
  Rules(R"([{"match": {"method": "Commit"}, "do": "abort", "times": 0},
            {"match": {}, "do": "error", "code": "ALREADY_EXISTS", "times": 0}])");
  EXPECT_EQ(Commits("t").action, Action::kPass) << "perhaps it is applied";
  --number_;
  EXPECT_EQ(HearsOfCommit().action, Action::kDrop);
  ++number_;
  EXPECT_EQ(Commits("t").action, Action::kPass) << "it is applied";
  EXPECT_EQ(engine_.List().at(1).matched, 0);
  EXPECT_EQ(Commits("u").status.code, Code::kAborted);
  EXPECT_EQ(engine_.List().at(1).struck, 1);
}

TEST_F(RuleEngineTest, ACommitThatSpannerHasRefusedCanBeAbortedWhenItComesAgain) {
  Commits("t");
  Hears(Error(Code::kResourceExhausted, ""));
  Rules(R"([{"match": {"method": "Commit"}, "do": "abort"}])");
  EXPECT_EQ(Commits("t").status.code, Code::kAborted);
}

TEST_F(RuleEngineTest, ACommitThatComesAgainCanMeetWhatSaysNothingOfIt) {
  Commits("t");
  HearsOfCommit();
  Rules(R"([{"match": {"method": "Commit"}, "do": "error", "code": "UNAVAILABLE"}])");
  EXPECT_EQ(Commits("t").status.code, Code::kUnavailable);
}

TEST_F(RuleEngineTest, WhatIsImpossibleStrikesWhereARuleSaysSo) {
  Commits("t");
  HearsOfCommit();
  Rules(R"([{"match": {"method": "Commit"}, "do": "abort", "impossible": true}])");
  EXPECT_EQ(Commits("t").status.code, Code::kAborted);
  EXPECT_EQ(Commits("t").action, Action::kPass);
}

// As Spanner: what has been aborted stays so.
TEST_F(RuleEngineTest, AnAbortedTransactionStaysAbortedUntilItsRollback) {
  Rules(R"([{"match": {}, "do": "abort"}])");
  const Interception aborted = Sends("UPDATE t SET v = 1 WHERE k = 'a'", 0, "t");
  EXPECT_EQ(aborted.status.code, Code::kAborted);
  // Spanner has let its locks go by then.
  ASSERT_TRUE(aborted.before_answer.has_value());
  EXPECT_EQ(aborted.before_answer->path, "/google.spanner.v1.Spanner/Rollback");
  v1::RollbackRequest own;
  ASSERT_TRUE(own.ParseFromString(aborted.before_answer->message));
  EXPECT_EQ(own.transaction_id(), "t");
  EXPECT_EQ(Commits("t").status.code, Code::kAborted);
  EXPECT_EQ(records_.back().fault, "f:1 (/faults/0)");
  EXPECT_EQ(engine_.List().at(0).struck, 1);
  EXPECT_EQ(Commits("other").action, Action::kPass);
  v1::RollbackRequest rollback;
  rollback.set_session("s");
  rollback.set_transaction_id("t");
  EXPECT_EQ(Calls("Rollback", rollback).action, Action::kPass);
  EXPECT_EQ(Commits("t").action, Action::kPass) << "Spanner has its own answer now";
}

TEST_F(RuleEngineTest, OnlyReadWriteTransactionsAreAborted) {
  v1::BeginTransactionRequest begin;
  begin.set_session("s");
  begin.mutable_options()->mutable_read_only();
  Calls("BeginTransaction", begin);
  v1::Transaction begun;
  begun.set_id("readonly");
  engine_.OnReply({.number = number_, .method = "BeginTransaction"}, {},
                  {begun.SerializeAsString()});
  Rules(R"([{"match": {}, "do": "abort", "times": 0}])");
  EXPECT_EQ(Sends("SELECT 1").action, Action::kPass);
  EXPECT_EQ(Sends("SELECT 1", 0, "readonly").action, Action::kPass);
  EXPECT_EQ(Calls("BeginTransaction", begin).action, Action::kPass);
  EXPECT_EQ(Calls("CreateSession", v1::CreateSessionRequest()).action, Action::kPass);
  EXPECT_EQ(engine_.List().at(0).matched, 0);
  EXPECT_EQ(Sends("SELECT 1", 0, "readwrite").status.code, Code::kAborted);
}

TEST_F(RuleEngineTest, ALostSessionStaysLost) {
  Rules(R"([{"match": {}, "do": "session_loss"}])");
  EXPECT_EQ(Calls("CreateSession", v1::CreateSessionRequest()).action, Action::kPass);
  EXPECT_EQ(Sends("SELECT 1").status.code, Code::kNotFound);
  EXPECT_EQ(Commits().status.message, "Session not found: s");
  v1::GetSessionRequest get;
  get.set_name("s");
  EXPECT_EQ(Calls("GetSession", get).status.code, Code::kNotFound);
  get.set_name("s2");
  EXPECT_EQ(Calls("GetSession", get).action, Action::kPass);
  v1::DeleteSessionRequest remove;
  remove.set_name("s");
  EXPECT_EQ(Calls("DeleteSession", remove).action, Action::kPass);
}

// A client with a deadline of an hour says nothing: the server has to.
TEST_F(RuleEngineTest, SaysWhichCallHangsByWhichRule) {
  Rules(R"([{"match": {"method": "Commit"}, "do": "drop_reply", "times": 0},
            {"match": {"sql_matches": "^SELECT"}, "do": "latency", "add": "1m"},
            {"match": {"sql_matches": "^UPDATE"}, "do": "latency", "add": "9s"}])");
  Commits();
  EXPECT_EQ(HearsOfCommit().action, Action::kDrop);
  Sends("SELECT 1", 1);
  Sends("UPDATE t", 1);
  ASSERT_EQ(later_.size(), 2U);
  EXPECT_EQ(later_[0].first, Seconds(10));
  EXPECT_THAT(said_, testing::IsEmpty());
  Later();
  EXPECT_THAT(said_,
              ElementsAre(testing::StartsWith("Commit of client 1 has had no answer for 10s by f:1 "
                                              "(/faults/0), drop_reply; it hangs until"),
                          "ExecuteStreamingSql of client 2 has had no answer for 10s by f:2 "
                          "(/faults/1), latency; for 60s in all"));
  Commits();
  HearsOfCommit();
  Later();
  EXPECT_EQ(said_.size(), 2U) << "once for each rule and method";
}

TEST_F(RuleEngineTest, SaysNothingOfACallThatItsClientHasGivenUp) {
  Rules(R"([{"match": {"method": "Commit"}, "do": "drop_request"}])");
  EXPECT_EQ(Commits().action, Action::kDrop);
  engine_.OnGivenUp({.number = number_, .method = "Commit"});
  Later();
  EXPECT_THAT(said_, testing::IsEmpty());
}

}  // namespace
}  // namespace whorl::live::rule_engine_test
