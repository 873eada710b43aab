// The lines that a program says: what is understood, and what is said of the rest.
#include "live/foreign/program_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "tests/support/json_schema.h"

namespace whorl::live::program_lines_test {
namespace {

using testing::HasSubstr;

TEST(ProgramLinesTest, AreUnderstood) {
  ProgramLine line;
  EXPECT_EQ(ParseProgramLine(R"({"event":"ready"})", line), "");
  EXPECT_TRUE(std::holds_alternative<ProgramReady>(line));
  EXPECT_EQ(ParseProgramLine(R"({"event":"leads"})", line), "");
  EXPECT_TRUE(std::get<ProgramLeads>(line).leads);
  EXPECT_EQ(std::get<ProgramLeads>(line).lapses_in, std::nullopt);
  EXPECT_EQ(ParseProgramLine(R"({"event":"leads","lapses_in_ms":1500})", line), "");
  EXPECT_EQ(std::get<ProgramLeads>(line).lapses_in, Milliseconds(1500));
  EXPECT_EQ(ParseProgramLine(R"({"event":"leads_not","lock":"job"})", line), "");
  EXPECT_EQ(std::get<ProgramLeads>(line).lock, "job");
  EXPECT_FALSE(std::get<ProgramLeads>(line).leads);
  EXPECT_EQ(ParseProgramLine(
                R"({"event":"answer","id":2,"yes":true,"token":"18446744073709551615"})", line),
            "");
  EXPECT_EQ(std::get<ProgramAnswers>(line).id, 2);
  EXPECT_TRUE(std::get<ProgramAnswers>(line).yes);
  EXPECT_EQ(std::get<ProgramAnswers>(line).token, 18446744073709551615U);
  EXPECT_EQ(ParseProgramLine(R"({"event":"answer","id":0,"yes":false,"token":7})", line), "");
  EXPECT_EQ(std::get<ProgramAnswers>(line).token, 7U);
  EXPECT_EQ(ParseProgramLine(R"({"event":"answer","id":0,"yes":false,"token":null})", line), "");
  EXPECT_EQ(ParseProgramLine(R"({"event":"log","text":"hello","more":[1]})", line), "");
  EXPECT_EQ(std::get<ProgramLogs>(line).text, "hello");
}

TEST(ProgramLinesTest, OtherLinesAreRefusedWithWhatWasExpected) {
  const auto wrong = [](const char* text) {
    ProgramLine line;
    return ParseProgramLine(text, line);
  };
  EXPECT_THAT(wrong("leader active (me)"), HasSubstr("logs belong on standard error"));
  EXPECT_THAT(wrong(""), HasSubstr("no JSON object"));
  EXPECT_THAT(wrong("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(wrong("{}"), HasSubstr("has no \"event\""));
  EXPECT_THAT(wrong(R"({"event":"lead"})"), HasSubstr("leads, leads_not"));
  EXPECT_THAT(wrong(R"({"event":"answer","yes":true})"), HasSubstr("\"id\""));
  EXPECT_THAT(wrong(R"({"event":"answer","id":-1,"yes":true})"), HasSubstr("\"id\""));
  EXPECT_THAT(wrong(R"({"event":"answer","id":1,"yes":1})"), HasSubstr("\"yes\""));
  EXPECT_THAT(wrong(R"({"event":"answer","id":1,"yes":true,"token":"x"})"), HasSubstr("\"token\""));
  EXPECT_THAT(wrong(R"({"event":"answer","id":1,"yes":true,"token":-1})"), HasSubstr("\"token\""));
  EXPECT_THAT(wrong(R"({"event":"leads","lock":7})"), HasSubstr("\"lock\""));
  EXPECT_THAT(wrong(R"({"event":"leads","lapses_in_ms":-1})"), HasSubstr("lapses_in_ms"));
  EXPECT_THAT(wrong(R"({"event":"leads_not","lapses_in_ms":1})"), HasSubstr("lapses_in_ms"));
  EXPECT_THAT(wrong(R"({"event":"log","text":7})"), HasSubstr("\"text\""));
}

// contract.schema.json is what authors of programs read.
TEST(ProgramLinesTest, AreAsTheSchemaSays) {
  std::ifstream file(WHORL_SOURCE_DIR "/live/foreign/contract.schema.json");
  const auto document = nlohmann::json::parse(file);
  const auto& orders = document["$defs"]["to_program"];
  const auto& events = document["$defs"]["from_program"];
  for (const std::string& line :
       {StartLine("a"), AskLine("a", 1, Question::kHasLock), AskLine("a", 2, Question::kLock),
        AskLine("a", 3, Question::kUnlock), StopLine("a", StopReason::kCancelled),
        StopLine("a", StopReason::kDeadline)}) {
    EXPECT_EQ(MistakeIn(nlohmann::json::parse(line), orders, document), "") << line;
  }
  for (const char* line : {R"({"event":"ready"})",
                           R"({"event":"ready","more":1})",
                           R"({"event":"leads"})",
                           R"({"event":"leads","lock":"a","lapses_in_ms":1500})",
                           R"({"event":"leads","lock":7})",
                           R"({"event":"leads","lapses_in_ms":-1})",
                           R"({"event":"leads_not","lock":"a"})",
                           R"({"event":"lead"})",
                           R"({"event":7})",
                           R"({})",
                           R"([])",
                           R"("ready")",
                           R"({"event":"answer","id":1,"yes":true,"token":"17"})",
                           R"({"event":"answer","id":1,"yes":true,"token":17})",
                           R"({"event":"answer","id":1,"yes":false,"token":null,"error":"no"})",
                           R"({"event":"answer","id":1,"yes":1})",
                           R"({"event":"answer","yes":true})",
                           R"({"event":"answer","id":-1,"yes":true})",
                           R"({"event":"log","text":"x"})",
                           R"({"event":"log","text":7})",
                           R"({"event":"log"})"}) {
    ProgramLine parsed;
    EXPECT_EQ(ParseProgramLine(line, parsed).empty(),
              MistakeIn(nlohmann::json::parse(line), events, document).empty())
        << line;
  }
}

TEST(ProgramLinesTest, OrdersAreLines) {
  EXPECT_EQ(StartLine("a"), "{\"do\":\"start\",\"lock\":\"a\"}\n");
  EXPECT_EQ(AskLine("a", 3, Question::kUnlock),
            "{\"do\":\"ask\",\"id\":3,\"lock\":\"a\",\"question\":\"unlock\"}\n");
  EXPECT_EQ(StopLine("a", StopReason::kDeadline),
            "{\"do\":\"stop\",\"lock\":\"a\",\"reason\":\"deadline\"}\n");
}

}  // namespace
}  // namespace whorl::live::program_lines_test
