// Histories as others record them, which led to a wrong verdict, or to one that said nothing of what it left out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/cli_testing.h"
#include "tests/cli/json_lines.h"

namespace whorl::check_field_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CheckFieldTest : public CliTest {
 protected:
  static std::string Field(const std::string& name) {
    return std::string(WHORL_SOURCE_DIR "/tests/check/field/") + name;
  }
  static std::string VerdictOn(const json& read, const std::string& invariant) {
    return read["invariants"][invariant]["verdict"];
  }
};

// --- what is left out is counted ---

TEST_F(CheckFieldTest, EventsThatAreNotRecognisedAreCountedAndNothingHolds) {
  const std::string command =
      "check " + Field("jsonl_half_recognised.jsonl") + " --protocol lease_lock --clock-error 10ms";
  EXPECT_THAT(Whorl(command),
              Ends(0, AllOf(HasSubstr("records used: leads 1, lost 1\n"),
                            HasSubstr("records passed over, event not recognised: \"Leads\" 1, "
                                      "\"Lost\" 1\n"),
                            HasSubstr("the event \"Leads\" of b at 2026-11-24T02:00:01Z was not"),
                            Not(HasSubstr("holds")))));
  const json read = ParsedJson(Whorl(command + " --json"));
  EXPECT_EQ(VerdictOn(read, "single_leader_belief"), "unknown");
  EXPECT_EQ(read["records"]["used"]["leads"], 1);
  EXPECT_EQ(read["records"]["passed_over"][0]["reason"], "event not recognised");
  EXPECT_EQ(read["records"]["passed_over"][0]["words"]["Leads"], 1);
}

TEST_F(CheckFieldTest, WhatSaysNothingOfTheLockAndIsNamedSoIsUsed) {
  Write("idle.jsonl", R"({"event":"goes_on","id":"a","time":"2026-01-01T00:00:01Z"}
{"event":"goes_on","id":"a","time":"2026-01-01T00:00:09Z"}
)");
  EXPECT_THAT(Whorl("check idle.jsonl --protocol lease_lock --clock-error 10ms"),
              Ends(0, HasSubstr("records used: goes on 2\n")));
  Write("beats.jsonl", "[{\"heartbeat_record\":[{\"timestamp\":\"2026-01-01T00:00:01Z\"}]}]\n");
  EXPECT_THAT(Whorl("check beats.jsonl --protocol lease_lock"),
              Ends(0, HasSubstr("records used: goes on 1\n")));
}

// What `whorl lock run` logs beside is known.
TEST_F(CheckFieldTest, WhorlsOwnLogsAreRecognised) {
  std::string text;
  for (const char* event :
       {"started", "leads", "note", "failing", "answers", "renewed", "lost", "stopped"}) {
    text += R"({"event":")" + std::string(event) +
            R"(","id":"a","lock":"x","time":"2026-01-01T00:00:01Z"})" + "\n";
  }
  Write("own.jsonl", text);
  EXPECT_THAT(Whorl("check own.jsonl --protocol lease_lock --clock-error 10ms"),
              Ends(0, AllOf(HasSubstr("goes on 3\n"), Not(HasSubstr("passed over")),
                            HasSubstr("holds     single_leader_belief"))));
}

TEST_F(CheckFieldTest, WhereNothingCouldBeUsedThatIsBadInput) {
  const std::string check = "check " + Field("jsonl_half_recognised.jsonl") + " --protocol ";
  EXPECT_THAT(Whorl(check + "lease_lock --lock nosuch"),
              Complains(2, HasSubstr("of another lock: \"x\" 4; --lock nosuch is none of them")));
  EXPECT_THAT(Whorl("check " + Field("stream_value_column_ok.jsonl") +
                    " --protocol spindle_v2 --table nosuch"),
              Complains(2, HasSubstr("of another table: \"locktable\" 2; --table says which one")));
  Write("other.jsonl", R"({"event":"Leads","id":"a","lock":"x","time":"2026-01-01T00:00:01Z"})");
  EXPECT_THAT(Whorl("check other.jsonl --protocol lease_lock"),
              Complains(2, HasSubstr("event not recognised: \"Leads\" 1; docs/CHECKING.md")));
  Write("ends.jsonl", R"({"event":"lost","id":"a","lock":"x","time":"2026-01-01T00:00:01Z"})");
  EXPECT_THAT(Whorl("check ends.jsonl --protocol lease_lock"),
              Complains(2, HasSubstr("by which they begin were not recognised")));
}

