// Whatever a person or a script gives to the command, it answers with a place, a remedy and the right
// exit code, in bounded time and memory, and leaves no half-written file.
// tests/sim/scenario/errors_test.cc holds the texts of the loader's errors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cli/cli_testing.h"

namespace whorl::bad_input_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

// kQuiet with `more` on its second line.
std::string With(std::string_view more) {
  return "{\n  " + std::string(more) + "," + std::string(kQuiet.substr(1));
}
std::string WithFault(std::string_view fault) {
  return With("\"faults\": [" + std::string(fault) + "]");
}
// kQuiet with its `from` turned into `to`.
std::string Changed(std::string_view from, std::string_view to) {
  std::string text(kQuiet);
  return text.replace(text.find(from), from.size(), to);
}

// Limits the memory of a command; not with a sanitizer, whose shadow memory needs more.
std::string InOneGigabyte() {
#if defined(__SANITIZE_ADDRESS__)
  return "";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return "";
#endif
#endif
  return "ulimit -v 1000000; ";
}

// Nothing was run, and this was said.
testing::Matcher<Ended> IsBad(const TextMatcher& said) { return Ends(2, IsEmpty(), said); }

using CliBadInputTest = CliTest;

// --- scenarios ---------------------------------------------------------------------------------

// Of each kind one; errors.txt of tests/sim/scenario has all of them.
TEST_F(CliBadInputTest, AScenarioThatIsWrongIsAnsweredWithFileLinePointerAndRemedy) {
  struct Case {
    std::string text;
    std::string message;  // a regular expression
  };
  const std::vector<Case> cases = {
      {"{ \"version\": 1,\n nodes }", "x\\.json:2: not JSON at column 3: .*"},
      {With("\"sed\": 4"), "x\\.json:2: /sed: unknown key .*did you mean \"seed\"\\?.*"},
      {Changed("20s", "20 sec"), "x\\.json:3: /duration: unknown unit .*units: ns, us, ms, s.*"},
      {WithFault(R"({ "at": "1s", "do": "crash", "node": "aa" })"),
       "x\\.json:2: /faults/0/node: unknown node \"aa\"; did you mean \"a\"\\?.*"},
  };
  for (const Case& bad : cases) {
    Write("x.json", bad.text);
    EXPECT_THAT(Whorl("replay x.json"), IsBad(ContainsRegex("^" + bad.message + "\n")));
  }
}

// An error that the text shows is bad input; one that only the run shows is a failed expectation.
TEST_F(CliBadInputTest, AFaultThatDidNotFireIsAFailedExpectation) {
  Write("x.json", WithFault(R"({ "do": "crash",
    "when": { "node": "a", "step": "check", "phase": "sent", "count": 1000 } })"));
  EXPECT_THAT(Whorl("replay x.json"),
              Ends(1, AllOf(HasSubstr("FAILED"), HasSubstr("x.json:2 (crash of a)"))));
}

// --- files that are none -----------------------------------------------------------------------

TEST_F(CliBadInputTest, WhatIsNoScenarioFileEndsSoonAndInLittleMemory) {
  Write("folder.json/inner.txt", "");
  Write("file", kQuiet);
  const struct {
    std::string line;
    std::string message;
  } cases[] = {
      {"replay missing.json", "missing.json: cannot be read: No such file or directory"},
      {"replay file/x.json", "file/x.json: cannot be read: Not a directory"},
      {"replay folder.json", "folder.json: no scenario in this folder"},
      {"replay .", "./folder.json: cannot be read: Is a directory"},
      {"replay /dev/null", "/dev/null:1: empty: expected a JSON object"},
      {"replay /dev/zero", "/dev/zero: longer than a scenario may be (16 MiB)"},
      {"replay - </dev/zero", "-: longer than a scenario may be (16 MiB)"},
      {"replay - <&-", "-: cannot be read: Bad file descriptor"},
  };
  for (const auto& bad : cases) {
    EXPECT_THAT(Shell(InOneGigabyte() + "\"$W\" " + bad.line), IsBad(StartsWith(bad.message)))
        << bad.line;
  }
  // A file of 100 MB, which is refused unread; or as much through a pipe, where the beginning is read.
  const std::string big = Write("big.json", "");
  fs::resize_file(big, 100'000'000);
  for (const std::string line : {"\"$W\" replay big.json", "cat big.json | \"$W\" replay -"}) {
    EXPECT_THAT(Shell(InOneGigabyte() + line),
                IsBad(HasSubstr("longer than a scenario may be (16 MiB)")))
        << line;
  }
}

