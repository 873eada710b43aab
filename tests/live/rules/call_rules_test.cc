// Rules are read as they were meant, and what cannot be meant is told with its place.
#include "live/rules/call_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "live/foreign/sql_steps.h"

namespace whorl::live::call_rules_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> ErrorsOf(const std::string& text) {
  std::vector<CallRule> rules;
  std::vector<std::string> errors;
  const bool are_right = ParseRules("f.json", text, rules, errors);
  EXPECT_EQ(are_right, errors.empty());
  if (!errors.empty()) {
    EXPECT_THAT(rules, IsEmpty());
  }
  return errors;
}
std::vector<std::string> ErrorsOfRule(const std::string& rule) {
  return ErrorsOf("{\"faults\":[\n" + rule + "]}");
}

TEST(CallRulesTest, AreRead) {
  std::vector<CallRule> rules;
  std::vector<std::string> errors;
  ASSERT_TRUE(ParseRules("f.json", R"({"about": "x", "faults": [
    {"method": "Commit", "do": "drop_reply", "count": 3},
    {"sql": "SELECT 1", "table": "t", "do": "latency", "for": ["1ms", "2s"], "every": 2,
     "times": 0, "phase": "served", "client": 2, "parameters": {"k": "v", "n": 1}},
    {"protocol": "spindle_v2", "step": "takeover_insert", "do": "error", "code": "INTERNAL",
     "probability": 20, "ttl": "1m"}]})",
                         rules, errors))
      << errors[0];
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].method, "Commit");
  EXPECT_EQ(rules[0].action, RuleAction::kDropReply);
  EXPECT_EQ(rules[0].phase, RulePhase::kServed);
  EXPECT_EQ(rules[0].count, 3);
  EXPECT_EQ(rules[0].times, 1);
  EXPECT_EQ(rules[0].text, "f.json:2 (/faults/0)");
  EXPECT_EQ(rules[1].sql, NormalizedSql("select 1"));
  EXPECT_EQ(rules[1].least, Milliseconds(1));
  EXPECT_EQ(rules[1].most, Seconds(2));
  EXPECT_EQ(rules[1].client, 1);
  EXPECT_EQ(rules[1].parameters.at("n"), "1");
  EXPECT_EQ(rules[1].phase, RulePhase::kServed);
  EXPECT_EQ(rules[2].times, 0);
  EXPECT_EQ(rules[2].percent, 20);
  EXPECT_EQ(rules[2].code, Code::kInternal);
  EXPECT_EQ(WordOf(*rules[2].step), "takeover_insert");
}

TEST(CallRulesTest, MistakesAreToldWithTheirPlaces) {
  EXPECT_THAT(ErrorsOf("{"), ElementsAre(StartsWith("f.json:1:")));
  EXPECT_THAT(ErrorsOf("[]"), ElementsAre(HasSubstr("an array of rules")));
  EXPECT_THAT(ErrorsOf(R"({"faults": [], "fault": 1})"), ElementsAre(HasSubstr("/fault")));
  EXPECT_THAT(ErrorsOfRule(R"({"methd": "Commit", "do": "abort"})"),
              ElementsAre(AllOf(StartsWith("f.json:2:2: /faults/0/methd"),
                                HasSubstr("did you mean \"method\"?"))));
  EXPECT_THAT(ErrorsOfRule(R"({"method": "Comit", "do": "abort"})"),
              ElementsAre(HasSubstr("did you mean \"Commit\"?")));
  EXPECT_THAT(ErrorsOfRule(R"({"method": "Commit"})"), ElementsAre(HasSubstr("\"do\" is missing")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abortt"})"), ElementsAre(HasSubstr("\"abort\"")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "hold"})"), ElementsAre(HasSubstr("\"for\" is missing")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "for": "1s"})"),
              ElementsAre(HasSubstr("takes no time")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "hold", "for": ["2s", "1s"]})"),
              ElementsAre(HasSubstr("shorter")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "hold", "for": 5})"), ElementsAre(HasSubstr("/faults/0/for")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "drop_reply", "phase": "sent"})"),
              ElementsAre(HasSubstr("\"served\"")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "drop_request", "phase": "served"})"),
              ElementsAre(HasSubstr("drop_reply")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "error", "code": "OK"})"), ElementsAre(HasSubstr("no error")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "code": "INTERNAL"})"),
              ElementsAre(HasSubstr("only \"error\"")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "step": "beat"})"),
              ElementsAre(HasSubstr("\"protocol\"")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "protocol": "spindle_v2", "step": "beat"})"),
              ElementsAre(HasSubstr("takeover_insert")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "protocol": "lease_lock", "step": "get"})"),
              IsEmpty());
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "sql_matches": "("})"),
              ElementsAre(HasSubstr("regular expression")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "count": 0})"), ElementsAre(HasSubstr("from 1")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "client": "a"})"),
              ElementsAre(HasSubstr("/faults/0/client")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "ttl": "0s"})"),
              ElementsAre(HasSubstr("/faults/0/ttl")));
  EXPECT_THAT(ErrorsOfRule("7"), ElementsAre(HasSubstr("/faults/0")));
}

