// The interface for C.

#include "check/check_c.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace whorl::check_c_test {
namespace {

using testing::HasSubstr;

std::string Taken(char* text) {
  std::string copy = text == nullptr ? std::string() : std::string(text);
  whorl_check_free_text(text);
  return copy;
}

TEST(CheckC, JudgesLinesOfSeveralFiles) {
  whorl_check* check =
      whorl_check_new(R"({"protocol":"spindle_v2","clock_error":"10ms"})", nullptr);
  ASSERT_NE(check, nullptr);
  const auto says = [&](const char* file, const char* id, const char* time) {
    const std::string line = std::string(R"({"event":"leads","lock":"job","id":")") + id +
                             R"(","time":"2026-01-01T00:00:)" + time + "Z\"}";
    return Taken(whorl_check_add_line(check, file, line.c_str()));
  };
  EXPECT_EQ(says("a.jsonl", "a", "10"), "");
  EXPECT_EQ(says("b.jsonl", "b", "15"), "");
  EXPECT_EQ(says("a.jsonl", "a", "20"), "");
  EXPECT_EQ(says("b.jsonl", "b", "25"), "");
  EXPECT_THAT(Taken(whorl_check_add_line(check, "b.jsonl", "{}")), HasSubstr("b.jsonl:3: "));
  const auto verdict = nlohmann::json::parse(Taken(whorl_check_verdict(check)));
  EXPECT_EQ(verdict["invariants"]["single_leader_belief"]["verdict"], "violated");
  EXPECT_EQ(verdict["invariants"]["single_worker"]["verdict"], "unknown");
  EXPECT_EQ(whorl_check_verdict(check), nullptr);
  EXPECT_EQ(says("a.jsonl", "a", "30"), "the verdict has been given");
  whorl_check_free(check);
}

TEST(CheckC, SaysWhatIsWrongWithTheOptions) {
  const auto wrong = [](const char* options) {
    char* error = nullptr;
    EXPECT_EQ(whorl_check_new(options, &error), nullptr);
    return Taken(error);
  };
  EXPECT_THAT(wrong("{"), HasSubstr("JSON object"));
  EXPECT_THAT(wrong("{}"), HasSubstr("want a \"protocol\""));
  EXPECT_THAT(wrong(R"({"protocol":"none"})"), HasSubstr("no protocol \"none\""));
  EXPECT_THAT(wrong(R"({"protocol":"spindle_v2","leese":"1s"})"), HasSubstr("no option"));
  EXPECT_THAT(wrong(R"({"protocol":"spindle_v2","lease":"1"x})"), HasSubstr("JSON"));
}

}  // namespace
}  // namespace whorl::check_c_test
