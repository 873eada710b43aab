// Every mistake that the scenario loader knows, with the exact text that a person reads.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "sim/scenario/loader.h"

namespace whorl::sim::scenario_errors_test {
namespace {

constexpr std::string_view kGood = R"({
  "version": 1,
  "about": "x",
  "protocol": "spindle_v2",
  "nodes": ["a", "b"],
  "duration": "60s"
})";

// kGood with `more` on its seventh line and those after it.
std::string With(std::string_view more) {
  std::string text(kGood.substr(0, kGood.size() - 2));
  text += ",\n  ";
  text += more;
  return text + "\n}";
}

// kGood with its `from` turned into `to`.
std::string Changed(std::string_view from, std::string_view to) {
  std::string text(kGood);
  return text.replace(text.find(from), from.size(), to);
}

// Two locks and three nodes on lines 7 to 10, then `more`.
std::string WithNodes(std::string_view more) {
  std::string text = Changed("[\"a\", \"b\"]", R"([
    { "name": "a", "locks": ["x"] }, { "name": "b" },
    { "name": "late", "start_at": "never" } ],
  "locks": ["x", "y"])");
  text.resize(text.size() - 2);
  text += ",\n  ";
  text += more;
  return text + "\n}";
}

// kGood with one fault on line 7.
std::string WithFault(std::string_view fault) {
  return With(std::string("\"faults\": [") + std::string(fault) + "]");
}

std::string ErrorsOf(std::string_view text) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(text, "x.json");
  if (scenario.ok()) return "no error";
  EXPECT_EQ(scenario.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(scenario.status().message());
}

// --- Not JSON ----------------------------------------------------------------------------------

TEST(ScenarioErrors, SayWhereATextStopsBeingJson) {
  EXPECT_EQ(ErrorsOf("{\n  \"version\": 1,\n  \"about\": tru }"),
            "x.json:3: not JSON at column 15: while parsing value - invalid literal; last read: "
            "'\"about\": tru '");
  EXPECT_EQ(ErrorsOf("{ \"faults\": [1"),
            "x.json:1: /faults: not JSON at column 14: while parsing array - unexpected end of "
            "input; expected ']'");
  EXPECT_EQ(ErrorsOf(std::string(kGood) + "\n}"),
            "x.json:8: not JSON at column 1: while parsing value - unexpected '}'; expected end of "
            "input");
  EXPECT_EQ(ErrorsOf("{ \"about\": \"\xff\" }"),
            "x.json:1: not JSON at column 13: while parsing value - invalid string: ill-formed "
            "UTF-8 byte; last read: '\"\\xff'");
  EXPECT_EQ(ErrorsOf("{ \"seed\": 1e999 }"),
            "x.json:1: not JSON at column 16: number overflow parsing '1e999'");
  EXPECT_EQ(
      ErrorsOf("{ // \n }"),
      "x.json:1: not JSON at column 3: while parsing object key - invalid literal; last read: "
      "'{ /'; expected string literal");
}

TEST(ScenarioErrors, NameAnEmptyText) {
  EXPECT_EQ(ErrorsOf(""), "x.json:1: empty: expected a JSON object");
  EXPECT_EQ(ErrorsOf(" \n\t"), "x.json:1: empty: expected a JSON object");
}

TEST(ScenarioErrors, NameASecondKeyOfOneName) {
  // A JSON parser of the usual kind drops one of them silently.
  EXPECT_EQ(ErrorsOf(With("\"about\": \"y\"")),
            "x.json:7: /about: duplicate key \"about\"; the first is on line 3");
  EXPECT_EQ(
      ErrorsOf(With(R"("spanner": { "truetime": { "epsilon": "1ms",
    "epsilon": "2ms" } })")),
      "x.json:8: /spanner/truetime/epsilon: duplicate key \"epsilon\"; the first is on line 7");
}