TEST_F(CheckFieldTest, LinesThatNoExpressionMatchesMakeNothingCertain) {
  const std::string check = "check " + Field("log_for_pattern.log") +
                            " --protocol lease_lock --clock-error 10ms --pattern ";
  EXPECT_THAT(Whorl(check + Field("pattern_that_misses_gave.json")),
              Ends(0, AllOf(Not(HasSubstr("violated")), Not(HasSubstr("holds")),
                            HasSubstr("no expression of the pattern matched: 2 records"),
                            HasSubstr("gives (?P<lock>\\w+)\": 0\n"))));
  // One that says what it finds, or what says nothing, is believed.
  std::string mapping = ReadText(Field("pattern_that_misses_gave.json"));
  mapping.replace(mapping.find("gives"), 5, "gave");
  Write("good.json", mapping);
  EXPECT_THAT(Whorl(check + "good.json"), Ends(0, HasSubstr("holds     single_leader_belief")));
  mapping = ReadText(Field("pattern_that_misses_gave.json"));
  mapping.insert(1, "\"logs\":\"leads\",");
  Write("sure.json", mapping);
  EXPECT_THAT(Whorl(check + "sure.json"), Ends(1, HasSubstr("violated  single_leader_belief")));
}

TEST_F(CheckFieldTest, ALeadershipThatEndsHasBegun) {
  EXPECT_THAT(
      Whorl("check " + Field("words_pod-a.log") + " " + Field("words_pod-b.log") + " --pattern " +
            Field("words_mapping.json") + " --clock-error 50ms --protocol fenced_lease"),
      Ends(0, AllOf(HasSubstr("unknown   single_leader_belief (promised)\n"
                              "          words_pod-b logged 2 times that it leads lock "
                              "\"nightly\" no longer, and no line that it had begun"),
                    HasSubstr("now LEADER for (?P<lock>\\w+)\": 2\n"), Not(HasSubstr("holds")))));
}

// --- who broke what ---

TEST_F(CheckFieldTest, AHeartbeatThatWasSetBackIsNotTheProtocolsDoing) {
  const std::string files = Field("21c_heartbeat_set_back_then_taken.jsonl") + " " +
                            Field("21c_pod-b.jsonl") + " " + Field("21c_pod-c.jsonl");
  Write("pod-a.jsonl",
        R"({"event":"leads","id":"pod-a","lock":"nightly","time":"2026-11-20T01:00:00.01Z",)"
        R"("left":"9.9s"}
{"event":"lost","id":"pod-a","lock":"nightly","time":"2026-11-20T01:00:39Z"}
)");
  const std::string check =
      "check " + files + " pod-a.jsonl --protocol fenced_lease --lease 10s --clock-error 10ms";
  EXPECT_THAT(
      Whorl(check),
      Ends(1, AllOf(HasSubstr("violated  outside_write\n          lock \"nightly\", held by pod-b: "
                              "a transaction that is no process's set heartbeat to "
                              "2026-11-20T01:00:30Z, which is not its commit timestamp"),
                    HasSubstr("unknown   single_leader_belief"),
                    HasSubstr("that began with an outside write"),
                    Not(HasSubstr("violated  single_leader_belief")),
                    Not(HasSubstr("violated  lease_respected")),
                    HasSubstr("time without a lease: 2 (median 1s, 90 % 2s, longest 2s)"),
                    HasSubstr("\n0 promises broken; 1 change by no process; "),
                    HasSubstr("exit code 1, since no process can have made a change of a row\n"))));
  const json read = ParsedJson(Whorl(check + " --json"));
  EXPECT_EQ(read["outside_writes"]["count"], 1);
  EXPECT_EQ(read["decides"], json::array({"outside_write"}));
  // Nobody promises that operators do not write.
  EXPECT_THAT(Whorl(check + " --promised"),
              Ends(0, HasSubstr("; exit code 0, since no promise was broken (--promised)\n")));
}

TEST_F(CheckFieldTest, TheRowDeletionPolicyDeletedALiveRow) {
  EXPECT_THAT(
      Whorl("check " + Field("23_ttl_deletes_live_row.jsonl") +
            " --protocol fenced_lease --lease 10s"),
      Ends(1, AllOf(HasSubstr("violated  outside_write\n          lock \"nightly\", held by pod-b: "
                              "the row deletion policy (its tag: \"RowDeletionPolicy\") "
                              "deleted the row"),
                    HasSubstr("8s before the lease's end"),
                    Not(HasSubstr("violated  lease_respected")),
                    Not(HasSubstr("holds     lease_respected")))));
}

