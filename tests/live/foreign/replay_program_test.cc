// `whorl replay --program`: programs that were not written here take part in scenarios, are judged like
// others, and are told what they say wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/cli/cli_testing.h"
#include "tests/cli/json_lines.h"

namespace whorl::replay_program_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// A reply that is lost, a pause in the middle, and a crash with a restart. The pause strikes after a write: at a
// moment of its own it would now and then strike in the middle of work, beside which another process then works.
constexpr std::string_view kFaults = R"({
  "version": 1, "about": "A pause, a lost reply, a crash.", "protocol": "fenced_lease",
  "lease": "2s", "nodes": ["a", { "name": "b", "start_at": "1s" }], "duration": "22s", "seed": 1,
  "workload": { "write_every": "100ms", "work_for": "20ms" },
  "faults": [ { "when": { "node": "a", "step": "beat", "phase": "committed", "count": 3 },
                "do": "drop_reply", "node": "a" },
              { "when": { "node": "a", "step": "write", "phase": "sent", "count": 44 },
                "do": "pause", "node": "a", "for": "5s" },
              { "when": { "node": "b", "step": "beat", "phase": "replied", "count": 6 },
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
  // It ended as expected, and its history has no holes.
  static json RealRun(const Ended& ended) {
    EXPECT_THAT(ended, Ends(0));
    json real = ParsedJson(ended)["scenarios"][0]["real"][0];
    EXPECT_TRUE(real["holes"].empty()) << real;
    return real;
  }
};

TEST_F(ReplayProgramTest, ALockOfOursComesToTheVerdictsOfTheSimulation) {
  const json real = RealRun(Replay(WHORL_LOCK_PROGRAM, kFaults));
  EXPECT_GE(real["metrics"]["takeovers"], 2) << real;
  EXPECT_EQ(real["verdicts"]["one_live_token"], "holds");
  // Beats, reads and writes were all recognised.
  EXPECT_GT(real["metrics"]["transactions"], 20) << real;
}

// Each lock has holder, calls and beliefs of its own, though one process takes part in both.
TEST_F(ReplayProgramTest, AProcessTakesPartInSeveralLocks) {
  const json real = RealRun(Replay(WHORL_LOCK_PROGRAM, R"({
    "version": 1, "about": "Two locks, and a crash.", "protocol": "fenced_lease",
    "locks": ["orders", "mail"], "lease": "2s", "duration": "10s", "seed": 1,
    "nodes": ["a", { "name": "b", "start_at": "1s" }],
    "faults": [{ "at": "3s", "do": "crash", "node": "a" }],
    "expect": { "holds": ["one_live_token", "single_leader_belief", "isolation"],
                "sometimes": ["takeover"] }
  })"));
  EXPECT_EQ(real["metrics"]["takeovers"], 2) << real;
  EXPECT_EQ(real["verdicts"]["single_leader_belief"], "holds");
}

TEST_F(ReplayProgramTest, SaysWhatAProgramDoesWrong) {
  struct Wrong {
    std::string name;
    std::string script;
    TextMatcher told;
  };
  for (const auto& [name, script, told] : std::vector<Wrong>{
           {"talks", "echo leader active; sleep 60",
            AllOf(HasSubstr("the program of node \"a\""), HasSubstr("line 1"),
                  HasSubstr("leader active"), HasSubstr("standard error"))},
           {"strays", R"(echo '{"event":"leads","lock":"x"}'; sleep 60)",
            AllOf(HasSubstr("line 1"), HasSubstr("names no lock of this process"))},
           {"ends", "echo 'no such table' >&2; exit 1",
            AllOf(HasSubstr("ended by itself"), HasSubstr("no such table"))},
           {"floods", R"(yes | tr -d '\n')", HasSubstr("longer than 64 KiB")},
           {"invents",
            R"(echo '{"event":"ready"}'; echo '{"event":"answer","id":9,"yes":true}'; sleep 60)",
            AllOf(HasSubstr("line 2"), HasSubstr("was not asked"))}}) {
    EXPECT_THAT(Replay(Script(name, script)), Complains(3, told)) << name;
  }
}

TEST_F(ReplayProgramTest, ALockOfOursConforms) {
  const Ended ended = Whorl("conform '" WHORL_LOCK_PROGRAM "' --protocol fenced_lease --json");
  EXPECT_THAT(ended, Ends(0));
  const json document = ParsedJson(ended);
  EXPECT_EQ(document["conforms"], true);
  for (const json& point : document["points"]) {
    const bool may_be_unseen = point["point"] == "sends every step";
    EXPECT_TRUE(point["result"] == "yes" || may_be_unseen) << point;
  }
}

TEST_F(ReplayProgramTest, AnAuthorIsToldWhatIsMissing) {
  const std::string mute =
      Script("mute", "echo '{\"event\":\"ready\"}'; while read -r order; do :; done");
  EXPECT_THAT(Whorl("conform '" + mute + "' --protocol spindle_v2"),
              Ends(1, AllOf(HasSubstr("NO        takes part when told to start"),
                            HasSubstr("NO        says that it leads"),
                            HasSubstr("NO        names its token"),
                            HasSubstr("NO        is replaced when it crashes"),
                            HasSubstr("NO        takes part again after a restart"),
                            HasSubstr("yes       ends its part when told to stop"))));
  ExpectUsageError("conform '" + mute + "' --protocol spindle", "spindle_v2");
  ExpectUsageError("conform '" + mute + "'", "--protocol");
}

TEST_F(ReplayProgramTest, RefusesWhatNoProgramCanHave) {
  EXPECT_THAT(Replay("no_such_program").err, HasSubstr("there is no program"));
  EXPECT_THAT(Replay(Write("text", "text")).err, HasSubstr("cannot be executed"));
  std::string clocks(kShort);
  clocks.replace(clocks.find(R"("a")"), 3, R"({ "name": "a", "clock": { "offset": "1s" } })");
  EXPECT_THAT(Replay("/bin/true", clocks),
              Complains(2, AllOf(HasSubstr("/nodes/0/clock"), HasSubstr("--program"))));
  Write("scenario.json", kShort);
  EXPECT_THAT(Whorl("replay scenario.json --program /bin/true").err, HasSubstr("wants --on"));
  const Ended other = Shell("$W replay scenario.json --on server --protocol spindle_v2");
  EXPECT_THAT(other.out, HasSubstr("it is of fenced_lease"));
}

}  // namespace
}  // namespace whorl::replay_program_test
