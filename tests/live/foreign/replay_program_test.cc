// `whorl replay --program`: programs that were not written here take part in scenarios, are judged like
// others, and are told what they say wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/cli/cli_testing.h"

namespace whorl::replay_program_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// A pause in the middle, a reply that is lost, and a crash with a restart.
constexpr std::string_view kFaults = R"({
  "version": 1, "about": "A pause, a lost reply, a crash.", "protocol": "fenced_lease",
  "lease": "2s", "nodes": ["a", { "name": "b", "start_at": "1s" }], "duration": "22s", "seed": 1,
  "workload": { "write_every": "100ms", "work_for": "20ms" },
  "faults": [ { "when": { "node": "a", "step": "beat", "phase": "committed", "count": 3 },
                "do": "drop_reply", "node": "a" },
              { "at": "5s", "do": "pause", "node": "a", "for": "5s" },
              { "when": { "node": "b", "step": "beat", "phase": "replied", "count": 8 },
                "do": "crash", "node": "b", "restart_after": "1s" } ],
  "expect": { "holds": ["one_live_token", "single_leader_belief", "token_monotonic"],
              "sometimes": ["takeover"] }
})";
constexpr std::string_view kShort = R"({
  "version": 1, "about": "Nothing happens.", "protocol": "fenced_lease", "lease": "2s",
  "nodes": ["a"], "duration": "2s", "seed": 1
})";

class ReplayProgramTest : public CliTest {
 protected:
  std::string Script(const std::string& name, const std::string& text) {
    const std::string path = Write(name, "#!/bin/sh\n" + text);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  Ended Replay(const std::string& program, std::string_view scenario = kShort) {
    Write("scenario.json", scenario);
    return Shell("$W replay scenario.json --on server --json --program '" + program + "'");
  }
};

TEST_F(ReplayProgramTest, ALockOfOursComesToTheVerdictsOfTheSimulation) {
  const Ended ended = Replay(WHORL_LOCK_PROGRAM, kFaults);
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  const json document = json::parse(ended.out);
  const json& real = document["scenarios"][0]["real"][0];
  EXPECT_TRUE(real["holes"].empty()) << real;
  EXPECT_GE(real["metrics"]["takeovers"], 2) << real;
  EXPECT_EQ(real["verdicts"]["one_live_token"], "holds");
  // Beats, reads and writes were all recognised.
  EXPECT_GT(real["metrics"]["transactions"], 20) << real;
}

// Each lock has holder, calls and beliefs of its own, though one process takes part in both.
TEST_F(ReplayProgramTest, AProcessTakesPartInSeveralLocks) {
  const Ended ended = Replay(WHORL_LOCK_PROGRAM, R"({
    "version": 1, "about": "Two locks, and a crash.", "protocol": "fenced_lease",
    "locks": ["orders", "mail"], "lease": "2s", "duration": "10s", "seed": 1,
    "nodes": ["a", { "name": "b", "start_at": "1s" }],
    "faults": [{ "at": "3s", "do": "crash", "node": "a" }],
    "expect": { "holds": ["one_live_token", "single_leader_belief", "isolation"],
                "sometimes": ["takeover"] }
  })");
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  const json real = json::parse(ended.out)["scenarios"][0]["real"][0];
  EXPECT_TRUE(real["holes"].empty()) << real;
  EXPECT_EQ(real["metrics"]["takeovers"], 2) << real;
  EXPECT_EQ(real["verdicts"]["single_leader_belief"], "holds");
}

TEST_F(ReplayProgramTest, SaysWhatAProgramDoesWrong) {
  Ended ended = Replay(Script("talks", "echo leader active; sleep 60"));
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("the program of node \"a\""), HasSubstr("line 1"),
                               HasSubstr("leader active"), HasSubstr("standard error")));
  ended = Replay(Script("strays", "echo '{\"event\":\"leads\",\"lock\":\"x\"}'; sleep 60"));
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("line 1"), HasSubstr("names no lock of this process")));
  ended = Replay(Script("ends", "echo 'no such table' >&2; exit 1"));
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("ended by itself"), HasSubstr("no such table")));
  ended = Replay(Script("floods", "yes | tr -d '\\n'"));
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("longer than 64 KiB"));
  ended = Replay(Script("invents",
                        "echo '{\"event\":\"ready\"}'\n"
                        "echo '{\"event\":\"answer\",\"id\":9,\"yes\":true}'; sleep 60"));
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("line 2"), HasSubstr("was not asked")));
}

TEST_F(ReplayProgramTest, ALockOfOursConforms) {
  const Ended ended = Whorl("conform '" WHORL_LOCK_PROGRAM "' --protocol fenced_lease --json");
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  const json document = json::parse(ended.out);
  EXPECT_EQ(document["conforms"], true);
  for (const json& point : document["points"]) {
    const bool may_be_unseen = point["point"] == "sends every step";
    EXPECT_TRUE(point["result"] == "yes" || may_be_unseen) << point;
  }
}

TEST_F(ReplayProgramTest, AnAuthorIsToldWhatIsMissing) {
  const std::string mute =
      Script("mute", "echo '{\"event\":\"ready\"}'; while read -r order; do :; done");
  const Ended ended = Whorl("conform '" + mute + "' --protocol spindle_v2");
  EXPECT_EQ(ended.code, 1) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("NO        takes part when told to start"),
                               HasSubstr("NO        says that it leads"),
                               HasSubstr("NO        names its token"),
                               HasSubstr("NO        is replaced when it crashes"),
                               HasSubstr("NO        takes part again after a restart"),
                               HasSubstr("yes       ends its part when told to stop")));
  ExpectUsageError("conform '" + mute + "' --protocol spindle", "spindle_v2");
  ExpectUsageError("conform '" + mute + "'", "--protocol");
}

TEST_F(ReplayProgramTest, RefusesWhatNoProgramCanHave) {
  EXPECT_THAT(Replay("no_such_program").err, HasSubstr("there is no program"));
  EXPECT_THAT(Replay(Write("text", "text")).err, HasSubstr("cannot be executed"));
  std::string clocks(kShort);
  clocks.replace(clocks.find(R"("a")"), 3, R"({ "name": "a", "clock": { "offset": "1s" } })");
  const Ended ended = Replay("/bin/true", clocks);
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("/nodes/0/clock"), HasSubstr("--program")));
  Write("scenario.json", kShort);
  EXPECT_THAT(Whorl("replay scenario.json --program /bin/true").err, HasSubstr("wants --on"));
  const Ended other = Shell("$W replay scenario.json --on server --protocol spindle_v2");
  EXPECT_THAT(other.out, HasSubstr("it is of fenced_lease"));
}

}  // namespace
}  // namespace whorl::replay_program_test