TEST(ScenarioErrors, StopAtDepthAndAtNumberRatherThanAtTheStacksEnd) {
  EXPECT_EQ(ErrorsOf(std::string(100'000, '[')).substr(0, 20), "x.json:1: /0/0/0/0/0");
  EXPECT_TRUE(ErrorsOf(std::string(100'000, '[')).ends_with(": nested deeper than 64 levels"));
  std::string many = "[0";
  for (int i = 0; i < 500'000; ++i) many += ",0";
  EXPECT_EQ(ErrorsOf(many + "]"), "x.json:1: more than 500000 values");
}

TEST(ScenarioErrors, RefuseATextThatIsTooLong) {
  EXPECT_EQ(ErrorsOf(std::string(kMaxScenarioBytes + 1, ' ')),
            "x.json: longer than a scenario may be (16 MiB)");
}

// --- Keys and types ----------------------------------------------------------------------------

TEST(ScenarioErrors, NameTheKeysThatAreMissing) {
  EXPECT_EQ(ErrorsOf("{}"),
            "x.json:1: missing key \"version\" (of the scenario language)\n"
            "x.json:1: missing key \"about\" (what happens here, and why it is worth a scenario)\n"
            "x.json:1: missing key \"protocol\" (which lock protocol the nodes run)\n"
            "x.json:1: missing key \"nodes\" (the processes: each a name, or an object that says "
            "more)\n"
            "x.json:1: missing key \"duration\" (of the run, in simulated time)");
}

TEST(ScenarioErrors, SuggestTheKeyThatWasMeant) {
  EXPECT_EQ(
      ErrorsOf(With("\"sed\": 1")),
      "x.json:7: /sed: unknown key \"sed\"; did you mean \"seed\"? Known keys: $schema, "
      "version, about, protocol, constants, locks, lease, nodes, rows, duration, seed, spanner, "
      "network, workload, faults, schedule, ... and 2 more.");
  EXPECT_EQ(ErrorsOf(With(R"("network": { "x/y~z": 1 })")),
            "x.json:7: /network/x~1y~0z: unknown key \"x/y~z\". Known keys: connection_timeout, "
            "announce_releases, commit_timeout.");
}

TEST(ScenarioErrors, SayWhatWasExpectedAndWhatIsThere) {
  EXPECT_EQ(ErrorsOf("[]"), "x.json:1: expected an object, got an array");
  EXPECT_EQ(ErrorsOf(Changed("\"60s\"", "5")),
            "x.json:6: /duration: expected a duration such as \"200ms\", got the number 5");
  EXPECT_EQ(ErrorsOf(Changed("\"x\"", "null")), "x.json:3: /about: expected a string, got null");
  EXPECT_EQ(ErrorsOf(Changed("\"x\"", "\" \"")),
            "x.json:3: /about: expected a string that is not empty (what happens here, and why it "
            "is worth a scenario)");
  EXPECT_EQ(ErrorsOf(With("\"network\": \"slow\"")),
            "x.json:7: /network: expected an object, got the string \"slow\"");
  EXPECT_EQ(ErrorsOf(With("\"faults\": {}")),
            "x.json:7: /faults: expected an array, got an object");
  EXPECT_EQ(ErrorsOf(With("\"spanner\": { \"truetime\": { \"truthful\": \"no\" } }")),
            "x.json:7: /spanner/truetime/truthful: expected true or false, got the string \"no\"");
  EXPECT_EQ(ErrorsOf(With("\"workload\": { \"resource\": \"fencd\" }")),
            "x.json:7: /workload/resource: expected one of fenced, unfenced, both, got the string "
            "\"fencd\"; did you mean \"fenced\"?");
}

TEST(ScenarioErrors, RefuseNumbersThatWouldBeRounded) {
  const std::string expected =
      "x.json:7: /seed: expected an integer from 0 to 18446744073709551615, got the ";
  EXPECT_EQ(ErrorsOf(With("\"seed\": 1.0")), expected + "number 1.0");
  EXPECT_EQ(ErrorsOf(With("\"seed\": 1e3")), expected + "number 1e3");
  EXPECT_EQ(ErrorsOf(With("\"seed\": -1")), expected + "number -1");
  EXPECT_EQ(ErrorsOf(With("\"seed\": 18446744073709551616")),
            expected + "number 18446744073709551616");
  EXPECT_EQ(ErrorsOf(With("\"seed\": \"7\"")), expected + "string \"7\"");
}

TEST(ScenarioErrors, SayNothingElseOfAnotherVersion) {
  EXPECT_EQ(ErrorsOf("{ \"version\": 2, \"nods\": [] }"),
            "x.json:1: /version: expected 1, the only version of the scenario language, got the "
            "number 2");
}

TEST(ScenarioErrors, AreAllReportedByLine) {
  // A user wants to fix all mistakes of a file at once.
  EXPECT_EQ(ErrorsOf(R"({
  "version": 1,
  "protocol": "spindel_v2",
  "nodes": ["a", "a"],
  "lease": "0s",
  "duration": "1 s",
  "faults": [ { "at": "1s", "do": "crash", "node": "c" } ],
  "expect": { "takeover_within": 12 }
})"),
            "x.json:1: missing key \"about\" (what happens here, and why it is worth a scenario)\n"
            "x.json:3: /protocol: unknown protocol \"spindel_v2\"; did you mean \"spindle_v2\"? "
            "Known protocols: spindle_v2, spindle_v3, semaphore, lease_lock, fenced_lease.\n"
            "x.json:4: /nodes/1: node \"a\" is named twice\n"
            "x.json:5: /lease: expected more than 0s, got the string \"0s\"\n"
            "x.json:6: /duration: unknown unit \" s\" in \"1 s\"; did you mean \"s\"? expected a "
            "duration such as \"200ms\" (units: ns, us, ms, s, m, h)\n"
            "x.json:7: /faults/0/node: unknown node \"c\". Known nodes: a.\n"
            "x.json:8: /expect/takeover_within: expected a duration such as \"200ms\", got the "
            "number 12");
}

TEST(ScenarioErrors, AreAtMostTwenty) {
  std::string faults = "\"faults\": [ 0";
  for (int i = 0; i < 1000; ++i) faults += ",\n    0";
  const std::string errors = ErrorsOf(With(faults + " ]"));
  EXPECT_TRUE(errors.starts_with("x.json:7: /faults/0: expected an object, got the number 0\n"));
  EXPECT_TRUE(
      errors.ends_with("x.json:26: /faults/19: expected an object, got the number 0\n"
                       "x.json: further errors are not shown"));
}

TEST(ScenarioErrors, ArePrintableWhateverTheTextSays) {
  // Nothing in a file from elsewhere may steer the terminal that shows the error.
  EXPECT_EQ(
      ErrorsOf(With("\"\\u001b[31m\\u009b\\n\": 1")).substr(0, 76),
      "x.json:7: /\\x1b[31m\\xc2\\x9b\\x0a: unknown key \"\\x1b[31m\\xc2\\x9b\\x0a\". Known k");
  EXPECT_LT(ErrorsOf(With("\"" + std::string(1 << 20, 'k') + "\": 1")).size(), 1'000U);
}

// --- Durations ---------------------------------------------------------------------------------

TEST(ScenarioErrors, SayWhatIsWrongWithADuration) {
  const auto error = [](std::string_view text) {
    const std::string errors = ErrorsOf(Changed("60s", text));
    return errors.substr(std::string_view("x.json:6: /duration: ").size());
  };
  const std::string expected = "expected a duration such as \"200ms\" (units: ns, us, ms, s, m, h)";
  EXPECT_EQ(error("200"), "\"200\" has no unit; " + expected);
  EXPECT_EQ(error("5sec"), "unknown unit \"sec\" in \"5sec\"; " + expected);
  EXPECT_EQ(error("5mss"), "unknown unit \"mss\" in \"5mss\"; did you mean \"ms\"? " + expected);
  EXPECT_EQ(error("1 s"), "unknown unit \" s\" in \"1 s\"; did you mean \"s\"? " + expected);
  EXPECT_EQ(error("1h30m"), "unknown unit \"h30m\" in \"1h30m\"; " + expected);
  EXPECT_EQ(error("soon"), expected + ", got the string \"soon\"");
  EXPECT_EQ(error(""), expected + ", got the string \"\"");
  EXPECT_EQ(error(".5s"), expected + ", got the string \".5s\"");
  EXPECT_EQ(error("5.s"), expected + ", got the string \"5.s\"");
  EXPECT_EQ(error("1.5ns"), "\"1.5ns\" is no whole number of nanoseconds");
  EXPECT_EQ(error("0.000000000000001h"),
            "\"0.000000000000001h\" is no whole number of nanoseconds");
  EXPECT_EQ(error("87601h"), "\"87601h\" is beyond ten years (87600h)");
  EXPECT_EQ(error("99999999999999999999999ns"),
            "\"99999999999999999999999ns\" is beyond ten years (87600h)");
  EXPECT_EQ(error("0s"), "expected more than 0s, got the string \"0s\"");
  EXPECT_EQ(error("-1s"), "expected more than 0s, got the string \"-1s\"");
}

TEST(ScenarioErrors, RefuseANegativeDurationWhereItHasNoMeaning) {
  EXPECT_EQ(ErrorsOf(With("\"workload\": { \"work_for\": \"-1ms\" }")),
            "x.json:7: /workload/work_for: expected 0s or more, got the string \"-1ms\"");
}

// --- Nodes, locks, rows ------------------------------------------------------------------------

TEST(ScenarioErrors, NameTheProtocolsThatThereAre) {
  EXPECT_EQ(ErrorsOf(Changed("spindle_v2", "zookeeper")),
            "x.json:4: /protocol: unknown protocol \"zookeeper\". Known protocols: spindle_v2, "
            "spindle_v3, semaphore, lease_lock, fenced_lease.");
}

TEST(ScenarioErrors, OfNodes) {
  const auto error = [](std::string_view nodes) {
    return ErrorsOf(Changed("[\"a\", \"b\"]", nodes));
  };
  EXPECT_EQ(error("[]"), "x.json:5: /nodes: expected at least one node, got an empty array");
  EXPECT_EQ(error("[7]"),
            "x.json:5: /nodes/0: expected a node's name or an object, got the number 7");
  EXPECT_EQ(error("[\"\"]"), "x.json:5: /nodes/0: expected a name that is not empty");
  EXPECT_EQ(error("[\"a\\u0000\"]"),
            "x.json:5: /nodes/0: expected a name without control characters, got the string "
            "\"a\\x00\"");
  EXPECT_EQ(error("[\"" + std::string(101, 'n') + "\"]"),
            "x.json:5: /nodes/0: expected a name of at most 100 bytes, got one of 101");
  EXPECT_EQ(error("[\"pod-*\"]"),
            "x.json:5: /nodes/0: expected a name without *, which stands for a pattern, got the "
            "string \"pod-*\"");
  EXPECT_EQ(error("[{ \"name\": \"a\", \"count\": 0 }]"),
            "x.json:5: /nodes/0/count: expected an integer from 1 to 1000, got the number 0");
  EXPECT_EQ(error("[\"p-2\", { \"name\": \"p\", \"count\": 3 }]"),
            "x.json:5: /nodes/1/name: node \"p-2\" is named twice");
  EXPECT_EQ(error("[\"p\", { \"name\": \"p\", \"count\": 1000 }]"),
            "x.json:5: /nodes/1/name: more than 1000 nodes");
  EXPECT_EQ(error("[{ \"name\": \"a\", \"start_at\": \"60s\" }]"),
            "x.json:5: /nodes/0/start_at: the run ends at 60s; a node that only a `start` fault "
            "starts has \"never\" here");
  EXPECT_EQ(error("[{ \"name\": \"a\", \"clock\": { \"rate_ppm\": 100001 } }]"),
            "x.json:5: /nodes/0/clock/rate_ppm: expected an integer from -100000 to 100000, got "
            "the number 100001");
}

TEST(ScenarioErrors, OfLocks) {
  EXPECT_EQ(ErrorsOf(With("\"locks\": []")),
            "x.json:7: /locks: expected at least one lock, got an empty array");
  EXPECT_EQ(ErrorsOf(With("\"locks\": [\"x\", \"x\"]")),
            "x.json:7: /locks/1: lock \"x\" is named twice");
  EXPECT_EQ(ErrorsOf(Changed("\"a\"", "{ \"name\": \"a\", \"locks\": [\"lok\"] }")),
            "x.json:5: /nodes/0/locks/0: unknown lock \"lok\"; did you mean \"lock\"? Known locks: "
            "lock.");
}

TEST(ScenarioErrors, OfRows) {
  const auto error = [](std::string_view row) {
    return ErrorsOf(With(std::string("\"rows\": [") + std::string(row) + "]"));
  };
  EXPECT_EQ(error("1"), "x.json:7: /rows/0: expected an object of columns, got the number 1");
  EXPECT_EQ(error("{ \"name\": \"x\", \"tokn\": null }"),
            "x.json:7: /rows/0/tokn: unknown column \"tokn\"; did you mean \"token\"? Known "
            "columns: name, heartbeat, token, writer.");
  EXPECT_EQ(error("{ \"token\": null }"),
            "x.json:7: /rows/0: missing column \"name\", which is the key");
  EXPECT_EQ(error("{ \"name\": null }"),
            "x.json:7: /rows/0/name: expected a STRING, got null: \"name\" is the key");
  EXPECT_EQ(error("{ \"name\": 5 }"),
            "x.json:7: /rows/0/name: expected a STRING, got the number 5");
  const std::string expected =
      "x.json:7: /rows/0/token: expected a duration relative to the start such as \"-12s\", or RFC "
      "3339 in UTC such as \"2025-12-31T23:59:48Z\", got the ";
  EXPECT_EQ(error("{ \"name\": \"x\", \"token\": 5 }"), expected + "number 5");
  EXPECT_EQ(error("{ \"name\": \"x\", \"token\": \"2025-13-01T00:00:00Z\" }"),
            expected + "string \"2025-13-01T00:00:00Z\"");
  const std::string future =
      "x.json:7: /rows/0/token: later than the start (2026-01-01T00:00:00Z): commit timestamps are "
      "never in the future";
  EXPECT_EQ(error("{ \"name\": \"x\", \"token\": \"1ns\" }"), future);
  EXPECT_EQ(error("{ \"name\": \"x\", \"token\": \"2026-01-01T00:00:01Z\" }"), future);
  EXPECT_EQ(error("{ \"name\": \"x\" }, { \"name\": \"x\" }"),
            "x.json:7: /rows/1: a second row with the key 'x'");
}

TEST(ScenarioErrors, OfAnIntervalThatLies) {
  const auto error = [](std::string_view truetime) {
    return ErrorsOf(
        With(std::string("\"spanner\": { \"truetime\": ") + std::string(truetime) + "}"));
  };
  EXPECT_EQ(error("{ \"error\": \"9ms\" }"),
            "x.json:7: /spanner/truetime/error: \"error\" needs \"truthful\": false");
  EXPECT_EQ(error("{ \"truthful\": false }"),
            "x.json:7: /spanner/truetime: missing key \"error\" (how far the interval that lies is "
            "off)");
  EXPECT_EQ(error("{ \"truthful\": false, \"error\": \"-4ms\" }"),
            "x.json:7: /spanner/truetime/error: expected more than epsilon (4ms) either way, or "
            "true time lies inside the interval");
}

// --- Faults ------------------------------------------------------------------------------------

TEST(ScenarioErrors, NameTheNodeThatWasMeant) {
  EXPECT_EQ(
      ErrorsOf(WithFault("{ \"at\": \"1s\", \"do\": \"crash\", \"node\": \"bb\" }")),
      "x.json:7: /faults/0/node: unknown node \"bb\"; did you mean \"b\"? Known nodes: a, b.");
  EXPECT_EQ(ErrorsOf(WithFault("{ \"at\": \"1s\", \"do\": \"crash\", \"node\": \"pod-*\" }")),
            "x.json:7: /faults/0/node: no node matches \"pod-*\". Known nodes: a, b.");
  EXPECT_EQ(ErrorsOf(WithFault("{ \"at\": \"1s\", \"do\": \"crash\" }")),
            "x.json:7: /faults/0: missing key \"node\" (which node it happens to)");
}

TEST(ScenarioErrors, OfNodesStopAtAFew) {
  // With a thousand pods, the message must not list them all.
  const std::string errors = ErrorsOf(
      R"({ "version": 1, "about": "x", "protocol": "spindle_v2", "duration": "60s",
  "nodes": [{ "name": "pod", "count": 1000 }],
  "faults": [{ "at": "1s", "do": "crash", "node": "pod" }] })");
  EXPECT_EQ(errors,
            "x.json:3: /faults/0/node: unknown node \"pod\". Known nodes: pod-1, pod-2, pod-3, "
            "pod-4, pod-5, pod-6, pod-7, pod-8, pod-9, pod-10, pod-11, pod-12, pod-13, pod-14, "
            "pod-15, pod-16, ... and 984 more.");
}

TEST(ScenarioErrors, OfKindsOfFaults) {
  EXPECT_EQ(
      ErrorsOf(WithFault("{ \"at\": \"1s\", \"do\": \"pasue\", \"node\": \"a\" }")),
      "x.json:7: /faults/0/do: unknown fault \"pasue\"; did you mean \"pause\"? Known faults: "
      "pause, crash, stop, start, partition, latency, drop_request, drop_reply, abort, "
      "unavailable, session_loss, clock, truetime, current_timestamp, delete_row, error, ... and 5 "
      "more.");
  EXPECT_EQ(ErrorsOf(WithFault("{ \"at\": \"1s\", \"do\": \"pause\", \"node\": \"a\" }")),
            "x.json:7: /faults/0: a pause needs the key \"for\"");
  EXPECT_EQ(ErrorsOf(WithFault(R"({ "at": "1s", "do": "crash", "node": "a", "for": "1s" })")),
            "x.json:7: /faults/0/for: a crash has no \"for\"; that is for: pause, partition, "
            "latency, abort, unavailable, clock, truetime, current_timestamp, error, "
            "slow_resource.");
  EXPECT_EQ(ErrorsOf(WithFault(R"({ "at": "1s", "do": "stop", "node": "a", "mode": "refuse" })")),
            "x.json:7: /faults/0/mode: a stop has no \"mode\"; that is for: partition.");
}

TEST(ScenarioErrors, OfTriggers) {
  EXPECT_EQ(ErrorsOf(WithFault("{ \"do\": \"crash\", \"node\": \"a\" }")),
            "x.json:7: /faults/0: missing key \"at\" (a time) or \"when\" (what has to happen "
            "first)");
  EXPECT_EQ(ErrorsOf(WithFault(R"({ "at": "1s", "do": "crash",
    "when": { "node": "a", "step": "check", "phase": "sent" } })")),
            "x.json:8: /faults/0/when: expected one of \"at\" and \"when\", got both");
  EXPECT_EQ(ErrorsOf(WithFault(R"({ "at": "1s", "do": "crash", "node": "a", "stagger": "1s" })")),
            "x.json:7: /faults/0/stagger: \"stagger\" needs \"at\", and a pattern such as "
            "\"pod-*\" for \"node\"");
  EXPECT_EQ(ErrorsOf(WithFault(R"({ "do": "crash", "when": { "node": "a" } })")),
            "x.json:7: /faults/0/when: missing key \"step\" (which step of the protocol, or "
            "has_lock, or write (to the resource))\n"
            "x.json:7: /faults/0/when: missing key \"phase\" (how far the step has come)");
}

TEST(ScenarioErrors, OfFaultsThatCanNeverFire) {
  // A scenario with a fault that cannot fire proves less than it seems to.
  const auto error = [](std::string_view fault) {
    const std::string errors =
        ErrorsOf(WithNodes(std::string("\"faults\": [") + std::string(fault) + "]"));
    return errors.substr(errors.find("/faults"));
  };
  EXPECT_EQ(error(R"({ "at": "60s", "do": "crash", "node": "a" })"),
            "/faults/0/at: can never fire: the run ends at 60s");
  EXPECT_EQ(error(R"({ "at": "10s", "do": "crash", "node": "*", "stagger": "30s" })"),
            "/faults/0/stagger: can never fire: \"late\" would be hit at 70s, and the run ends at "
            "60s");
  EXPECT_EQ(
      error(R"({ "when": { "node": "a", "step": "acquire", "phase": "sent" }, "do": "crash" })"),
      "/faults/0/when/step: can never fire: spindle_v2 has no step \"acquire\". Its steps: check, "
      "first_insert, reread, takeover_insert, takeover_update, heartbeat_update, heartbeat_delete, "
      "has_lock, write.");
  EXPECT_EQ(
      error(R"({ "when": { "node": "a", "step": "write", "phase": "committed" }, "do": "crash" })"),
      "/faults/0/when/phase: can never fire: write goes to the resource, which answers nothing. "
      "Its "
      "phases: sent, served.");
  EXPECT_EQ(
      error(R"({ "when": { "node": "a", "step": "check", "phase": "committed" }, "do": "crash" })"),
      "/faults/0/when/phase: can never fire: check has no commit of its own. Its phases: sent, "
      "served, replied, ended.");
  EXPECT_EQ(error(R"({ "when": { "node": "a", "step": "check", "phase": "sent", "lock": "y" },
    "do": "crash" })"),
            "/faults/0/when/lock: can never fire: node \"a\" takes no part in lock \"y\". Its "
            "locks: x.");
  EXPECT_EQ(
      error(R"({ "when": { "node": "late", "step": "check", "phase": "sent" }, "do": "crash" })"),
      "/faults/0/when/node: can never fire: nothing starts node \"late\"; it needs a `start` "
      "fault, or a time in \"start_at\"");
}

// The error of one fault, from its pointer on.
std::string FaultError(std::string_view fault) {
  const std::string errors = ErrorsOf(WithFault(fault));
  const size_t at = errors.find("/faults");
  return at == std::string::npos ? errors : errors.substr(at);
}

TEST(ScenarioErrors, OfFaultsAtSpanner) {
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "unavailable", "node": "a", "for": "1s" })"),
            "/faults/0/node: \"unavailable\" happens at Spanner and has no \"node\"; whose step it "
            "waits for stands in \"when\"");
  EXPECT_EQ(
      FaultError(R"({ "at": "1s", "do": "delete_row", "stagger": "1s" })"),
      "/faults/0/stagger: \"delete_row\" happens at Spanner and has no \"stagger\"; whose step "
      "it waits for stands in \"when\"");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "unavailable" })"),
            "/faults/0: \"unavailable\" needs the key \"for\"");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "truetime", "for": "1s" })"),
            "/faults/0: \"truetime\" needs one of the keys epsilon, truthful, error");
  EXPECT_EQ(
      FaultError(R"({ "at": "1s", "do": "truetime", "truthful": false, "error": "4ms" })"),
      "/faults/0/error: expected more than epsilon (4ms) either way, or true time lies inside "
      "the interval");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "truetime", "error": "9ms" })"),
            "/faults/0/error: \"error\" needs \"truthful\": false");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "current_timestamp" })"),
            "/faults/0: \"current_timestamp\" needs the key \"error\"");
}

