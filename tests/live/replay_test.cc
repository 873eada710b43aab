// `whorl replay --on`: scenarios that happen for real come to the simulation's verdicts, what
// cannot be made real is refused, and nothing is left running.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): POSIX's, not C's
#include <sys/poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "live/child_process.h"
#include "live/emulator_process.h"
#include "tests/cli/cli_testing.h"
#include "tests/cli/json_lines.h"
#include "tests/cli/lock/process_state.h"

namespace whorl::replay_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// The leader stands still between an answer and its write, and is replaced: another process works then.
constexpr std::string_view kPause = R"({
  "version": 1, "about": "A pause.", "protocol": "fenced_lease", "lease": "2s",
  "nodes": ["a", { "name": "b", "start_at": "1s" }], "duration": "10s", "seed": 1,
  "workload": { "write_every": "100ms", "work_for": "20ms" },
  "faults": [ { "when": { "node": "a", "step": "has_lock", "phase": "ended", "count": 30 },
                "do": "pause", "node": "a", "for": "5s" } ],
  "expect": { "holds": ["one_live_token", "single_leader_belief"], "violates": ["single_worker"],
              "sometimes": ["takeover"] }
})";
// It dies between the two steps of a takeover, and comes back under the same name.
constexpr std::string_view kCrash = R"({
  "version": 1, "about": "A crash between two steps.", "protocol": "spindle_v2", "lease": "1s",
  "nodes": [{ "name": "a", "id": "one" }, { "name": "b", "start_at": "500ms", "id": "two" }],
  "duration": "24s", "seed": 1,
  "faults": [ { "at": "3s", "do": "crash", "node": "a" },
              { "when": { "node": "b", "step": "takeover_insert", "phase": "replied" },
                "do": "crash", "node": "b", "restart_after": "1s" } ],
  "expect": { "holds": ["one_live_token"], "violates": ["no_wedge"] }
})";
// Spanner commits, and the reply is lost.
constexpr std::string_view kLostReply = R"({
  "version": 1, "about": "A lost reply.", "protocol": "fenced_lease", "lease": "2s",
  "nodes": ["a", { "name": "b", "start_at": "500ms" }], "duration": "10s", "seed": 1,
  "network": { "connection_timeout": "2s" },
  "faults": [ { "when": { "node": "a", "step": "beat", "phase": "committed", "count": 3 },
                "do": "drop_reply", "node": "a" },
              { "at": "5s", "do": "partition", "node": "b", "for": "1s", "direction": "from" },
              { "at": "7s", "do": "abort", "node": "a" } ],
  "expect": { "holds": ["one_live_token", "single_leader_belief", "lease_respected"] }
})";

// Spanner refuses the leader's beats, and then one look of its successor.
constexpr std::string_view kErrors = R"({
  "version": 1, "about": "Errors.", "protocol": "fenced_lease", "lease": "2s",
  "nodes": ["a", { "name": "b", "start_at": "500ms" }], "duration": "12s", "seed": 1,
  "faults": [ { "at": "3s", "do": "error", "node": "a", "of_step": "beat", "for": "6s",
                "code": "PERMISSION_DENIED" },
              { "when": { "node": "b", "step": "read", "phase": "sent", "count": 2 },
                "do": "error", "code": "INTERNAL" } ],
  "expect": { "holds": ["one_live_token", "single_leader_belief"], "sometimes": ["takeover"] }
})";

class LiveReplayTest : public CliTest {
 protected:
  // Ends with 0. Returns what it printed.
  json Replayed(const std::string& arguments) {
    const Ended ended = Whorl("replay " + arguments);
    EXPECT_THAT(ended, Ends(0));
    return ParsedJson(ended);
  }
  // Of the real run, without its head.
  std::vector<json> EventsOf(const std::string& scenario) {
    std::vector<json> lines =
        JsonLines(ReadText(folder_ / "traces" / (scenario + ".server-1.jsonl")));
    std::erase_if(lines, [](const json& line) { return !line.contains("event"); });
    return lines;
  }
};

