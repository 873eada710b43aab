// A JUnit report has a failure where a command ends with 1, and an error where it ends with 2 or 3: CI systems show the one
// and stop at the other.
#include "cli/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/cli_testing.h"

namespace whorl::cli {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Names and texts come from files and from other people's histories.
TEST(Junit, WhatXmlCannotHoldIsEscapedOrReplaced) {
  const std::string text = JunitText(
      "whorl", {{.group = "a<b", .name = "x \"y\" & z", .text = "line\x01one\nline two"}});
  EXPECT_THAT(text,
              AllOf(StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"),
                    HasSubstr("classname=\"a&lt;b\" name=\"x &quot;y&quot; &amp; z\""),
                    HasSubstr(">line?one\nline two</system-out>"), EndsWith("</testsuites>\n")));
}

TEST(Junit, CountsItsTests) {
  const std::string text = JunitText(
      "whorl", {{.group = "g", .name = "a", .text = {}, .seconds = 1.25},
                {.group = "g", .name = "b", .outcome = JunitOutcome::kFailed, .text = "why\nhow"},
                {.group = "g", .name = "c", .outcome = JunitOutcome::kError, .text = "late"},
                {.group = "g", .name = "d", .outcome = JunitOutcome::kSkipped, .text = "n/a"}});
  EXPECT_THAT(
      text, AllOf(HasSubstr("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"1.250\""),
                  HasSubstr("name=\"a\" time=\"1.250\"/>"),
                  HasSubstr("<failure message=\"why\">why\nhow</failure>"),
                  HasSubstr("<error message=\"late\">"), HasSubstr("<skipped message=\"n/a\">")));
}

class JunitCliTest : public CliTest {
 protected:
  std::string Report() const { return ReadText(folder_ / "junit.xml"); }
};

TEST_F(JunitCliTest, ReplayHasATestForEachScenario) {
  const std::string wrong = Replaced(std::string(kQuiet), R"("holds": ["one_live_token"])",
                                     R"("violates": ["one_live_token"])");
  Write("quiet.json", kQuiet);
  Write("wrong.json", wrong);
  EXPECT_EQ(Whorl("replay quiet.json --junit junit.xml").code, 0);
  EXPECT_THAT(Report(),
              AllOf(HasSubstr("name=\"whorl replay\" tests=\"1\" failures=\"0\" errors=\"0\""),
                    HasSubstr("classname=\"spindle_v2\" name=\"quiet\"")));
  EXPECT_EQ(Whorl("replay . --junit junit.xml").code, 1);
  EXPECT_THAT(Report(), AllOf(HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\""),
                              HasSubstr("name=\"wrong\""), HasSubstr("one_live_token"),
                              HasSubstr("replay ./wrong.json --seed 5")));
  Write("bad.json", "{");
  EXPECT_EQ(Whorl("replay quiet.json bad.json --junit junit.xml").code, 2);
  EXPECT_THAT(Report(), AllOf(HasSubstr("failures=\"0\" errors=\"1\""), HasSubstr("bad.json:1")));
}

TEST_F(JunitCliTest, HuntFailsInWhatDecides) {
  const std::string hunt = "hunt --protocol spindle_v2 --runs 40 --seed 1 --junit junit.xml";
  EXPECT_EQ(Whorl(hunt).code, 0);
  EXPECT_THAT(Report(), AllOf(HasSubstr("failures=\"0\" errors=\"0\""),
                              HasSubstr("classname=\"spindle_v2\" name=\"lease_respected\""),
                              HasSubstr("lease_respected violated")));
  EXPECT_EQ(Whorl(hunt + " --expect lease_respected").code, 1);
  EXPECT_THAT(Report(),
              AllOf(HasSubstr("failures=\"1\" errors=\"0\""),
                    HasSubstr("name=\"lease_respected\" time=\"0.000\">\n      <failure")));
}

TEST_F(JunitCliTest, ASearchThatWasNotCompleteIsAnError) {
  const std::string explore =
      "explore --protocol fenced_lease --constants grid --crashes 1 --promised --junit junit.xml";
  EXPECT_EQ(Whorl(explore).code, 0);
  EXPECT_THAT(Report(), AllOf(HasSubstr("failures=\"0\" errors=\"0\""),
                              HasSubstr("classname=\"fenced_lease\" name=\"lease_respected\""),
                              Not(HasSubstr("no_wedge"))));
  EXPECT_EQ(Whorl(explore + " --memory 1").code, 3);
  EXPECT_THAT(Report(), AllOf(HasSubstr("errors=\"1\""), HasSubstr("was not complete")));
}

TEST_F(JunitCliTest, CheckFailsInWhatIsViolated) {
  Write("two.jsonl",
        R"({"event":"process","id":"a","offset":["0s","0s"],"lease":"5s"}
{"event":"process","id":"b","offset":["0s","0s"],"lease":"5s"}
{"event":"works","id":"a","lock":"l","time":"2026-01-01T00:00:00Z"}
{"event":"works","id":"b","lock":"l","time":"2026-01-01T00:00:01Z"}
{"event":"rests","id":"a","lock":"l","time":"2026-01-01T00:00:02Z"}
)");
  const Ended ended = Whorl("check two.jsonl --protocol fenced_lease --junit junit.xml");
  EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
  EXPECT_THAT(Report(), AllOf(HasSubstr("name=\"whorl check\""), HasSubstr("failures=\"1\""),
                              HasSubstr("name=\"single_worker\" time=\"0.000\">\n      <failure"),
                              HasSubstr("<skipped message=\"")));
}

// Hours of work are not lost to a place that cannot be written.
TEST_F(JunitCliTest, APlaceThatCannotBeWrittenShowsBeforeTheWork) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(Whorl("replay quiet.json --junit nowhere/junit.xml"),
              Complains(3, HasSubstr("nowhere/junit.xml")));
  EXPECT_THAT(Whorl("replay quiet.json --junit quiet.json"),
              Complains(2, HasSubstr("would write over the scenario")));
}

}  // namespace
}  // namespace whorl::cli
