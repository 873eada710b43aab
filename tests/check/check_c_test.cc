// The interface for C.

#include "check/check_c.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace whorl::check_c_test {
namespace {

using testing::AllOf;
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
    const std::string line = std::string(R"({"event":"leads","logs":"leads","lock":"job","id":")") +
                             id + R"(","time":"2026-01-01T00:00:)" + time + "Z\"}";
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

// A test's own logs need no other format.
class CheckCPattern : public testing::Test {
 protected:
  static constexpr const char* kMapping =
      R"json({"time":"%Y-%m-%d %H:%M:%S","logs":"leads","lines":[
      {"match":"^(?P<time>\\S+ \\S+) (?P<id>\\w+) leads (?P<lock>\\w+)","event":"leads"},
      {"match":"^(?P<time>\\S+ \\S+) (?P<id>\\w+) ","event":"goes_on"}]})json";

  static std::string VerdictBy(const std::string& pattern) {
    const std::string options =
        R"({"protocol":"spindle_v2","clock_error":"10ms","pattern":)" + pattern + "}";
    char* error = nullptr;
    whorl_check* check = whorl_check_new(options.c_str(), &error);
    EXPECT_EQ(Taken(error), "");
    if (check == nullptr) return {};
    for (const char* line : {"2026-01-01 00:00:10 a leads job", "2026-01-01 00:00:15 b leads job",
                             "2026-01-01 00:00:20 a goes on", "2026-01-01 00:00:25 b goes on"}) {
      EXPECT_EQ(Taken(whorl_check_add_line(check, "pods.log", line)), "");
    }
    const auto verdict = nlohmann::json::parse(Taken(whorl_check_verdict(check)));
    whorl_check_free(check);
    return verdict["invariants"]["single_leader_belief"]["verdict"];
  }
};

TEST_F(CheckCPattern, IsAnObjectOrAFile) {
  EXPECT_EQ(VerdictBy(kMapping), "violated");
  const std::string path = testing::TempDir() + "check_c_mapping.json";
  std::ofstream(path) << kMapping;
  EXPECT_EQ(VerdictBy('"' + path + '"'), "violated");
  // It has no line of these.
  EXPECT_EQ(VerdictBy(R"("spindle_v2")"), "unknown");
}

TEST(CheckC, JudgesLocksOfNoProtocol) {
  whorl_check* check = whorl_check_new(R"({"protocol":"none","clock_error":"10ms"})", nullptr);
  ASSERT_NE(check, nullptr);
  for (const char* id : {"a", "b"}) {
    const std::string line =
        R"({"event":"leads","lock":"job","time":"2026-01-01T00:00:05Z","id":")";
    EXPECT_EQ(whorl_check_add_line(check, "log", (line + id + "\"}").c_str()), nullptr);
  }
  for (const char* id : {"a", "b"}) {
    const std::string line = R"({"event":"lost","lock":"job","time":"2026-01-01T00:00:09Z","id":")";
    EXPECT_EQ(whorl_check_add_line(check, "log", (line + id + "\"}").c_str()), nullptr);
  }
  const nlohmann::json verdict = nlohmann::json::parse(Taken(whorl_check_verdict(check)));
  EXPECT_EQ(verdict["invariants"]["single_leader_belief"]["verdict"], "violated");
  EXPECT_EQ(verdict["invariants"]["token_monotonic"]["verdict"], "not judged");
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
  EXPECT_THAT(wrong(R"({"protocol":"nosuch"})"), HasSubstr("no protocol \"nosuch\""));
  EXPECT_THAT(wrong(R"({"protocol":"spindle_v2","leese":"1s"})"), HasSubstr("no option"));
  EXPECT_THAT(wrong(R"({"protocol":"spindle_v2","lease":"1"x})"), HasSubstr("JSON"));
  EXPECT_THAT(wrong(R"({"protocol":"spindle_v2","pattern":"nosuch"})"),
              AllOf(HasSubstr("\"nosuch\" is no file"), HasSubstr("spindle_v2")));
  EXPECT_THAT(wrong(R"({"protocol":"spindle_v2","pattern":{"lines":[]}})"),
              HasSubstr("\"pattern\": wants \"lines\""));
  EXPECT_THAT(wrong(R"({"protocol":"spindle_v2","pattern":1})"), HasSubstr("ready mapping"));
  EXPECT_THAT(wrong(R"({"protocol":"spindle_v2","format":"log"})"), HasSubstr("\"pattern\""));
  EXPECT_THAT(wrong(R"({"protocol":"spindle_v2","format":"xml"})"), HasSubstr("edn"));
}

}  // namespace
}  // namespace whorl::check_c_test