TEST_F(LiveReplayTest, RealRunsComeToTheVerdictsOfTheSimulation) {
  Write("pause.json", kPause);
  Write("crash.json", kCrash);
  Write("lost.json", kLostReply);
  const json document =
      Replayed("pause.json crash.json lost.json --on server --jobs 3 --json --trace traces");
  ASSERT_EQ(document["scenarios"].size(), 3U);
  for (const json& scenario : document["scenarios"]) {
    EXPECT_EQ(scenario["agreed"], 1) << scenario;
    EXPECT_TRUE(scenario["real"][0]["holes"].empty()) << scenario;
  }
  EXPECT_EQ(document["scenarios"][0]["real"][0]["metrics"]["takeovers"], 1);
  EXPECT_EQ(document["scenarios"][0]["real"][0]["metrics"]["stale_write_refused"], 1);
  EXPECT_EQ(document["scenarios"][1]["real"][0]["verdicts"]["no_wedge"], "violated");
  // The crash is between the two steps: the second is never sent.
  EXPECT_THAT(ReadText(folder_ / "traces/crash.server-1.jsonl"),
              testing::Not(HasSubstr("takeover_update")));
  // Traces have the simulation's format: its tools read them.
  EXPECT_THAT(Shell("$W diff traces/crash.server-1.jsonl traces/crash.server-1.jsonl"), Ends(0));
  EXPECT_THAT(ReadText(folder_ / "traces/crash.server-1.jsonl"),
              HasSubstr(R"("event":"process_gone","process":"b#1","crashed":true)"));
}

// The proxy answers in Spanner's place, which never hears of the call.
TEST_F(LiveReplayTest, ErrorsAreAnsweredInSpannersPlace) {
  Write("errors.json", kErrors);
  const json document = Replayed("errors.json --on server --json --trace traces");
  ASSERT_EQ(document["scenarios"].size(), 1U);
  EXPECT_EQ(document["scenarios"][0]["agreed"], 1) << document;
  const std::string trace = ReadText(folder_ / "traces/errors.server-1.jsonl");
  EXPECT_THAT(trace, HasSubstr("PERMISSION_DENIED"));
  EXPECT_THAT(trace, HasSubstr("INTERNAL"));
}

// One cell of the matrix of faults, phases and steps (tests/sim/world/fault_matrix_test.cc), on a server: its
// effect as the trace of the real run shows it.
struct Sample {
  std::string name;
  std::string when;  // step and phase
  std::string fault;
  std::function<bool(const std::vector<json>&, size_t began)> effect;
};

double SecondsOf(const json& line) { return std::stod(line["t"].get<std::string>()); }
bool IsEvent(const json& line, const char* event) { return line["event"] == event; }
// When the call of that line ends, or reaches another event; nothing if it does not.
std::optional<double> WhenOfCall(const std::vector<json>& lines, const json& call,
                                 const char* event) {
  for (const json& line : lines) {
    if (IsEvent(line, event) && line.contains("call") && line["call"] == call)
      return SecondsOf(line);
  }
  return std::nullopt;
}
// The call of the last such event at or before the fault's beginning.
json TriggerOf(const std::vector<json>& lines, size_t began, const char* event,
               const std::string& step) {
  json call;
  for (const json& line : lines) {
    if (SecondsOf(line) > SecondsOf(lines[began])) break;
    if (IsEvent(line, event) && line["step"] == step) call = line["call"];
  }
  return call;
}
bool AnyAfter(const std::vector<json>& lines, size_t began,
              const std::function<bool(const json&)>& wanted) {
  return std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(began), lines.end(), wanted);
}

std::vector<Sample> Samples() {
  const auto late = [](const char* trigger, const char* at, const char* until) {
    return [=](const std::vector<json>& lines, size_t began) {
      const json call = TriggerOf(lines, began, trigger, "beat");
      const auto from = WhenOfCall(lines, call, at);
      const auto to = WhenOfCall(lines, call, until);
      return from && to && *to - *from >= 0.99;
    };
  };
  const auto answered = [](const char* code) {
    return [=](const std::vector<json>& lines, size_t began) {
      return AnyAfter(lines, began, [&](const json& line) {
        return IsEvent(line, "call_served") && line["code"] == code;
      });
    };
  };
  return {
      {"late_reply_to_a_commit", "committed", R"("do": "latency", "direction": "from", "add": "1s",
        "for": "500ms")",
       late("transaction_committed", "call_served", "call_ended")},
      {"late_reply_to_a_statement", "served", R"("do": "latency", "add": "1s", "for": "500ms")",
       late("call_served", "call_served", "call_ended")},
      {"late_request", "sent", R"("do": "latency", "direction": "to", "add": "1s", "for": "500ms")",
       late("call_sent", "call_sent", "call_served")},
      {"held_reply", "served", R"("do": "partition", "direction": "from", "for": "1s")",
       late("call_served", "call_served", "call_ended")},
      {"abort_after_the_statement", "served", R"("do": "abort")", answered("ABORTED")},
      {"error_after_the_end", "ended", R"("do": "error", "code": "INTERNAL")",
       answered("INTERNAL")},
      {"error_of_the_commit", "sent",
       R"("do": "error", "code": "UNAUTHENTICATED", "of_call": "commit")",
       answered("UNAUTHENTICATED")},
      {"error_though_it_was_committed", "committed",
       R"("do": "error", "code": "CANCELLED", "applied": true, "of_call": "commit")",
       [](const std::vector<json>& lines, size_t began) {
         const json call = TriggerOf(lines, began, "transaction_committed", "beat");
         return AnyAfter(lines, 0, [&](const json& line) {
           return IsEvent(line, "call_ended") && line["call"] == call &&
                  line["code"] == "CANCELLED";
         });
       }},
      {"next_request_lost", "served", R"("do": "drop_request", "node": "a")",
       [](const std::vector<json>& lines, size_t began) {
         return AnyAfter(lines, began, [&](const json& line) {
           return IsEvent(line, "call_hangs") && !WhenOfCall(lines, line["call"], "call_served");
         });
       }},
      {"reply_lost", "sent", R"("do": "drop_reply")",
       [](const std::vector<json>& lines, size_t began) {
         return AnyAfter(lines, began, [&](const json& line) {
           return IsEvent(line, "call_hangs") &&
                  WhenOfCall(lines, line["call"], "call_served").has_value();
         });
       }},
      {"late_write", "write sent", R"("do": "slow_resource", "add": "1s", "for": "1s")",
       [](const std::vector<json>& lines, size_t began) {
         const double at = SecondsOf(lines[began]);
         return !AnyAfter(lines, began, [&](const json& line) {
           return IsEvent(line, "write_arrived") && SecondsOf(line) < at + 0.99;
         });
       }},
  };
}

