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
    std::vector<CallRule> rules;
    std::vector<std::string> errors;
    ASSERT_TRUE(ParseRules("f", "{\"faults\":" + faults + "}", rules, errors)) << errors[0];
    for (CallRule& rule : rules) engine_.Add(std::move(rule));
  }
  Interception Sends(const std::string& sql, int16_t client = 0) {
    v1::ExecuteSqlRequest request;
    request.set_session("s");
    request.set_sql(sql);
    (*request.mutable_params()->mutable_fields())["name"].set_string_value("job");
    return engine_.OnRequest({.node = client, .number = ++number_, .method = "ExecuteStreamingSql"},
                             request.SerializeAsString());
  }
  Interception Commits() {
    v1::CommitRequest request;
    request.set_session("s");
    request.set_transaction_id("t");
    return engine_.OnRequest({.number = ++number_, .method = "Commit"},
                             request.SerializeAsString());
  }
  Interception Hears(const Status& status = {}) {
    return engine_.OnReply({.number = number_, .method = "Commit"}, status, {});
  }

  LocalInstant now_ = LocalInstant{} + Seconds(100);
  std::vector<std::pair<int16_t, sim::LinkState>> links_;
  std::vector<std::pair<Duration, std::function<void()>>> later_;
  std::vector<CallRecord> records_;
  uint64_t number_ = 0;
  RuleEngine engine_{
      {.seed = 1,
       .wall = [] { return Timestamp{}; },
       .steady = [this] { return now_; },
       .link = [this](int16_t client, sim::LinkState state) { links_.emplace_back(client, state); },
       .later = [this](Duration later,
                       std::function<void()> task) { later_.emplace_back(later, std::move(task)); },
       .record = [this](const CallRecord& one) { records_.push_back(one); }}};
};

TEST_F(RuleEngineTest, StrikesByMethodCountAndTimes) {
  Rules(R"([{"method": "Commit", "do": "abort", "count": 2, "every": 2, "times": 2}])");
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
  Rules(R"([{"do": "abort"}])");
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
    Rules(R"([{"do": "error", )" + rule + "}]");
    const bool struck = Sends(read, 2).action == Action::kAnswer;
    EXPECT_EQ(struck, matches) << rule;
    ASSERT_TRUE(engine_.Remove(engine_.List().at(0).number)) << rule;
  }
}

TEST_F(RuleEngineTest, ServedCallsAreAnsweredOrLostAfterwards) {
  Rules(R"([{"do": "drop_reply"}, {"do": "error", "code": "INTERNAL", "phase": "served"}])");
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

TEST_F(RuleEngineTest, TimesArePastTheirTtlAndDrawn) {
  Rules(R"([{"do": "latency", "for": ["1s", "3s"], "ttl": "10s"}])");
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
  Rules(R"([{"do": "abort", "probability": 30}])");
  int struck = 0;
  for (int i = 0; i < 1000; ++i) struck += Commits().action == Action::kAnswer ? 1 : 0;
  EXPECT_GT(struck, 230);
  EXPECT_LT(struck, 370);
}

TEST_F(RuleEngineTest, ABlackHoleCutsTheClientOffForItsTime) {
  Rules(R"([{"do": "black_hole", "for": "5s", "client": 2}])");
  Sends("SELECT 1", 1);
  EXPECT_THAT(links_,
              ElementsAre(std::pair<int16_t, sim::LinkState>(1, sim::LinkState::kBlackHoled)));
  ASSERT_EQ(later_.size(), 1U);
  EXPECT_EQ(later_[0].first, Seconds(5));
  later_[0].second();
  EXPECT_EQ(links_.back(), (std::pair<int16_t, sim::LinkState>(1, sim::LinkState::kUp)));
}

TEST_F(RuleEngineTest, AResetRefusesTheClientsConnectionsForItsTime) {
  Rules(R"([{"do": "reset", "for": "100ms", "phase": "served"}])");
  Commits();
  EXPECT_THAT(links_, testing::IsEmpty());
  Hears();
  EXPECT_THAT(links_, ElementsAre(std::pair<int16_t, sim::LinkState>(0, sim::LinkState::kRefused)));
  ASSERT_EQ(later_.size(), 1U);
  later_[0].second();
  EXPECT_EQ(links_.back(), (std::pair<int16_t, sim::LinkState>(0, sim::LinkState::kUp)));
}

}  // namespace
}  // namespace whorl::live::rule_engine_test
