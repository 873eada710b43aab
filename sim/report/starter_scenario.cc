#include "sim/report/starter_scenario.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/text.h"
#include "protocol/names.h"
#include "sim/judge/expectations.h"
#include "sim/judge/run.h"
#include "sim/scenario/loader.h"

namespace whorl::sim {
namespace {

// Words between @ are replaced below.
constexpr std::string_view kText = R"({
  "//": "A scenario to start from. A key that begins with // is a comment. schema.json, in the folder scenarios/, lets an editor complete and explain every other key.",
  "version": 1,
  "about": "The leader crashes, and another process takes over.",

  "// protocol": "`whorl protocols` lists them, and what each promises.",
  "protocol": "@protocol@",
  "lease": "@lease@",

  "// nodes": "The processes. Each is a name, or an object: name, count, id, locks, lease, start_at, deadline, use, clock.",
  "nodes": [ "a", { "name": "b", "start_at": "1s" }, { "name": "c", "start_at": "2s", "clock": { "offset": "50ms", "rate_ppm": 20 } } ],

  "// duration": "Of simulated time; a run takes milliseconds. The seed decides all chance (latencies, pauses, ids); `whorl replay FILE --repeat 100` shows what other seeds violate.",
  "duration": "@duration@",
  "seed": @seed@,

  "// spanner": "Preset regional or multi_region; epsilon is half the width of TrueTime's interval.",
  "spanner": { "preset": "regional", "truetime": { "epsilon": "4ms" }, "current_timestamp_error": "0s" },

  "// workload": "What the application does while it has the lock: it writes to a resource that refuses old tokens, to one that takes any, or to both.",
  "workload": { "write_every": "1s", "work_for": "50ms", "resource": "@resource@" },

  "// faults": "Each strikes at a time, or when a node reaches a phase (sent, served, committed, replied, ended) of a step. Steps of this protocol: @steps@. In the place of the first, try { \"when\": { \"node\": \"a\", \"step\": \"has_lock\", \"phase\": \"ended\", \"count\": 20 }, \"do\": \"pause\", \"node\": \"a\", \"for\": \"20s\" }.",
  "faults": [
    { "at": "@crash@", "do": "crash", "node": "a", "restart_after": "@restart@" }
  ],

  "// expect": "Judged for the file's own seed. A violation that is not listed in `violates` fails the scenario, and so does a fault that does not strike.",
  "expect": {
    "holds": [@holds@],
    "violates": [],
    "sometimes": ["takeover"],
    "metrics": { "takeovers": { "min": 1 } },
    "takeover_within": "@within@"
  }
}
)";

std::string HoldsText(const ProtocolInfo& protocol) {
  std::string text;
  for (const Invariant invariant : AllOf<Invariant>()) {
    if (protocol.promises[static_cast<size_t>(invariant)] != Promise::kPromised) continue;
    text += Cat(text.empty() ? "" : ", ", "\"", WordOf(invariant), "\"");
  }
  return text;
}

std::string StepsText(const ProtocolInfo& protocol) {
  std::string text;
  for (const StepName step : protocol.steps) text += Cat(WordOf(step), ", ");
  return Cat(text, WordOf(steps::kHasLock), ", ", WordOf(steps::kWrite));
}

void Put(std::string_view word, const std::string& value, std::string& text) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
    text.replace(at, word.size(), value);
  }
}

std::string TextWithSeed(const ProtocolInfo& protocol, uint64_t seed) {
  const Duration lease = std::max(Seconds(5), protocol.lease_min);
  std::string text(kText);
  Put("@protocol@", std::string(protocol.name), text);
  Put("@lease@", FormatDuration(lease), text);
  Put("@duration@", FormatDuration(lease * 24), text);
  Put("@seed@", std::to_string(seed), text);
  Put("@resource@", protocol.has_tokens ? "both" : "unfenced", text);
  Put("@crash@", FormatDuration(lease * 4), text);
  Put("@restart@", FormatDuration(lease * 8), text);
  Put("@within@", FormatDuration(lease * 3), text);
  Put("@steps@", StepsText(protocol), text);
  Put("@holds@", HoldsText(protocol), text);
  return text;
}

// Words between @ are replaced below. `work_for` is long enough for a fault to strike while a is at work.
constexpr std::string_view kIncidentText = R"({
  "version": 1,
  "about": "@about@",
  "protocol": "@protocol@",
  "lease": "@lease@",
  "nodes": [ "a", { "name": "b", "start_at": "1s" }, { "name": "c", "start_at": "2s" } ],
  "duration": "@duration@",
  "seed": 1,
  "workload": { "write_every": "500ms", "work_for": "50ms", "resource": "@resource@" },
  "faults": [@fault@]
}
)";