TEST_F(LiveReplayTest, FaultsOfTheMatrixHaveTheirEffectOnAServer) {
  std::string files;
  for (const Sample& sample : Samples()) {
    const size_t space = sample.when.find(' ');
    const bool of_beats = space == std::string::npos;
    const std::string step = of_beats ? "beat" : sample.when.substr(0, space);
    const std::string phase = of_beats ? sample.when : sample.when.substr(space + 1);
    Write(sample.name + ".json", R"({"version": 1, "about": "x", "protocol": "fenced_lease",
      "lease": "4s", "nodes": ["a"], "duration": "9s", "seed": 1,
      "rows": [{"name": "lock", "heartbeat": "-1h", "token": "-1h"}],
      "workload": {"write_every": "300ms"}, "network": {"connection_timeout": "1s"},
      "faults": [{"when": {"node": "a", "step": ")" +
                                     step + R"(", "phase": ")" + phase + R"(", "count": )" +
                                     (of_beats ? "1}, " : "3}, ") + sample.fault + "}]}");
    files += sample.name + ".json ";
  }
  EXPECT_THAT(Whorl("replay " + files + "--on server --jobs 5 --trace traces"), Ends(0));
  for (const Sample& sample : Samples()) {
    SCOPED_TRACE(sample.name);
    const std::vector<json> lines = EventsOf(sample.name);
    const auto began =
        std::ranges::find_if(lines, [](const json& line) { return IsEvent(line, "fault_began"); });
    if (began == lines.end()) {
      ADD_FAILURE() << "it did not strike";
      continue;
    }
    EXPECT_TRUE(sample.effect(lines, static_cast<size_t>(began - lines.begin())));
  }
}

// As in the simulation (Abort.NeverAnswersACommitThatWasApplied).
TEST_F(LiveReplayTest, ACommitThatWasAppliedIsNotAbortedWhenItComesAgain) {
  const std::string when = R"({"when": {"node": "a", "step": "beat", "phase": "committed"}, )";
  Write("again.json", R"({"version": 1, "about": "x", "protocol": "fenced_lease", "lease": "4s",
      "nodes": ["a"], "duration": "6s", "seed": 1, "network": {"connection_timeout": "500ms"},
      "rows": [{"name": "lock", "heartbeat": "-1h", "token": "-1h"}],
      "faults": [)" + when +
                          R"("do": "drop_reply"}, )" + when +
                          R"("do": "abort", "for": "900ms"}]})");
  EXPECT_THAT(Whorl("replay again.json --on server --trace traces"), Ends(0));
  const std::vector<json> lines = EventsOf("again");
  const auto began =
      std::ranges::find_if(lines, [](const json& line) { return IsEvent(line, "fault_began"); });
  ASSERT_NE(began, lines.end());
  json first;
  int again = 0;
  for (const json& line : lines) {
    if (IsEvent(line, "transaction_committed") && line["t"] <= (*began)["t"]) first = line["call"];
    if (!IsEvent(line, "call_served") || first.is_null()) continue;
    if (line["call"]["generation"] != first["generation"] || line["call"]["call"] <= first["call"])
      continue;
    ++again;
    EXPECT_EQ(line["code"], "OK") << line;
  }
  EXPECT_GE(again, 1);
}

// A reply that its process sees cannot be held up any more.
TEST_F(LiveReplayTest, WhatIsToHoldUpAReplyThatHasArrivedIsRefused) {
  const auto replied = [&](const std::string& fault) {
    Write("replied.json",
          R"({"version": 1, "about": "x", "protocol": "fenced_lease", "nodes": ["a"],
      "duration": "30s", "faults": [{"when": {"node": "a", "step": "beat", "phase": "replied"}, )" +
              fault + "}]}");
    return Shell("$W replay replied.json --on server");
  };
  for (const char* fault : {R"("do": "latency", "add": "1s")",
                            R"("do": "partition", "direction": "from")", R"("do": "drop_reply")"}) {
    EXPECT_THAT(replied(fault), Complains(2, HasSubstr("is in its process")));
    EXPECT_THAT(Shell("$W replay replied.json"), Ends(0)) << fault;
  }
}

// In the place of Spanner Omni: a server that runs already, has one instance, and refuses regular
// sessions.
TEST_F(LiveReplayTest, RunsOnAServerThatRunsAlready) {
  Write("crash.json", kCrash);
  const Ended ended = Shell(
      "export W; \"$W\" serve --multiplexed-sessions --database "
      "projects/default/instances/default/databases/another -- sh -c "
      "'WHORL_SPANNER_ENDPOINT=$SPANNER_EMULATOR_HOST \"$W\" replay crash.json --on omni --json'");
  EXPECT_THAT(ended, Ends(0));
  EXPECT_TRUE(ParsedJson(ended)["scenarios"][0]["real"][0]["holes"].empty()) << ended.out;
}

TEST_F(LiveReplayTest, SaysWhereAServerThatRunsAlreadyIsToBe) {
  Write("crash.json", kCrash);
  unsetenv("WHORL_SPANNER_ENDPOINT");
  EXPECT_THAT(Shell("$W replay crash.json --on omni"),
              Complains(3, HasSubstr("WHORL_SPANNER_ENDPOINT=HOST:PORT")));
  std::string loss(kCrash);
  const size_t faults = loss.find("\"faults\": [") + 11;
  loss.insert(faults, R"({ "at": "1s", "do": "session_loss", "node": "a" },)");
  Write("loss.json", loss);
  EXPECT_THAT(Shell("$W replay loss.json --on omni"), Complains(2, HasSubstr("multiplexed")));
}

// The same on the official emulator, whose code is not ours.
TEST_F(LiveReplayTest, OnTheEmulatorToo) {
  if (!FindEmulator()) GTEST_SKIP() << kNoEmulator;
  Write("pause.json", kPause);
  // A process that is killed may leave a transaction open, which keeps the emulator from any other one for
  // some ten seconds; no_wedge is judged after that.
  std::string crash(kCrash);
  crash.replace(crash.find("24s"), 3, "40s");
  Write("crash.json", crash);
  Write("lost.json", kLostReply);
  EXPECT_THAT(Shell("$W replay pause.json crash.json lost.json --on emulator --jobs 3"),
              Ends(0, HasSubstr("3 as expected and as simulated in every run")));
}

// A real run can be saved and replayed in the simulation, with the same verdicts.
TEST_F(LiveReplayTest, ARealRunIsSavedAsAScenario) {
  Write("pause.json", kPause);
  EXPECT_THAT(Shell("$W replay pause.json --on server --save saved.json"), Ends(0));
  EXPECT_THAT(ReadText(folder_ / "saved.json"), HasSubstr("Saved from a run on the server."));
  EXPECT_THAT(Shell("$W replay saved.json"), Ends(0));
}

// A verdict that is not the scenario's fails, or the comparison would be worth nothing.
TEST_F(LiveReplayTest, AnExpectationThatIsWrongFails) {
  const std::string text = Replaced(std::string(kPause), R"("violates": ["single_worker"],)", "");
  Write("wrong.json", Replaced(text, R"("holds": ["one_live_token", "single_leader_belief"])",
                               R"("violates": ["one_live_token", "single_worker"])"));
  EXPECT_THAT(Shell("$W replay wrong.json --on server"),
              Ends(1, HasSubstr("expected one_live_token to be violated, but it held")));
}

TEST_F(LiveReplayTest, WhatCannotBeMadeRealIsRefusedByNameBeforeAnythingStarts) {
  Write("lies.json", R"({
  "version": 1, "about": "x", "protocol": "spindle_v2", "nodes": ["a"], "duration": "60s",
  "faults": [
    { "at": "3s", "do": "truetime", "epsilon": "9ms", "for": "2s" },
    { "at": "9s", "do": "clock", "node": "a", "stands": true, "for": "3s" }
  ]
})");
  EXPECT_THAT(Shell("$W replay lies.json --on emulator"),
              Complains(2, testing::AllOf(
                               HasSubstr("lies.json:4: /faults/0/do: truetime cannot be made real"),
                               HasSubstr("lies.json:5: /faults/1/do: clock cannot be made real"))));
  EXPECT_THAT(Shell("$W replay lies.json --on server --where-possible"),
              Ends(0, HasSubstr("skipped")));
}

TEST_F(LiveReplayTest, LongScenariosAreLeftOutAndSaidSo) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(Shell("$W replay quiet.json --on server --longest 5s"),
              Ends(0, HasSubstr("it lasts 20s, and --longest is 5s")));
}

TEST_F(LiveReplayTest, WhereThereIsNoEmulatorItSaysSo) {
  Write("quiet.json", kQuiet);
  EXPECT_THAT(Shell("SPANNER_EMULATOR=/nonexistent/emulator $W replay quiet.json --on emulator"),
              Complains(3, HasSubstr("$SPANNER_EMULATOR names no program")));
}

// A few takeovers in real time, beside the simulated ones.
TEST_F(LiveReplayTest, TakeoversAreMeasuredInRealTime) {
  const Ended ended = Shell(
      "$W bench takeover --on server --protocol fenced_lease --fault crash --lease 1s "
      "--followers 1 --runs 2 --jobs 2");
  // Both real ones are there, and the simulated ones beside them.
  EXPECT_THAT(ended,
              Ends(0, testing::AllOf(HasSubstr("1s     1          server         2          2"),
                                     HasSubstr("1s     1          simulated  1,000      1,000"))));
  EXPECT_EQ(Shell("$W bench takeover --on server --csv x.csv --lease 1s").code, 2);
}

TEST_F(LiveReplayTest, BadUsageIsToldApart) {
  Write("quiet.json", kQuiet);
  EXPECT_EQ(Shell("$W replay quiet.json --on mars").code, 2);
  EXPECT_EQ(Shell("$W replay --on server").code, 2);
  EXPECT_EQ(Shell("$W replay nothere.json --on server").code, 2);
  EXPECT_EQ(Shell("$W replay quiet.json --on server --timeline --repeat 2").code, 2);
  for (const std::string option : {"--save", "--out", "--perfetto"}) {
    // Before anything runs.
    EXPECT_THAT(Shell("$W replay quiet.json --on server " + option + " nothere/x"),
                Ends(3, testing::IsEmpty()));
  }
  EXPECT_EQ(Shell("cp $W alone && ./alone replay quiet.json --on server").code, 3);
}

// Real runs have no seed, and simulated ones nothing to save: told, rather than passed over.
TEST_F(LiveReplayTest, OptionsOfTheOtherKindOfRunAreRefused) {
  Write("quiet.json", kQuiet);
  for (const std::string option : {"--seed 3", "--at 1s", "--check-determinism"}) {
    ExpectUsageError("replay quiet.json --on server " + option, "does not go with --on");
  }
  ExpectUsageError("replay quiet.json --on server --repeat 10001", "--repeat wants at most 10000");
  for (const std::string option : {"--all", "--csv x.csv", "--html x.html"}) {
    ExpectUsageError("bench takeover --on server " + option, "does not go with --on");
  }
}

// `ps` lists a running whorl by what was typed, not by the program that it became.
TEST_F(LiveReplayTest, PsShowsWhatTheUserTyped) {
  const std::string path = Write("pause.json", kPause);
  const std::vector<std::string> typed = {WHORL_COMMAND, "replay", path, "--on", "server"};
  ChildProcess whorl(typed);
  const fs::path process = "/proc/" + std::to_string(whorl.pid());
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto became = [&] {
    std::error_code gone;
    return fs::read_symlink(process / "exe", gone).filename() == "whorl-grpc" &&
           ReadText(process / "comm") == "whorl\n";
  };
  while (!became() && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  EXPECT_TRUE(became()) << whorl.Output();
  std::string words;
  for (const std::string& word : typed) words += word + '\0';
  EXPECT_EQ(ReadText(process / "cmdline"), words);
}

// --- nothing is left -----------------------------------------------------------------------------

// Those that the process has started, as the kernel knows them.
std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code gone;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::istringstream words(ReadText(task.path() / "children"));
    for (pid_t child = 0; words >> child;) children.push_back(child);
  }
  return children;
}

