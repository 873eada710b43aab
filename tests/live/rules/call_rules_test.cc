// Rules are read as they were meant, and what cannot be meant is told with its place.
#include "live/rules/call_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "live/foreign/sql_steps.h"
#include "sim/scenario/language.h"

namespace whorl::live::call_rules_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> ErrorsOf(const std::string& text) {
  const RuleFile file = ParseRules("f.json", text);
  EXPECT_TRUE(file.errors.empty() || file.rules.empty());
  return file.errors;
}
std::vector<std::string> ErrorsOfRule(const std::string& rule) {
  return ErrorsOf("{\"faults\":[\n" + rule + "]}");
}
// Of a rule for all calls.
std::vector<std::string> ErrorsOfFault(const std::string& fault) {
  return ErrorsOfRule("{\"match\": {}, " + fault + "}");
}
// Of an abort of calls that match.
std::vector<std::string> ErrorsOfMatch(const std::string& match) {
  return ErrorsOfRule("{\"match\": {" + match + "}, \"do\": \"abort\"}");
}

constexpr std::string_view kAll = R"({"about": "x", "faults": [
    {"match": {"method": "Commit", "count": 3}, "do": "drop_reply"},
    {"match": {"sql": "SELECT 1", "table": "t", "nth": 2, "phase": "served", "client": 2,
               "parameters": {"k": "v", "n": 1}},
     "do": "latency", "add": {"min": "1ms", "p50": "2ms", "p99": "1s", "max": "2s"}, "times": 0},
    {"match": {"protocol": "spindle_v2", "step": "takeover_insert"}, "do": "error",
     "code": "UNAVAILABLE", "percent": 20, "ttl": "1m"},
    {"match": {}, "do": "partition", "mode": "refuse", "for": "3s"},
    {"match": {"sql_matches": "^select"}, "do": "abort", "impossible": true, "about": "y"}],
  "version": 1, "$schema": "rules.schema.json"})";

TEST(CallRulesTest, AreRead) {
  const RuleFile file = ParseRules("f.json", kAll);
  ASSERT_THAT(file.errors, IsEmpty());
  EXPECT_EQ(file.note, "");
  const std::vector<CallRule>& rules = file.rules;
  ASSERT_EQ(rules.size(), 5U);
  EXPECT_EQ(rules[0].method, "Commit");
  EXPECT_TRUE(std::holds_alternative<sim::DropReplyFault>(rules[0].what));
  EXPECT_EQ(rules[0].phase, Phase::kServed);
  EXPECT_EQ(rules[0].count, 3);
  EXPECT_EQ(rules[0].times, 1);
  EXPECT_EQ(rules[0].text, "f.json:2 (/faults/0)");
  EXPECT_EQ(rules[1].sql, NormalizedSql("select 1"));
  EXPECT_EQ(std::get<sim::LatencyFault>(rules[1].what).add,
            (sim::DelaySpec{Milliseconds(1), Milliseconds(2), Seconds(1), Seconds(2)}));
  EXPECT_EQ(rules[1].nth, 2);
  EXPECT_EQ(rules[1].times, 0);
  EXPECT_EQ(rules[1].client, 1);
  EXPECT_EQ(rules[1].parameters.at("n"), "1");
  EXPECT_EQ(rules[1].phase, Phase::kServed);
  EXPECT_EQ(rules[2].times, 0);
  EXPECT_EQ(rules[2].percent, 20);
  EXPECT_EQ(rules[2].ttl, Seconds(60));
  EXPECT_EQ(rules[2].code, Code::kUnavailable);
  EXPECT_EQ(WordOf(*rules[2].step), "takeover_insert");
  EXPECT_EQ(std::get<sim::PartitionFault>(rules[3].what).mode, sim::PartitionMode::kRefuse);
  EXPECT_EQ(std::get<sim::PartitionFault>(rules[3].what).lasts, Seconds(3));
  EXPECT_TRUE(std::regex_search("SELECT 1", *rules[4].sql_matches));
  EXPECT_TRUE(rules[4].impossible);
  // A key that is described and read by nobody would be taken and ignored.
  for (const auto id : {sim::ObjectId::kRules, sim::ObjectId::kRule, sim::ObjectId::kMatch}) {
    for (const std::string_view key : sim::DescribeObject(id).KeyNames()) {
      EXPECT_NE(kAll.find("\"" + std::string(key) + "\":"), std::string_view::npos) << key;
    }
  }
}