TEST_F(CliBadInputTest, AFileWithoutPermissionCannotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  fs::permissions(Write("x.json", kQuiet), fs::perms::none);
  EXPECT_THAT(Whorl("replay x.json"), IsBad("x.json: cannot be read: Permission denied\n"));
}

// A named pipe is as good as a file, and whorl must not hang on one into which no process writes.
TEST_F(CliBadInputTest, APipeIsReadToItsEndUnlessNobodyWritesIntoIt) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(Shell("mkfifo p.json; cat quiet.json >p.json & \"$W\" replay p.json"),
              Ends(0, ContainsRegex("ok +p ")));
  // A process opens it for reading and writing, writes nothing and closes it: an empty input.
  EXPECT_THAT(Shell("{ exec 3<>p.json; true; } & wait; : >p.json & \"$W\" replay p.json"),
              IsBad("p.json:1: empty: expected a JSON object\n"));
  for (const std::string arguments : {"replay p.json", "replay ."}) {
    fs::remove(folder_ / "quiet.json");
    EXPECT_THAT(
        Whorl(arguments),
        IsBad(MatchesRegex("(\\./)?p\\.json: cannot be read: nobody writes into this pipe\n")))
        << arguments;
  }
}

// --- arguments ---------------------------------------------------------------------------------

// `--out "$REPORT"` with an unset variable must not run for an hour and write nothing.
TEST_F(CliBadInputTest, AnEmptyArgumentIsRefused) {
  Write("quiet.json", kQuiet);
  const struct {
    std::string arguments;
    std::string message;
  } cases[] = {
      {"\"\"", "whorl: argument 1 is empty\n"},
      {"replay \"\"", "whorl: argument 2 is empty\n"},
      {"replay quiet.json --out \"\"", "whorl: argument 4 is empty\n"},
      {"replay quiet.json --trace \"\"", "whorl: argument 4 is empty\n"},
      {"replay quiet.json --out=", "whorl: --out= has no value\n"},
  };
  for (const auto& bad : cases) {
    EXPECT_THAT(Whorl(bad.arguments), IsBad(bad.message)) << bad.arguments;
  }
}

TEST_F(CliBadInputTest, TheReportIsNotWrittenOverAScenario) {
  Write("f/quiet.json", kQuiet);
  Write("f/bad.json", "{");
  ASSERT_EQ(Shell("ln -s f/quiet.json link").code, 0);
  for (const std::string arguments :
       {"f/quiet.json --out f/quiet.json", "f --out f/quiet.json", "f/quiet.json --out link",
        "link --out f/../f/quiet.json", "f --out f/bad.json", "f/quiet.json --perfetto link"}) {
    EXPECT_THAT(Whorl("replay " + arguments), IsBad(HasSubstr("would write over the scenario ")))
        << arguments;
    EXPECT_EQ(ReadText(folder_ / "f/quiet.json"), kQuiet) << arguments;
    EXPECT_EQ(ReadText(folder_ / "f/bad.json"), "{") << arguments;
  }
}

// Otherwise one of the two would be lost silently.
TEST_F(CliBadInputTest, ReportAndPictureAreNotWrittenIntoOneFile) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(Whorl("replay quiet.json --out x.json --perfetto ./x.json"),
              IsBad("whorl: --out and --perfetto would both write x.json\n"));
  EXPECT_EQ(Whorl("replay quiet.json --out /dev/null --perfetto /dev/null").code, 0);
}