TEST(ScenarioErrors, OfDeletedRows) {
  const auto error = [](std::string_view fault) {
    const std::string errors =
        ErrorsOf(WithNodes(std::string("\"faults\": [") + std::string(fault) + "]"));
    return errors.substr(errors.find("/faults"));
  };
  EXPECT_EQ(error(R"({ "at": "1s", "do": "delete_row" })"),
            "/faults/0: missing key \"lock\" (which lock's row). Known locks: x, y.");
  EXPECT_EQ(error(R"({ "at": "1s", "do": "delete_row", "lock": "z" })"),
            "/faults/0/lock: unknown lock \"z\". Known locks: x, y.");
}

// Where there is nothing to divide or to tidy up.
TEST(ScenarioErrors, OfATableOfOneRow) {
  const auto of_semaphore = [](std::string_view more) {
    std::string text = With(more);
    const std::string_view protocol = "spindle_v2";
    return ErrorsOf(text.replace(text.find(protocol), protocol.size(), "semaphore"));
  };
  EXPECT_THAT(
      of_semaphore(R"("spanner": { "splits": ["2"] })"),
      testing::HasSubstr("/spanner/splits: semaphore has one row, which cannot be divided"));
  EXPECT_THAT(of_semaphore(R"("faults": [{ "at": "1s", "do": "delete_side_rows" }])"),
              testing::HasSubstr("/faults/0/do: semaphore has one row, and none beside it"));
}