TEST(CallRulesTest, MistakesAreToldWithTheirPlaces) {
  EXPECT_THAT(ErrorsOf("{"), ElementsAre(StartsWith("f.json:1:")));
  EXPECT_THAT(ErrorsOf("[]"), ElementsAre(HasSubstr("expected an object")));
  EXPECT_THAT(ErrorsOf(R"({"faults": [], "fault": 1})"), ElementsAre(HasSubstr("/fault")));
  EXPECT_THAT(ErrorsOfRule("7"), ElementsAre(HasSubstr("/faults/0")));
  EXPECT_THAT(ErrorsOfRule("{\"match\": {},\n \"do\": \"abortt\"}"),
              ElementsAre(AllOf(StartsWith("f.json:3: /faults/0/do"), HasSubstr("\"abort\""))));
  EXPECT_THAT(ErrorsOfRule(R"({"match": {}})"), ElementsAre(HasSubstr("\"do\"")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "latency")"), ElementsAre(HasSubstr("needs the key \"add\"")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "partition")"), ElementsAre(HasSubstr("key \"for\"")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "error")"), ElementsAre(HasSubstr("key \"code\"")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "abort", "for": "1s")"),
              ElementsAre(HasSubstr("has no \"for\"; \"ttl\" is how long")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "abort", "code": "INTERNAL")"),
              ElementsAre(HasSubstr("\"abort\" has no \"code\"")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "latency", "add": {"p50": "2s", "p99": "1s", "max": "3s"})"),
              ElementsAre(HasSubstr("min <= p50")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "latency", "add": 5)"),
              ElementsAre(HasSubstr("/faults/0/add")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "error", "code": "OK")"),
              ElementsAre(HasSubstr("/faults/0/code")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "abort", "ttl": "0s")"),
              ElementsAre(HasSubstr("/faults/0/ttl")));
  EXPECT_THAT(ErrorsOfRule(R"({"match": {"phase": "sent"}, "do": "drop_reply"})"),
              ElementsAre(HasSubstr("\"served\"")));
  EXPECT_THAT(ErrorsOfRule(R"({"match": {"phase": "served"}, "do": "drop_request"})"),
              ElementsAre(HasSubstr("drop_reply")));
  EXPECT_THAT(ErrorsOfMatch(R"("methd": "Commit")"),
              ElementsAre(AllOf(StartsWith("f.json:2: /faults/0/match/methd"),
                                HasSubstr("did you mean \"method\"?"))));
  EXPECT_THAT(ErrorsOfMatch(R"("method": "Comit")"),
              ElementsAre(HasSubstr("did you mean \"Commit\"?")));
  EXPECT_THAT(ErrorsOfMatch(R"("step": "beat")"), ElementsAre(HasSubstr("\"protocol\"")));
  EXPECT_THAT(ErrorsOfMatch(R"("protocol": "spindle_v2", "step": "beat")"),
              ElementsAre(HasSubstr("takeover_insert")));
  EXPECT_THAT(ErrorsOfMatch(R"("protocol": "lease_lock", "step": "get")"), IsEmpty());
  EXPECT_THAT(ErrorsOfMatch(R"("sql_matches": "(")"), ElementsAre(HasSubstr("regular expression")));
  EXPECT_THAT(ErrorsOfMatch(R"("count": 0)"), ElementsAre(HasSubstr("from 1")));
  EXPECT_THAT(ErrorsOfMatch(R"("client": "a")"), ElementsAre(HasSubstr("/faults/0/match/client")));
}

TEST(CallRulesTest, AFileOfAnEarlierReleaseIsRead) {
  std::ifstream written(WHORL_SOURCE_DIR "/tests/earlier_release/rules.json");
  const RuleFile file =
      ParseRules("rules.json", std::string(std::istreambuf_iterator<char>(written), {}));
  EXPECT_THAT(file.errors, IsEmpty());
  EXPECT_THAT(file.rules, testing::SizeIs(7));
}

TEST(CallRulesTest, ExamplesOfThePageAreRead) {
  const auto example = [](sim::ObjectId id) {
    return std::string(sim::DescribeObject(id).example);
  };
  const RuleFile file = ParseRules("f.json", example(sim::ObjectId::kRules));
  EXPECT_THAT(file.errors, IsEmpty());
  EXPECT_EQ(file.note, "");
  EXPECT_THAT(ErrorsOfRule(example(sim::ObjectId::kRule)), IsEmpty());
  EXPECT_THAT(
      ErrorsOfRule("{\"match\": " + example(sim::ObjectId::kMatch) + ", \"do\": \"abort\"}"),
      IsEmpty());
}