// By SIGSTOP.
bool IsStopped(pid_t pid) { return StateOf(pid) == 'T'; }

// True once the process, which need not be a child of this one, has ended.
bool HasEnded(int pidfd) {
  constexpr int kMillisecondsMax = 20'000;
  pollfd watched = {.fd = pidfd, .events = POLLIN, .revents = 0};
  return poll(&watched, 1, kMillisecondsMax) == 1;
}

class LiveEndTest : public LiveReplayTest, public testing::WithParamInterface<int> {};

// As by Ctrl-C, and as by `kill -9` of the command: nodes end with it, also one that stands still.
TEST_P(LiveEndTest, NodesEndWithTheCommand) {
  const std::string path = Write("pause.json", kPause);
  ChildProcess whorl({WHORL_COMMAND, "replay", path, "--on", "server"});
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::vector<pid_t> nodes;
  while (!std::ranges::any_of(nodes, IsStopped) && std::chrono::steady_clock::now() < give_up) {
    nodes = ChildrenOf(whorl.pid());
  }
  ASSERT_EQ(nodes.size(), 2U) << whorl.Output();
  std::vector<int> watched;
  for (const pid_t node : nodes) {
    watched.push_back(static_cast<int>(syscall(SYS_pidfd_open, node, 0)));
  }
  kill(whorl.pid(), GetParam());
  for (const int node : watched) {
    if (node < 0) continue;  // it has ended already
    EXPECT_TRUE(HasEnded(node));
    close(node);
  }
}

TEST_F(LiveReplayTest, CtrlCEndsItWithItsCode) {
  Write("pause.json", kPause);
  EXPECT_THAT(Shell("timeout --preserve-status -s INT 3 $W replay pause.json --on server"),
              Ends(130));
}

INSTANTIATE_TEST_SUITE_P(Signals, LiveEndTest, testing::Values(SIGINT, SIGTERM, SIGKILL));

}  // namespace
}  // namespace whorl::replay_test