TEST(ScenarioErrors, OfTooManySplits) {
  EXPECT_THAT(ErrorsOf(With(R"("spanner": { "splits": ["a", "b", "c", "d"] })")),
              testing::HasSubstr("/spanner/splits: expected at most 3 keys, got 4"));
}

TEST(ScenarioErrors, OfLatency) {
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "latency", "node": "a" })"),
            "/faults/0: a latency needs the key \"add\"");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "latency", "node": "a", "add": 5 })"),
            "/faults/0/add: expected a duration such as \"200ms\", or an object with \"p50\", "
            "\"p99\" and \"max\", got the number 5");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "latency", "node": "a", "add": "0s" })"),
            "/faults/0/add: expected more than 0s, got the string \"0s\"");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "latency", "node": "a",
    "add": { "p50": "1s", "p99": "2s", "p999": "3s" } })"),
            "/faults/0/add: missing key \"max\" (none takes longer; between these values it rises "
            "evenly)\n"
            "x.json:8: /faults/0/add/p999: unknown key \"p999\"; did you mean \"p99\"? Known keys: "
            "min, p50, p99, max.");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "latency", "node": "a",
    "add": { "p50": "2s", "p99": "1s", "max": "3s" } })"),
            "/faults/0/add: expected min <= p50 <= p99 <= max");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "latency", "node": "a", "add": "1s",
    "direction": "form" })"),
            "/faults/0/direction: expected one of both, to, from, got the string \"form\"; did you "
            "mean \"from\"?");
}