TEST_F(CliBadInputTest, WhatIsNoTraceIsNotCompared) {
  Write("quiet.json", kQuiet);
  ASSERT_EQ(Whorl("replay quiet.json --trace t").code, 0);
  Write("number.jsonl", "{\"format\":1}\n");
  Write("nothing.jsonl", "{}\n");
  Write("array.jsonl", "[1]\n");
  Write("deep.jsonl", std::string(100'000, '[') + "\n");
  for (const std::string name :
       {"number.jsonl", "nothing.jsonl", "array.jsonl", "deep.jsonl", "/dev/zero", "/dev/null"}) {
    EXPECT_THAT(Shell(InOneGigabyte() + "\"$W\" diff t/quiet.5.jsonl " + name),
                IsBad(StartsWith("whorl: " + name + ":")))
        << name;
  }
}

// --- output ------------------------------------------------------------------------------------

// Yesterday's report is better than half of today's.
TEST_F(CliBadInputTest, AnExistingReportSurvivesAFailure) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  Write("quiet.json", kQuiet);
  Write("o/report.json", "old");
  ASSERT_EQ(Shell("mkdir t; ln -s /dev/full t/quiet.5.jsonl").code, 0);
  const struct {
    std::string arguments;
    int code;
  } cases[] = {
      {"quiet.json --sed 5", 2},
      {"quiet.json --repeat 0", 2},
      {"quiet.json --trace /dev/null/x", 3},
      {"quiet.json --trace t", 3},  // the disk is full when the trace is written
      {"quiet.json >/dev/full", 3},
  };
  for (const auto& bad : cases) {
    EXPECT_THAT(Whorl("replay --out o/report.json " + bad.arguments),
                Complains(bad.code, StartsWith("whorl: ")))
        << bad.arguments;
    EXPECT_EQ(ReadText(folder_ / "o/report.json"), "old") << bad.arguments;
    EXPECT_THAT(Files("o"), testing::ElementsAre("report.json")) << bad.arguments;
  }
}

TEST_F(CliBadInputTest, AFolderIsNoPlaceForAReport) {
  Write("quiet.json", kQuiet);
  Write("folder/x", "");
  for (const std::string out : {".", "folder", "folder/", "quiet.json/x", "/proc/report.json"}) {
    EXPECT_THAT(Whorl("replay quiet.json --out " + out),
                Ends(3, IsEmpty(), StartsWith("whorl: " + out + ": cannot be written: ")))
        << out << ", " << "refused before any work: " << out;
  }
  EXPECT_THAT(Files("folder"), testing::ElementsAre("x"));
}

// `| head -1`: more than a pipe holds, so that the reader is gone before the end.
TEST_F(CliBadInputTest, AReaderThatGoesIsNoErrorAndNoSignal) {
  Write("quiet.json", kQuiet);
  std::string many;
  for (int copy = 0; copy < 40; ++copy) many += "quiet.json ";
  const Ended ended =
      Shell("{ \"$W\" replay --json " + many + "; echo $? >code; } | head -1; cat code");
  EXPECT_EQ(ended.out, "{\n141\n");
  EXPECT_EQ(ended.err, "");
}

// It would write a file named --json.
TEST_F(CliBadInputTest, AForgottenValueDoesNotTakeTheNextOption) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(
      Whorl("replay quiet.json --out --json"),
      Complains(
          2,
          "whorl: --out wants a value, and --json is an option (--out=--json if it is meant)\n"));
  EXPECT_THAT(Files("."), testing::Not(testing::Contains("--json")));
  EXPECT_THAT(Whorl("hunt --save --runs 5").err,
              testing::HasSubstr("--save wants a value, and --runs is an option"));
  EXPECT_EQ(Whorl("replay quiet.json --out=--json").code, 0);
}

TEST_F(CliBadInputTest, AnOptionBeforeItsSubCommandIsToldItsPlace) {
  EXPECT_THAT(Whorl("--seed 1 replay quiet.json"),
              Complains(2, testing::HasSubstr("--seed comes after the sub-command: whorl replay "
                                              "--seed")));
}

TEST_F(CliBadInputTest, AnInvariantAfterASpaceIsToldItsEqualsSign) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(Whorl("replay quiet.json --explain no_wedge"),
              Complains(2, testing::HasSubstr("--explain=no_wedge")));
}

// Files of old editors.
TEST_F(CliBadInputTest, LinesMayEndWithCarriageReturns) {
  Write("cr.json", "{\r  \"version\": 1,\r  \"protocl\": 2\r}");
  EXPECT_THAT(Whorl("replay cr.json").err, testing::HasSubstr("cr.json:3: "));
  Write("crlf.json", "{\r\n  \"version\": 1,\r\n  \"protocl\": 2\r\n}");
  EXPECT_THAT(Whorl("replay crlf.json").err, testing::HasSubstr("crlf.json:3: "));
}

}  // namespace
}  // namespace whorl::bad_input_test