TEST_F(CheckFieldTest, OneIdIsOfTwoProcesses) {
  const auto log = [](int minute, int first) {
    std::string text;
    const char* const events[] = {"started", "leads", "goes_on", "goes_on"};
    for (int i = 0; i < 4; ++i) {
      text += R"({"event":")" + std::string(events[i]) +
              R"(","id":"host-1","lock":"job","time":"2026-01-01T00:)" +
              std::to_string(10 + minute) + ":" + std::to_string(first + 10 * i) + R"(Z","n":)" +
              std::to_string(i + 1) + "}\n";
    }
    return text;
  };
  Write("a.jsonl", log(1, 10));
  Write("b.jsonl", log(1, 15));
  EXPECT_THAT(
      Whorl("check a.jsonl b.jsonl --protocol lease_lock --clock-error 10ms"),
      Ends(2, AllOf(HasSubstr("one id, two processes: host-1 started at"), Not(HasSubstr("holds"))),
           HasSubstr("one id, two processes")));
  // One after the other is a restart.
  Write("b.jsonl", log(2, 10));
  EXPECT_THAT(Whorl("check a.jsonl b.jsonl --protocol lease_lock --clock-error 10ms"),
              Ends(0, Not(HasSubstr("two processes:"))));
}

// In one file, too: two that go on in turns, each where it had stopped. Numbers that only fall may be those of a
// third process, whose first lines are missing: then it is not said.
TEST_F(CheckFieldTest, NumbersThatFallMayBeOfAStartThatIsMissing) {
  const auto log = [](const std::vector<int>& numbers) {
    std::string text;
    int second = 10;
    for (const int number : numbers) {
      const std::string event = number == 1 ? "started" : number == 2 ? "leads" : "goes_on";
      text += R"({"event":")" + event +
              R"(","id":"host-1","lock":"job","time":"2026-01-01T00:11:)" +
              std::to_string(second++) + R"(Z","n":)" + std::to_string(number) + "}\n";
    }
    return text;
  };
  const std::string check = "check a.jsonl --protocol lease_lock --clock-error 10ms";
  for (const auto& [numbers, two] :
       std::map<std::vector<int>, bool>{{{1, 2, 3, 4, 1, 2, 5, 3, 6, 4}, true},
                                        {{1, 2, 3, 4, 1, 2, 5, 6, 7}, false},
                                        {{1, 2, 3, 4, 1, 2, 3, 2, 3}, false},
                                        {{1, 2, 3, 1, 2, 3, 4, 5, 3, 4}, false}}) {
    Write("a.jsonl", log(numbers));
    const Ended ended = Whorl(check);
    SCOPED_TRACE(testing::PrintToString(numbers) + ended.out);
    EXPECT_EQ(ended.code, two ? 2 : 0);
    EXPECT_EQ(ended.out.find("one id, two processes: host-1") != std::string::npos, two);
    EXPECT_THAT(ended.out, Not(HasSubstr("holds")));
  }
}

// --- tables ---

TEST_F(CheckFieldTest, ATableWithoutTheProtocolsColumnsIsRefused) {
  EXPECT_THAT(Whorl("check " + Field("stream_of_a_table_without_the_columns.jsonl") +
                    " --protocol spindle_v2"),
              Complains(2, HasSubstr("the table has not spindle_v2's columns: writer, token, "
                                     "heartbeat are missing, and it has held_till, held_by")));
}

TEST_F(CheckFieldTest, NamesOfColumnsAndTablesAreComparedAsSpannerDoes) {
  for (const std::string name :
       {"stream_value_column_case.jsonl", "stream_value_column_ok.jsonl"}) {
    for (const std::string table : {"", " --table LockTable"}) {
      const json read = ParsedJson(
          Whorl("check " + Field(name) + " --protocol spindle_v2 --lease 10s --json" + table));
      EXPECT_EQ(VerdictOn(read, "token_monotonic"), "violated") << name << table;
      EXPECT_EQ(VerdictOn(read, "lease_respected"), "violated") << name << table;
    }
  }
}

// --- what clocks would decide ---

TEST_F(CheckFieldTest, ClocksThatAreSaidToDecideDo) {
  Write("h.jsonl",
        "{\"event\":\"leads\",\"id\":\"a\",\"lock\":\"x\",\"time\":\"2026-01-01T00:00:01Z\"}\n"
        "{\"event\":\"lost\",\"id\":\"a\",\"lock\":\"x\",\"time\":\"2026-01-01T00:00:05Z\"}\n"
        "{\"event\":\"leads\",\"id\":\"b\",\"lock\":\"x\",\"time\":\"2026-01-01T00:00:05.03Z\"}\n"
        "{\"event\":\"lost\",\"id\":\"b\",\"lock\":\"x\",\"time\":\"2026-01-01T00:00:09Z\"}\n");
  EXPECT_THAT(Whorl("check h.jsonl --protocol lease_lock --clock-error 1s"),
              Ends(0, HasSubstr("clocks known to 14ms would")));
  EXPECT_THAT(Whorl("check h.jsonl --protocol lease_lock --clock-error 15ms"),
              Ends(0, HasSubstr("possible  single_leader_belief")));
  EXPECT_THAT(Whorl("check h.jsonl --protocol lease_lock --clock-error 14ms"),
              Ends(0, HasSubstr("holds     single_leader_belief")));
}

}  // namespace
}  // namespace whorl::check_field_test