TEST(ScenarioErrors, OfClocks) {
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "clock", "node": "a" })"),
            "/faults/0: a clock needs one of the keys offset, step, rate_ppm, stands");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "clock", "node": "a", "stands": true })"),
            "/faults/0: a clock that stands needs the key \"for\"");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "clock", "node": "a", "stands": true, "for": "1s",
    "step": "1s" })"),
            "/faults/0/step: a clock that stands does nothing else");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "clock", "node": "a", "step": "1s", "for": "1s" })"),
            "/faults/0/for: \"for\" needs \"stands\": true; other changes are for good");
  EXPECT_EQ(
      FaultError(R"({ "at": "1s", "do": "clock", "node": "a", "step": "1s", "offset": "1s" })"),
      "/faults/0/step: \"offset\" sets the clock's error and \"step\" adds to it: expected one of "
      "them");
}

TEST(ScenarioErrors, OfAborts) {
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "abort", "node": "*", "for": "1s", "percent": 0 })"),
            "/faults/0/percent: expected an integer from 1 to 100, got the number 0");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "abort", "node": "a", "percent": 50 })"),
            "/faults/0/percent: \"percent\" needs \"for\": without it, one call is aborted");
}

// An error that names no step, or one without calls, would never be answered.
TEST(ScenarioErrors, OfErrors) {
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "error", "node": "a", "of_step": "check" })"),
            "/faults/0: an error needs the key \"code\"");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "error", "node": "a", "of_step": "check",
                            "code": "ABORTED" })"),
            "/faults/0/code: expected one of INTERNAL, RESOURCE_EXHAUSTED, PERMISSION_DENIED, "
            "FAILED_PRECONDITION, DEADLINE_EXCEEDED, UNKNOWN, got the string \"ABORTED\"");
  EXPECT_EQ(
      FaultError(R"({ "at": "1s", "do": "error", "node": "a", "code": "INTERNAL" })"),
      "/faults/0: an error at a time needs the key \"of_step\" (whose calls are answered so)");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "error", "node": "a", "code": "INTERNAL",
                            "of_step": "check", "percent": 50 })"),
            "/faults/0/percent: \"percent\" needs \"for\": without it, one call is answered so");
  EXPECT_EQ(FaultError(R"({ "do": "error", "code": "INTERNAL", "when": { "node": "a",
                            "step": "write", "phase": "sent" } })"),
            "/faults/0/when/step: can never fire: in spindle_v2, no call to Spanner is a "
            "\"write\". Steps with calls: check, first_insert, reread, takeover_insert, "
            "takeover_update, heartbeat_update, heartbeat_delete, has_lock.");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "error", "node": "a", "code": "INTERNAL",
                            "of_step": "beat" })"),
            "/faults/0/of_step: can never fire: in spindle_v2, no call to Spanner is a \"beat\". "
            "Steps with calls: check, first_insert, reread, takeover_insert, takeover_update, "
            "heartbeat_update, heartbeat_delete, has_lock.");
  EXPECT_EQ(FaultError(R"({ "at": "1s", "do": "pause", "node": "a", "for": "1s",
                            "code": "INTERNAL" })"),
            "/faults/0/code: a pause has no \"code\"; that is for: error.");
}