// A client that fails because it was shown what Spanner never shows has no defect.
TEST(CallRulesTest, WhatSpannerNeverAnswersIsRefusedUnlessItIsCalledImpossible) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {R"("do": "abort", "phase": "served")",
       "/do: Spanner does not answer ABORTED to a call that"},
      {R"("do": "abort", "method": "Rollback")", "Spanner never answers ABORTED to Rollback; its"},
      {R"("do": "abort", "method": "CreateSession")", "never answers ABORTED to CreateSession"},
      {R"("do": "abort", "method": "BatchWrite")", "never answers ABORTED to BatchWrite"},
      {R"("do": "error", "code": "ABORTED", "method": "GetSession")", "/code: Spanner never"},
      {R"("do": "error", "code": "ALREADY_EXISTS", "method": "GetSession")",
       "ALREADY_EXISTS to GetSession"},
      {R"("do": "error", "code": "DATA_LOSS")", "Spanner answers DATA_LOSS to no call"},
      {R"("do": "error", "code": "PERMISSION_DENIED", "phase": "served")", "drop_reply"},
      {R"("do": "session_loss", "phase": "served")", "does not answer NOT_FOUND to a call that"},
      {R"("do": "session_loss", "method": "CreateSession")", "without looking for a session"},
  };
  for (const auto& [rule, why] : wrong) {
    EXPECT_THAT(ErrorsOfRule("{" + rule + "}"),
                ElementsAre(AllOf(HasSubstr(why), HasSubstr("\"impossible\": true"))))
        << rule;
    EXPECT_THAT(ErrorsOfRule("{" + rule + R"(, "impossible": true})"), IsEmpty()) << rule;
    EXPECT_THAT(ErrorsOfRule("{" + rule + R"(, "impossible": false})"), testing::SizeIs(1)) << rule;
  }
  for (const char* right : {R"("do": "abort")", R"("do": "abort", "method": "Commit")",
                            R"("do": "error", "phase": "served")",
                            R"("do": "error", "code": "UNKNOWN", "phase": "served")",
                            R"("do": "error", "code": "ALREADY_EXISTS", "method": "ExecuteSql")",
                            R"("do": "session_loss", "method": "Commit")",
                            R"("do": "hold", "for": "1s", "phase": "served")"}) {
    EXPECT_THAT(ErrorsOfRule("{" + std::string(right) + "}"), IsEmpty()) << right;
  }
  EXPECT_THAT(ErrorsOfRule(R"({"do": "drop_reply", "impossible": true})"),
              ElementsAre(HasSubstr("can happen")));
  EXPECT_THAT(ErrorsOfRule(R"({"do": "abort", "impossible": 1})"),
              ElementsAre(HasSubstr("true or false")));
}

}  // namespace
}  // namespace whorl::live::call_rules_test