// A file of an earlier release means what it meant then, and what is wrong in it is told at its rule.
TEST(CallRulesTest, TheWordsOfAnEarlierReleaseAreRead) {
  const RuleFile file = ParseRules("f.json", R"({"faults": [
    {"method": "Commit", "do": "drop_reply", "count": 3},
    {"sql_matches": "^select", "do": "hold", "for": ["50ms", "2050ms"], "every": 10, "times": 0},
    {"do": "black_hole", "for": "12s", "client": 2},
    {"do": "reset", "for": "1s", "phase": "served"},
    {"do": "error", "probability": 5, "ttl": "1m"}]})");
  ASSERT_THAT(file.errors, IsEmpty());
  EXPECT_THAT(file.note, AllOf(HasSubstr("earlier release"), HasSubstr("whorl convert f.json")));
  const std::vector<CallRule>& rules = file.rules;
  ASSERT_EQ(rules.size(), 5U);
  EXPECT_EQ(rules[0].method, "Commit");
  EXPECT_EQ(rules[0].count, 3);
  EXPECT_EQ(rules[0].text, "f.json:2 (/faults/0)");
  EXPECT_EQ(rules[1].nth, 10);
  EXPECT_EQ(rules[1].times, 0);
  EXPECT_EQ(std::get<sim::LatencyFault>(rules[1].what).add,
            (sim::DelaySpec{Milliseconds(50), Milliseconds(1050), Milliseconds(2030),
                            Milliseconds(2050)}));
  EXPECT_EQ(std::get<sim::PartitionFault>(rules[2].what).lasts, Seconds(12));
  EXPECT_EQ(std::get<sim::PartitionFault>(rules[2].what).mode, sim::PartitionMode::kBlackHole);
  EXPECT_EQ(std::get<sim::PartitionFault>(rules[3].what).mode, sim::PartitionMode::kRefuse);
  EXPECT_EQ(rules[3].phase, Phase::kServed);
  EXPECT_EQ(rules[4].percent, 5);
  EXPECT_EQ(rules[4].times, 0);
  EXPECT_EQ(rules[4].code, Code::kUnavailable);
  EXPECT_THAT(
      ErrorsOf("{\"faults\": [{\"do\": \"abort\"},\n {\"methd\": \"Commit\", \"do\": \"abort\"}]}"),
      ElementsAre(AllOf(StartsWith("f.json:2: /faults/1/match/methd"),
                        HasSubstr("did you mean \"method\"?"))));
}

// A client that fails because it was shown what Spanner never shows has no defect.
TEST(CallRulesTest, WhatSpannerNeverAnswersIsRefusedUnlessItIsCalledImpossible) {
  const std::vector<std::array<std::string, 3>> wrong = {
      {R"("phase": "served")", R"("do": "abort")",
       "/do: Spanner does not answer ABORTED to a call that"},
      {R"("method": "Rollback")", R"("do": "abort")",
       "Spanner never answers ABORTED to Rollback; its"},
      {R"("method": "CreateSession")", R"("do": "abort")",
       "never answers ABORTED to CreateSession"},
      {R"("method": "BatchWrite")", R"("do": "abort")", "never answers ABORTED to BatchWrite"},
      {R"("method": "GetSession")", R"("do": "error", "code": "ABORTED")", "/code: Spanner never"},
      {R"("method": "GetSession")", R"("do": "error", "code": "ALREADY_EXISTS")",
       "ALREADY_EXISTS to GetSession"},
      {"", R"("do": "error", "code": "DATA_LOSS")", "Spanner answers DATA_LOSS to no call"},
      {R"("phase": "served")", R"("do": "error", "code": "PERMISSION_DENIED")", "drop_reply"},
      {R"("phase": "served")", R"("do": "session_loss")",
       "does not answer NOT_FOUND to a call that"},
      {R"("method": "CreateSession")", R"("do": "session_loss")", "without looking for a session"},
  };
  const auto rule_of = [](const std::string& match, const std::string& fault) {
    return "{\"match\": {" + match + "}, " + fault;
  };
  for (const auto& [match, fault, why] : wrong) {
    const std::string rule = rule_of(match, fault);
    EXPECT_THAT(ErrorsOfRule(rule + "}"),
                ElementsAre(AllOf(HasSubstr(why), HasSubstr("\"impossible\": true"))))
        << rule;
    EXPECT_THAT(ErrorsOfRule(rule + R"(, "impossible": true})"), IsEmpty()) << rule;
    EXPECT_THAT(ErrorsOfRule(rule + R"(, "impossible": false})"), testing::SizeIs(1)) << rule;
  }
  const std::vector<std::pair<std::string, std::string>> right = {
      {"", R"("do": "abort")"},
      {R"("method": "Commit")", R"("do": "abort")"},
      {R"("phase": "served")", R"("do": "error", "code": "UNAVAILABLE")"},
      {R"("phase": "served")", R"("do": "error", "code": "UNKNOWN")"},
      {R"("method": "ExecuteSql")", R"("do": "error", "code": "ALREADY_EXISTS")"},
      {R"("method": "Commit")", R"("do": "session_loss")"},
      {R"("phase": "served")", R"("do": "latency", "add": "1s")"}};
  for (const auto& [match, fault] : right) {
    EXPECT_THAT(ErrorsOfRule(rule_of(match, fault) + "}"), IsEmpty()) << fault;
  }
  EXPECT_THAT(ErrorsOfFault(R"("do": "drop_reply", "impossible": true)"),
              ElementsAre(HasSubstr("can happen")));
  EXPECT_THAT(ErrorsOfFault(R"("do": "abort", "impossible": 1)"),
              ElementsAre(HasSubstr("/faults/0/impossible")));
}

}  // namespace
}  // namespace whorl::live::call_rules_test