TEST(ScenarioErrors, OfFaultsThatComeTooLate) {
  for (const std::string phase : {"served", "committed", "replied"}) {
    EXPECT_EQ(FaultError(R"({ "do": "drop_request", "when": { "node": "a", "step": "first_insert",
    "phase": ")" + phase +
                         R"(" } })"),
              "/faults/0/when/phase: can never fire: in the phase " + phase +
                  " the request has been heard. \"sent\" loses the step's request, \"ended\" the "
                  "node's next one.");
  }
  const std::string restart = " would start again at ";
  EXPECT_EQ(FaultError(R"({ "at": "50s", "do": "crash", "node": "a", "restart_after": "10s" })"),
            "/faults/0/restart_after: node \"a\"" + restart +
                "60s, and the run ends at 60s; without \"restart_after\" it stays down");
  EXPECT_EQ(FaultError(R"({ "do": "stop", "restart_after": "2m",
    "when": { "node": "a", "step": "check", "phase": "sent" } })"),
            "/faults/0/restart_after: node \"a\"" + restart +
                "120s at the earliest, and the run ends at 60s; without \"restart_after\" it stays "
                "down");
}

TEST(ScenarioErrors, OfFaultsThatFindNothingToStrike) {
  const auto error = [](std::string_view faults) {
    const std::string errors =
        ErrorsOf(WithNodes(std::string("\"faults\": [") + std::string(faults) + "]"));
    return errors == "no error" ? errors : errors.substr(errors.find("/faults"));
  };
  const std::string down = ": can never fire: at 5s node \"late\" is not running";
  for (const std::string fault :
       {R"("do": "crash")", R"("do": "stop")", R"("do": "pause", "for": "1s")",
        R"("do": "session_loss")", R"("do": "clock", "stands": true, "for": "1s")"}) {
    const std::string at_5s = R"({ "at": "5s", "node": "late", )" + fault + "}";
    EXPECT_EQ(error(at_5s), "/faults/0" + down);
    EXPECT_EQ(error(at_5s + R"(, { "at": "6s", "do": "start", "node": "late" })"),
              "/faults/0" + down);
    EXPECT_EQ(error(R"({ "at": "4s", "do": "start", "node": "late" }, )" + at_5s), "no error");
    EXPECT_EQ(error(R"({ "do": "start", "node": "late",
      "when": { "node": "a", "step": "check", "phase": "sent" } }, )" +
                    at_5s),
              "no error");
  }
  // What needs no process strikes all the same.
  EXPECT_EQ(error(R"({ "at": "5s", "node": "late", "do": "partition" })"), "no error");
  EXPECT_EQ(error(R"({ "at": "5s", "node": "late", "do": "clock", "offset": "1s" })"), "no error");
  EXPECT_EQ(error(R"({ "at": "5s", "do": "start", "node": "a" })"),
            "/faults/0: can never fire: at 5s node \"a\" runs already");
  EXPECT_EQ(error(R"({ "at": "4s", "do": "crash", "node": "a" },
    { "at": "5s", "do": "crash", "node": "a" })"),
            "/faults/1: can never fire: at 5s node \"a\" is not running");
  EXPECT_EQ(error(R"({ "at": "4s", "do": "stop", "node": "a" },
    { "at": "5s", "do": "stop", "node": "a" })"),
            "/faults/1: can never fire: at 5s node \"a\" is not running");
}

// Refusing a fault that can strike would be worse than accepting one that cannot.
TEST(ScenarioErrors, AreNotMadeOfFaultsThatMayStrike) {
  for (
      const char* faults : {
          // A stopped process still has a process that can crash, or start anew.
          R"({ "at": "4s", "do": "stop", "node": "a" }, { "at": "5s", "do": "crash", "node": "a" })",
          R"({ "at": "4s", "do": "stop", "node": "a" }, { "at": "5s", "do": "start", "node": "a" })",
          // A restart, for certain or perhaps.
          R"({ "at": "4s", "do": "crash", "node": "a", "restart_after": "1s" },
              { "at": "6s", "do": "crash", "node": "a" })",
          R"({ "do": "crash", "when": { "node": "a", "step": "check", "phase": "sent" },
                "restart_after": "1s" }, { "at": "6s", "do": "stop", "node": "a" },
              { "at": "7s", "do": "stop", "node": "a" })",
          // It may have crashed before.
          R"({ "do": "crash", "when": { "node": "a", "step": "check", "phase": "sent" } },
              { "at": "6s", "do": "start", "node": "a" })",
          R"({ "at": "4s", "do": "pause", "node": "a", "for": "9s" },
              { "at": "5s", "do": "pause", "node": "a", "for": "2s" })",
          R"({ "do": "drop_request", "node": "b",
                "when": { "node": "a", "step": "check", "phase": "replied" } })",
      }) {
    EXPECT_EQ(ErrorsOf(WithFault(faults)), "no error") << faults;
  }
}

TEST(ScenarioErrors, OfFaultsThatContradictEachOther) {
  const auto both = [](std::string_view first, std::string_view second) {
    const std::string errors = ErrorsOf(With(std::string("\"faults\": [\n") + std::string(first) +
                                             ",\n" + std::string(second) + "]"));
    return errors;
  };
  EXPECT_EQ(both(R"({ "at": "1s", "do": "truetime", "epsilon": "1ms", "for": "9s" })",
                 R"({ "at": "5s", "do": "truetime", "epsilon": "2ms", "for": "9s" })"),
            "x.json:9: /faults/1: contradicts the fault on line 8: both set the interval of "
            "TrueTime at 5s");
  EXPECT_EQ(
      both(R"({ "at": "5s", "do": "partition", "node": "a" })",
           R"({ "at": "1s", "do": "partition", "node": "a", "for": "9s", "mode": "refuse" })"),
      "x.json:8: /faults/0: contradicts the fault on line 9: both set the mode of a partition "
      "of node \"a\" at 5s");
  EXPECT_EQ(
      both(R"({ "at": "1s", "do": "clock", "node": "a", "offset": "1s" })",
           R"({ "at": "1s", "do": "clock", "node": "a", "offset": "2s" })"),
      "x.json:9: /faults/1: contradicts the fault on line 8: both set the offset of a clock of "
      "node \"a\" at 1s");
  EXPECT_EQ(both(R"({ "at": "1s", "do": "clock", "node": "a", "rate_ppm": 1 })",
                 R"({ "at": "1s", "do": "clock", "node": "a", "rate_ppm": 2 })"),
            "x.json:9: /faults/1: contradicts the fault on line 8: both set the rate of a clock of "
            "node \"a\" at 1s");
  EXPECT_EQ(both(R"({ "at": "1s", "do": "current_timestamp", "error": "1s", "for": "9s" })",
                 R"({ "at": "5s", "do": "current_timestamp", "error": "2s" })"),
            "x.json:9: /faults/1: contradicts the fault on line 8: both set the error of "
            "CURRENT_TIMESTAMP at 5s");
  // What follows one another, or is the same, or of other nodes or ways, does not.
  EXPECT_EQ(both(R"({ "at": "1s", "do": "truetime", "epsilon": "1ms", "for": "4s" })",
                 R"({ "at": "5s", "do": "truetime", "epsilon": "2ms", "for": "9s" })"),
            "no error");
  EXPECT_EQ(both(R"({ "at": "1s", "do": "current_timestamp", "error": "1s" })",
                 R"({ "at": "5s", "do": "current_timestamp", "error": "2s" })"),
            "no error");
  EXPECT_EQ(
      both(R"({ "at": "1s", "do": "partition", "node": "a", "for": "9s" })",
           R"({ "at": "5s", "do": "partition", "node": "b", "for": "9s", "mode": "refuse" })"),
      "no error");
  EXPECT_EQ(both(R"({ "at": "1s", "do": "partition", "node": "a", "direction": "to" })",
                 R"({ "at": "5s", "do": "partition", "node": "a", "direction": "from",
                      "mode": "refuse" })"),
            "no error");
  EXPECT_EQ(both(R"({ "at": "1s", "do": "clock", "node": "a", "step": "1s" })",
                 R"({ "at": "1s", "do": "clock", "node": "a", "step": "2s" })"),
            "no error");
  EXPECT_EQ(both(R"({ "at": "1s", "do": "latency", "node": "a", "add": "1s" })",
                 R"({ "at": "1s", "do": "latency", "node": "a", "add": "2s" })"),
            "no error");
}

