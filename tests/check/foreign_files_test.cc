// Files in the formats of others, as the command judges them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/cli_testing.h"

namespace whorl::foreign_files_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ForeignFilesTest : public CliTest {
 protected:
  Ended Check(const std::string& arguments, const std::string& protocol = "lease_lock") {
    return Whorl("check " + arguments + " --protocol " + protocol + " --clock-error 10ms");
  }
  static std::string File(const std::string& name) {
    return WHORL_SOURCE_DIR "/tests/check/field/" + name;
  }
};

// A file's name is its claim.
TEST_F(ForeignFilesTest, EachIsJudgedAsItsAuthorsMeantIt) {
  const struct {
    const char* name;
    int code;
    const char* verdict;
    const char* more = "";
  } files[] = {
      {"jepsen_lock_named_by_value.edn", 0, "holds     single_leader_belief"},
      {"jepsen_ok_that_was_refused.edn", 0, "holds     single_leader_belief",
       "with a value that refuses: they were refused (1)"},
      {"jepsen_process_named_by_string_and_number.json", 1, "violated  single_leader_belief",
       "at 1.3s since the beginning"},
      {"jepsen_release_that_failed.edn", 1, "violated  single_leader_belief",
       "releases that failed: the process still has the lock (1)"},
      {"otlp_old_scope_name.json", 1, "violated  single_worker"},
      {"otlp_foreign_span_beside.json", 1, "violated  single_worker"},
      {"semicolon.csv", 1, "violated  single_leader_belief"},
      {"utf16.csv", 1, "violated  single_leader_belief"},
      {"jsonl_repeated_numbered_call.jsonl", 0, "lines of processes 2, calls 1; repeated 1"}};
  for (const auto& file : files) {
    EXPECT_THAT(Check(File(file.name)),
                Ends(file.code,
                     AllOf(HasSubstr(file.verdict), HasSubstr(file.more), Not(HasSubstr("1970")))))
        << file.name;
  }
}

TEST_F(ForeignFilesTest, JepsensOtherVerbsAreSaidAndMayBeMapped) {
  const std::string file = File("jepsen_other_verbs.edn");
  EXPECT_THAT(Check(file), Complains(2, AllOf(HasSubstr("not recognised"),
                                              HasSubstr("\"try-lock\" 4"), HasSubstr("--verbs"))));
  EXPECT_THAT(Check(file + " --verbs 'acquire=try-lock release=unlock'"),
              Ends(0, HasSubstr("possible  single_leader_belief")));
  const std::string verbs = Write("verbs.txt", "acquire=try-lock,lock\nrelease=unlock\n");
  EXPECT_THAT(Check(file + " --verbs " + verbs),
              Ends(0, HasSubstr("possible  single_leader_belief")));
  EXPECT_THAT(Check(file + " --verbs take=try-lock"), Complains(2, HasSubstr("verbs are such as")));
}

TEST_F(ForeignFilesTest, OneBadOperationCostsItself) {
  for (const std::string name :
       {"jepsen_one_bad_op_in_vector.edn", "jepsen_one_bad_op_in_lines.edn"}) {
    const Ended ended = Check(File(name));
    EXPECT_THAT(ended, Ends(1, HasSubstr("violated  single_leader_belief"))) << name;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(name + ":5:"), HasSubstr("wants :time"))) << name;
  }
}

TEST_F(ForeignFilesTest, TwoRunsAreToldApart) {
  const std::string one = File("jepsen_run1.edn");
  const std::string two = File("jepsen_run2.edn");
  EXPECT_THAT(Check(one + " " + two),
              Ends(2, HasSubstr("unknown   single_leader_belief"),
                   AllOf(HasSubstr("jepsen_run2.edn:1: its times count"), HasSubstr("--began"))));
  EXPECT_THAT(Check(one + " " + two + " --began " + one + "=2026-11-24T02:00:00Z --began " + two +
                    "=2026-11-24T03:00:00Z"),
              Ends(0, HasSubstr("holds     single_leader_belief")));
  const std::string lines = Write(
      "lines.jsonl", R"({"event":"leads","id":"a","lock":"lock","time":"2026-11-24T02:00:02Z"})"
                     "\n"
                     R"({"event":"lost","id":"a","lock":"lock","time":"2026-11-24T02:00:03Z"})"
                     "\n");
  EXPECT_THAT(Check(one + " " + lines),
              Complains(2, AllOf(HasSubstr("lines.jsonl:1: its times are of a clock"),
                                 HasSubstr("--began TIME"))));
  EXPECT_THAT(Check(one + " " + lines + " --began 2026-11-24T02:00:00Z"),
              Ends(1, AllOf(HasSubstr("violated  single_leader_belief"),
                            HasSubstr("at 2026-11-24T02:00:02"))));
}

TEST_F(ForeignFilesTest, WhatNoReaderTakesIsNamedOnce) {
  const auto says = [&](std::string_view text, const std::string& seems) {
    const std::string path = Write("x", text);
    const Ended ended = Check(path);
    EXPECT_THAT(ended, Complains(2, HasSubstr("x: is not read: it seems to be " + seems))) << text;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 2) << ended.err;
  };
  says("leads,a,x,2026-11-24T02:00:00Z\nlost,a,x,2026-11-24T02:00:00Z\n",
       "CSV with commas and without a header");
  says("leads\ta\tx\t2026-11-24T02:00:00Z\n", "CSV with tabs and without a header");
  says("INSERT INTO locktable VALUES (1);\nINSERT INTO locktable VALUES (2);\n", "SQL");
  says("---\n- event: leads\n  id: a\n", "YAML");
  says("2026-11-24 02:00:00 INFO became leader\n2026-11-24 02:00:01 INFO lost\n", "a log");
  says("[INFO] 02:00:00 became leader\n", "a log");
  says(std::string_view("PK\x03\x04 zip\n..\n"), "an archive");
  says("<html>\n</html>\n", "XML or HTML");
  says("Hello.\n", "no format that is read");
}

// A document in one line, or in many, takes the memory of an element, and not of the document.
TEST_F(ForeignFilesTest, ALongDocumentTakesLittleMemory) {
  const std::string limited = "ulimit -v 200000; ";
  for (const std::string separator : {"\\n", " "}) {
    const Ended ended = Shell(
        "awk 'BEGIN { printf \"[\"; for (i = 0; i < 50000; ++i) { t = i * 400000000;"
        "printf \"{:process %d, :type :invoke, :f :acquire, :value nil, :time %.0f}" +
        separator +
        "\", i % 5, t; printf \"{:process %d, :type :ok, :f :acquire, :value nil, :time %.0f}" +
        separator +
        "\", i % 5, t + 100000000; printf \"{:process %d, :type :invoke, :f :release, :value nil, "
        ":time %.0f}" +
        separator +
        "\", i % 5, t + 200000000; printf \"{:process %d, :type :ok, :f :release, :value nil, "
        ":time %.0f}" +
        separator + "\", i % 5, t + 300000000 }; print \"]\" }' > h.edn; " + limited +
        "$W check h.edn --protocol lease_lock");
    EXPECT_THAT(ended, Ends(0, HasSubstr("holds     single_leader_belief")));
  }
}

}  // namespace
}  // namespace whorl::foreign_files_test