bool IsAsExpected(const std::string& text) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(text, "new.json");
  return scenario.ok() &&
         FailuresOf(*scenario, RunScenario(*scenario, scenario->seed, nullptr)).empty();
}

}  // namespace

// Finds the first seed whose run violates nothing: a protocol may violate what it does not promise
// in one run and not in another.
std::string StarterScenario(const ProtocolInfo& protocol) {
  constexpr uint64_t kSeeds = 100;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::string text = TextWithSeed(protocol, seed);
    if (IsAsExpected(text)) return text;
  }
  return TextWithSeed(protocol, 1);
}

std::vector<IncidentStart> IncidentStarts() {
  return {
      {.words = "a quiet run", .about = "Nothing goes wrong.", .fault = {}},
      {.words = "a crash",
       .about = "The first process dies: out of memory, kill -9, a node that failed.",
       .fault = R"({ "at": "@at@", "do": "crash", "node": "a", "restart_after": "@long@" })"},
      {.words = "a long pause",
       .about =
           "The first process stands still just after it was told that it has the lock, for longer "
           "than its lease: garbage collection, a throttled processor, a frozen container.",
       .fault = R"({ "when": { "node": "a", "step": "has_lock", "phase": "ended", "count": 20 }, )"
                R"("do": "pause", "node": "a", "for": "@long@" })"},
      {.words = "a suspended machine",
       .about = "The machine of the first process is suspended: its clock stands, and it is told "
                "nothing.",
       .fault = R"({ "at": "@at@", "do": "clock", "node": "a", "stands": true, "for": "@long@" })"},
      {.words = "a deployment",
       .about = "All processes are stopped and started again, one after the other.",
       .fault = R"({ "at": "@at@", "do": "stop", "node": "*", "stagger": "@lease@", )"
                R"("restart_after": "1s" })"},
      {.words = "a network cut",
       .about = "The first process does not reach Spanner for three leases.",
       .fault = R"({ "at": "@at@", "do": "partition", "node": "a", "for": "@long@" })"},
      {.words = "a slow Spanner",
       .about = "Calls of the first process take half a lease longer.",
       .fault =
           R"({ "at": "@at@", "do": "latency", "node": "a", "for": "@long@", "add": { "p50": "@half@", "p99": "@lease@", "max": "@long@" } })"},
      {.words = "errors of Spanner",
       .about = "Spanner answers UNAVAILABLE to everybody for three leases.",
       .fault = R"({ "at": "@at@", "do": "unavailable", "for": "@long@" })"},
      {.words = "a lost reply",
       .about = "Spanner commits a heartbeat, and its reply is lost.",
       .fault = R"({ "when": { "node": "a", "step": "@beat@", "phase": "committed", "count": 3 }, )"
                R"("do": "drop_reply" })"},
      {.words = "a wrong clock",
       .about = "The clock of the first process is set a lease back.",
       .fault = R"({ "at": "@at@", "do": "clock", "node": "a", "offset": "-@lease@" })"},
      {.words = "a deleted row",
       .about = "An operator deletes the lock's row by hand.",
       .fault = R"({ "at": "@at@", "do": "delete_row", "lock": "lock" })"},
  };
}

std::string ScenarioOfIncident(const ProtocolInfo& protocol, const IncidentStart& incident) {
  const Duration lease = std::max(Seconds(5), protocol.lease_min);
  std::string text(kIncidentText);
  Put("@fault@", incident.fault.empty() ? "" : Cat("\n    ", incident.fault, "\n  "), text);
  Put("@about@", incident.about, text);
  Put("@protocol@", std::string(protocol.name), text);
  Put("@lease@", FormatDuration(lease), text);
  Put("@beat@", std::string(WordOf(protocol.heartbeat_step.value_or(protocol.steps.front()))),
      text);
  Put("@half@", FormatDuration(lease / 2), text);
  Put("@long@", FormatDuration(lease * 3), text);
  Put("@at@", FormatDuration(lease * 4), text);
  Put("@duration@", FormatDuration(lease * 12), text);
  Put("@resource@", protocol.has_tokens ? "both" : "unfenced", text);
  return text;
}

}  // namespace whorl::sim