TEST(ScenarioErrors, StopThousandsOfPatternsFromFillingMemory) {
  std::string text = R"({ "version": 1, "about": "x", "protocol": "spindle_v2", "duration": "60s",
  "nodes": [{ "name": "pod", "count": 1000 }], "faults": [
    { "at": "1s", "do": "crash", "node": "*" })";
  for (int i = 0; i < 200; ++i) text += ",\n{ \"at\": \"1s\", \"do\": \"crash\", \"node\": \"*\" }";
  EXPECT_EQ(ErrorsOf(text + "] }"),
            "x.json:23: /faults/20: more than 20000 faults, counting each node that a pattern "
            "matches, and each of \"times\"");
}

TEST(ScenarioErrors, OfFaultsThatComeAgain) {
  const auto error = [](const std::string& keys) {
    return ErrorsOf(WithFault(R"({ "do": "pause", "node": "a", "for": "1s", )" + keys + " }"));
  };
  EXPECT_EQ(
      error(R"("at": "1s", "every": "5s")"),
      "x.json:7: /faults/0/every: \"every\" and \"times\" need each other: how much later the "
      "fault comes again, and how often it comes in all");
  EXPECT_THAT(error(R"("at": "1s", "times": 5)"),
              testing::HasSubstr("/faults/0/times: \"every\" and"));
  EXPECT_THAT(error(R"("at": "1s", "every": "5s", "times": 1)"),
              testing::HasSubstr("/faults/0/times: "));
  EXPECT_THAT(error(R"("when": { "node": "a", "step": "check", "phase": "ended" },
                       "every": "5s", "times": 3)"),
              testing::HasSubstr("/faults/0/every: \"every\" needs \"at\""));
  EXPECT_THAT(error(R"("at": "1s", "every": "5s", "times": 30)"),
              testing::HasSubstr("/faults/0/every: can never fire: it would come again at 61s"));
  EXPECT_THAT(error(R"("at": "1s", "every": "5s", "times": 1000000000000)"),
              testing::HasSubstr("more than 20000 faults"));
}

// --- Expectations ------------------------------------------------------------------------------

TEST(ScenarioErrors, OfExpectations) {
  const auto error = [](std::string_view expect) {
    const std::string errors =
        ErrorsOf(With(std::string("\"expect\": {") + std::string(expect) + "}"));
    return errors.substr(errors.find("/expect") + 7);
  };
  const std::string known =
      " Known invariants: one_live_token, token_monotonic, handed_token_monotonic, "
      "has_lock_truthful, lease_respected, fenced_writes_ordered, single_leader_belief, isolation, "
      "no_wedge, no_work_after_release, single_worker.";
  EXPECT_EQ(error(R"("holds": ["no_wegde"])"),
            "/holds/0: unknown invariant \"no_wegde\"; did you mean \"no_wedge\"?" + known);
  EXPECT_EQ(error(R"("violates": [1])"),
            "/violates/0: expected the name of one invariant, got the number 1");
  EXPECT_EQ(error(R"("holds": ["no_wedge", "no_wedge"])"),
            "/holds/1: invariant \"no_wedge\" is named twice");
  EXPECT_EQ(error(R"("holds": ["no_wedge"], "violates": ["no_wedge"])"),
            "/violates: invariant \"no_wedge\" cannot both hold and be violated");
  EXPECT_EQ(error(R"("sometimes": ["takover"])").substr(0, 67),
            "/sometimes/0: unknown goal \"takover\"; did you mean \"takeover\"? Know");
  EXPECT_EQ(error(R"("metrics": { "takeover": 1 })").substr(0, 69),
            "/metrics/takeover: unknown metric \"takeover\"; did you mean \"takeovers");
  EXPECT_EQ(error(R"("metrics": { "grants": "3s" })"),
            "/metrics/grants: expected a count, 0 or more, got the string \"3s\"");
  EXPECT_EQ(
      error(R"("metrics": { "without_holder_max": { "max": 3 } })"),
      "/metrics/without_holder_max/max: expected a duration such as \"200ms\", got the number "
      "3");
  EXPECT_EQ(error(R"("metrics": { "grants": {} })"),
            "/metrics/grants: expected \"min\", \"max\" or both, got an empty object");
  EXPECT_EQ(error(R"("metrics": { "grants": { "min": 2, "max": 1 } })"),
            "/metrics/grants: \"min\" is above \"max\", so that no run can meet both");
}

// --- Files -------------------------------------------------------------------------------------

TEST(ScenarioErrors, TellAFileThatCannotBeReadFromOneThatIsWrong) {
  const std::string directory = ::testing::TempDir();
  const absl::Status missing = LoadScenario(directory + "no_such_scenario.json").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(missing.message(),
            directory + "no_such_scenario.json: cannot be read: No such file or directory");
  EXPECT_EQ(LoadScenario(directory).status().code(), absl::StatusCode::kUnavailable);

  const std::string path = directory + "whorl_scenario_errors_test.json";
  std::ofstream(path) << "{";
  EXPECT_EQ(LoadScenario(path).status().code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::resize_file(path, 100'000'000);
  EXPECT_EQ(LoadScenario(path).status().message(),
            path + ": longer than a scenario may be (16 MiB)");
  std::ofstream(path) << kGood;
  EXPECT_EQ(LoadScenario(path)->name, "whorl_scenario_errors_test");
  std::filesystem::remove(path);
}

TEST(ScenarioErrors, EndADeviceThatNeverEnds) {
  EXPECT_EQ(LoadScenario("/dev/zero").status().code(), absl::StatusCode::kInvalidArgument);
}

// --- The schedule ------------------------------------------------------------------------------

// kGood with one fault and a schedule on line 8.
std::string WithSchedule(std::string_view entries) {
  return With(
      "\"faults\": [{ \"at\": \"9s\", \"do\": \"pause\", \"node\": \"a\", \"for\": \"1s\" }],\n"
      "  \"schedule\": [" +
      std::string(entries) + "]");
}

TEST(ScenarioErrors, OfAnEntryOfTheScheduleSayWhatNamesIt) {
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "event": "call_arives", "node": "a" })")).substr(0, 87),
            "x.json:8: /schedule/0/event: unknown event \"call_arives\"; did you mean "
            "\"call_arrives\"? ");
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "node": "a" })")),
            "x.json:8: /schedule/0: missing key \"event\" (what happens)");
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "event": "call_arrives", "step": "check" })")),
            "x.json:8: /schedule/0: call_arrives needs the key \"node\"");
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "event": "node_starts", "node": "c" })")),
            "x.json:8: /schedule/0/node: unknown node \"c\". Known nodes: a, b.");
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "event": "node_starts", "node": "a", "step": "check" })")),
            "x.json:8: /schedule/0/step: node_starts has no \"step\"; it is named by: node.");
  EXPECT_EQ(
      ErrorsOf(WithSchedule(R"({ "event": "spanner_looks_again", "node": "a" })")),
      "x.json:8: /schedule/0/node: spanner_looks_again has no \"node\"; it is named by: nothing "
      "more.");
  EXPECT_EQ(
      ErrorsOf(WithSchedule(R"({ "event": "commit_becomes_visible", "step": "check" })")),
      "x.json:8: /schedule/0: commit_becomes_visible needs the key \"node\", or \"fault\" for the "
      "commit of an operator");
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "event": "timer_due", "node": "a", "lock": "x" })")),
            "x.json:8: /schedule/0/lock: unknown lock \"x\". Known locks: lock.");
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "event": "timer_due", "node": "a", "id": 65536 })")),
            "x.json:8: /schedule/0/id: expected an integer from 0 to 65535, got the number 65536");
  EXPECT_EQ(
      ErrorsOf(WithSchedule(R"({ "event": "call_arrives", "node": "a", "step": "beat" })")),
      "x.json:8: /schedule/0/step: can never happen: spindle_v2 has no step \"beat\". Its steps: "
      "check, first_insert, reread, takeover_insert, takeover_update, heartbeat_update, "
      "heartbeat_delete, has_lock, write.");
}

TEST(ScenarioErrors, OfAnEntrysClocksSayWhereTheyGoAndHowFar) {
  EXPECT_EQ(ErrorsOf(WithSchedule(
                R"({ "event": "reply_arrives", "node": "a", "truetime_error": "1ms" })")),
            "x.json:8: /schedule/0/truetime_error: reply_arrives has no \"truetime_error\": it "
            "reads no clock of Spanner");
  EXPECT_EQ(ErrorsOf(WithSchedule(
                R"({ "event": "call_arrives", "node": "a", "truetime_error": "-4001us" })")),
            "x.json:8: /schedule/0/truetime_error: true time would lie outside of the interval: "
            "\"epsilon\" is 4ms");
  EXPECT_EQ(
      ErrorsOf(WithSchedule(R"({ "event": "spanner_looks_again", "current_timestamp_error": 3 })")),
      "x.json:8: /schedule/0/current_timestamp_error: expected a duration such as "
      "\"200ms\", got the number 3");
}

TEST(ScenarioErrors, OfAScheduleNameTimesAndFaultsThatDoNotGoTogether) {
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "at": "2s", "event": "node_starts", "node": "a" },
    { "at": "1s", "event": "node_starts", "node": "b" })")),
            "x.json:9: /schedule/1/at: the entry before it is at 2s: entries stand in the order in "
            "which they happen");
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "at": "60s", "event": "spanner_looks_again" })")),
            "x.json:8: /schedule/0/at: can never happen: the run ends at 60s");
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "event": "fault_begins", "fault": 1 })")),
            "x.json:8: /schedule/0/fault: there is no such fault: they are counted from 0, and the "
            "last one is 0");
  EXPECT_EQ(ErrorsOf(With(R"("schedule": [{ "event": "fault_ends", "fault": 0 }])")),
            "x.json:7: /schedule/0/fault: there is no such fault: \"faults\" has none");
  EXPECT_EQ(ErrorsOf(WithSchedule(R"({ "event": "fault_begins", "fault": 0 },
    { "event": "fault_begins", "fault": 0 })")),
            "x.json:9: /schedule/1/fault: the entry on line 8 begins this fault already");
  EXPECT_EQ(
      ErrorsOf(WithSchedule(R"({ "event": "fault_begins", "fault": 0, "step": "check" })")),
      "x.json:8: /schedule/0/step: \"step\" says which call a fault strikes, and pause strikes "
      "no call");
  EXPECT_EQ(
      ErrorsOf(WithSchedule(R"({ "at": "10s", "event": "spanner_looks_again" })")),
      "x.json:8: /schedule: the fault on line 7 is due at 9s, and no entry begins it, though the "
      "schedule goes on until 10s. It needs an entry { \"event\": \"fault_begins\", \"fault\": 0 "
      "}, or a later time");
  // An error about a fault is not echoed by the schedule.
  EXPECT_EQ(ErrorsOf(With(R"("faults": [{ "at": "9s", "do": "pause", "node": "a" }],
  "schedule": [{ "event": "fault_begins", "fault": 0 }])")),
            "x.json:7: /faults/0: a pause needs the key \"for\"");
}

// --- Branches ----------------------------------------------------------------------------------

TEST(ScenarioErrors, OfBranches) {
  const auto error = [](std::string_view branches) {
    return ErrorsOf(With(std::string("\"branches\": ") + std::string(branches)));
  };
  EXPECT_THAT(error(R"([{ "event": 5, "seed": 1 }, { "event": 5, "seed": 2 }])"),
              testing::HasSubstr("/branches/1/event: expected more than 5, the event of the branch "
                                 "before it"));
  EXPECT_THAT(error(R"([{ "event": 0, "seed": 1 }])"),
              testing::HasSubstr("/branches/0/event: expected an integer"));
  EXPECT_THAT(error(R"([{ "event": 5 }])"), testing::HasSubstr("missing key \"seed\""));
  EXPECT_THAT(error(R"([{ "event": 5, "seed": 1 }], "schedule": [])"),
              testing::HasSubstr("/branches: does not go with `schedule`"));
}

}  // namespace
}  // namespace whorl::sim::scenario_errors_test
