#include "sim/scenario/language.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/text.h"
#include "protocol/names.h"
#include "protocol/protocols.h"
#include "protocol/spanner/answers.h"
#include "sim/scenario/faults/keys.h"
#include "sim/scenario/metrics.h"

namespace whorl::sim {
namespace {

using Words = std::vector<std::string_view>;

Words Listed(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }

Words ProtocolWords() {
  Words words;
  for (const ProtocolInfo& info : Protocols()) words.push_back(info.name);
  return words;
}

std::string JsonText(Duration duration) { return Cat("\"", FormatDuration(duration), "\""); }
template <HasWords Enum>
std::string JsonText(Enum value) {
  return Cat("\"", WordOf(value), "\"");
}

ObjectInfo DescribeScenario() {
  return {
      "scenario",
      {{.name = "$schema", .about = "where schema.json lies, for editors; not used otherwise"},
       {.name = "version",
        .form = Form::kInteger,
        .about = "of the scenario language",
        .required = true,
        .min = 1,
        .max = 1},
       {.name = "about",
        .about = "what happens here, and why it is worth a scenario",
        .required = true},
       {.name = "protocol",
        .form = Form::kWord,
        .about = "which lock protocol the nodes run",
        .required = true,
        .words = ProtocolWords()},
       {.name = "constants",
        .form = Form::kWord,
        .about = "the protocol's own numbers: as it ships, or for searches whole quarters of the "
                 "lease",
        .words = Listed(AllWords<Constants>()),
        .otherwise = JsonText(Scenario().constants)},
       {.name = "locks",
        .form = Form::kNames,
        .about = "names of the locks",
        .otherwise = "[\"lock\"]"},
       {.name = "lease",
        .form = Form::kPositiveDuration,
        .about = "of every node that does not say its own; else the protocol's default"},
       {.name = "nodes",
        .form = Form::kNodes,
        .about = "the processes: each a name, or an object that says more",
        .required = true,
        .object = ObjectId::kNode},
       {.name = "rows",
        .form = Form::kRows,
        .about = "rows of the protocol's table that are present at the start; a TIMESTAMP is a "
                 "duration relative to the start (\"-12s\") or RFC 3339, and a column that is "
                 "not named is NULL"},
       {.name = "duration",
        .form = Form::kPositiveDuration,
        .about = "of the run, in simulated time",
        .required = true},
       {.name = "seed",
        .form = Form::kInteger,
        .about = "of all chance; `expect` is judged for this seed",
        .max = std::numeric_limits<uint64_t>::max(),
        .otherwise = std::to_string(Scenario().seed)},
       {.name = "spanner",
        .form = Form::kObject,
        .about = "the database and its clocks",
        .object = ObjectId::kSpanner},
       {.name = "network",
        .form = Form::kObject,
        .about = "between the nodes and Spanner",
        .object = ObjectId::kNetwork},
       {.name = "workload",
        .form = Form::kObject,
        .about = "what the application on every node does with its lock",
        .object = ObjectId::kWorkload},
       {.name = "faults",
        .form = Form::kObjects,
        .about = "what goes wrong, and when; each must fire in the run",
        .object = ObjectId::kFault},
       {.name = "schedule",
        .form = Form::kObjects,
        .about = "what happens first, event by event, instead of what virtual time brings",
        .object = ObjectId::kChoice},
       {.name = "branches",
        .form = Form::kObjects,
        .about = "from which events on chance is drawn from another seed",
        .object = ObjectId::kBranch},
       {.name = "expect",
        .form = Form::kObject,
        .about = "what must come out; a violation that is not listed fails the scenario",
        .object = ObjectId::kExpect}},
      R"({
  "version": 1,
  "about": "The leader is cut off for longer than its lease: b takes over, and a is not told.",
  "protocol": "spindle_v2",
  "lease": "5s",
  "nodes": [ "a", { "name": "b", "start_at": "2s" } ],
  "duration": "60s",
  "seed": 4,
  "faults": [ { "at": "20s", "do": "partition", "node": "a", "for": "15s" } ],
  "expect": {
    "holds": [ "one_live_token", "has_lock_truthful" ],
    "violates": [ "single_leader_belief" ],
    "sometimes": [ "takeover" ]
  }
})"};
}

ObjectInfo DescribeNode() {
  return {
      "node",
      {{.name = "name",
        .form = Form::kNewName,
        .about = "of the process, distinct after `count` was expanded",
        .required = true},
       {.name = "count",
        .form = Form::kInteger,
        .about = "when given, the node stands for that many, named name-1, name-2 and so on",
        .min = 1,
        .max = static_cast<uint64_t>(kMaxNodes)},
       {.name = "id",
        .form = Form::kName,
        .about = "the lock's instance id, shared by all of `count`; else a random UUID for each "
                 "start of the process"},
       {.name = "locks", .form = Form::kNames, .about = "the locks it takes part in; else all"},
       {.name = "lease", .form = Form::kPositiveDuration, .about = "else the scenario's"},
       {.name = "start_at",
        .form = Form::kStart,
        .about = "when it starts; \"never\" for one that only a `start` fault starts",
        .otherwise = JsonText(Duration{})},
       {.name = "deadline",
        .form = Form::kPositiveDuration,
        .about = "of the context given to the lock, from the start of the process on, or from each "
                 "call of Lock(); else none"},
       {.name = "use",
        .form = Form::kWord,
        .about =
            "how its application uses the lock: it asks has_lock before each write, works "
            "between callbacks, or calls the wrapper's Lock() and Unlock(). `lock` needs a "
            "protocol with that wrapper (spindle_v2): it calls Lock() when it starts, and "
            "Unlock() when the process is told to stop (fault `stop`), once the work under way "
            "is done; at no other time, unless the workload's `hold_for` and `lock_again` say so",
        .words = Listed(AllWords<Use>()),
        .otherwise = JsonText(NodeSpec().use)},
       {.name = "clock",
        .form = Form::kObject,
        .about = "the node's own clocks",
        .object = ObjectId::kClock}},
      R"({ "name": "pod", "count": 3, "lease": "5s", "start_at": "1s", "use": "callback" })"};
}

ObjectInfo DescribeClock() {
  return {"clock",
          {{.name = "offset",
            .form = Form::kSignedDuration,
            .about = "wall clock minus true time at the start",
            .otherwise = JsonText(ClockSpec().offset)},
           {.name = "rate_ppm",
            .form = Form::kInteger,
            .about = "how much faster than true time both of the node's clocks run",
            .min = -100'000,
            .max = 100'000,
            .otherwise = std::to_string(ClockSpec().rate_ppm)}},
          R"({ "offset": "-200ms", "rate_ppm": 50 })"};
}

ObjectInfo DescribeSpanner() {
  return {"spanner",
          {{.name = "preset",
            .form = Form::kWord,
            .about = "latencies of the database and of the way to it; with none, only commit wait "
                     "takes time",
            .words = Listed(AllWords<Preset>()),
            .otherwise = JsonText(SpannerSpec().preset)},
           {.name = "truetime",
            .form = Form::kObject,
            .about = "the clocks behind commit timestamps",
            .object = ObjectId::kTrueTime},
           {.name = "current_timestamp_error",
            .form = Form::kSignedDuration,
            .about = "CURRENT_TIMESTAMP minus true time",
            .otherwise = JsonText(SpannerSpec().current_timestamp_error)},
           {.name = "strict_pending_commit_timestamp",
            .form = Form::kWord,
            .about = "what cannot be read after PENDING_COMMIT_TIMESTAMP was written in the same "
                     "transaction: the table, as documented, or the column, as the emulator does",
            .words = Listed(AllWords<PendingCommitTimestampRule>()),
            .otherwise = JsonText(SpannerSpec().strict_pending_commit_timestamp)},
           {.name = "default_isolation",
            .form = Form::kWord,
            .about = "the isolation of the protocols' transactions: with repeatable_read, what a "
                     "transaction reads is as of its first statement and may change before its "
                     "Commit, unless it writes the same row",
            .words = Listed(AllWords<DefaultIsolation>()),
            .otherwise = JsonText(SpannerSpec().default_isolation)},
           {.name = "splits",
            .form = Form::kNames,
            .about = "up to three keys at which the protocol's table is divided; each split has a "
                     "leader, and the second one's TrueTime is ahead of the first one's by "
                     "epsilon, the third one's as much behind, the fourth one's ahead again"}},
          R"({ "preset": "multi_region", "truetime": { "epsilon": "3ms" } })"};
}

ObjectInfo DescribeTrueTime() {
  return {"truetime",
          {{.name = "epsilon",
            .form = Form::kDuration,
            .about = "half the width of the interval",
            .otherwise = JsonText(TrueTimeSpec().epsilon)},
           {.name = "truthful",
            .form = Form::kBoolean,
            .about = "false: true time lies outside the interval, by `error`",
            .otherwise = TrueTimeSpec().truthful ? "true" : "false"},
           {.name = "error",
            .form = Form::kSignedDuration,
            .about = "with truthful false: the interval's middle minus true time, beyond epsilon "
                     "either way"}},
          R"({ "epsilon": "4ms", "truthful": false, "error": "-3s" })"};
}

ObjectInfo DescribeNetwork() {
  return {"network",
          {{.name = "connection_timeout",
            .form = Form::kPositiveDuration,
            .about = "after which a black-holed call ends UNAVAILABLE",
            .otherwise = JsonText(NetworkSpec().connection_timeout)},
           {.name = "announce_releases",
            .form = Form::kBoolean,
            .about = "whether a process that has given the lock back tells the others, who look at "
                     "once (fenced_lease); no fault holds that message up",
            .otherwise = NetworkSpec().announce_releases ? "true" : "false"},
           {.name = "commit_timeout",
            .form = Form::kPositiveDuration,
            .about = "after which a client gives a Commit up and does not know its outcome; else "
                     "when the client library of the protocol does. What is longer than that "
                     "changes nothing"}},
          R"({ "connection_timeout": "5s", "announce_releases": true, "commit_timeout": "3s" })"};
}

ObjectInfo DescribeWorkload() {
  return {
      "workload",
      {{.name = "write_every",
        .form = Form::kPositiveDuration,
        .about = "how often a holder works and writes",
        .otherwise = JsonText(WorkloadSpec().write_every)},
       {.name = "work_for",
        .form = Form::kDuration,
        .about = "from the answer that it has the lock to the write",
        .otherwise = JsonText(WorkloadSpec().work_for)},
       {.name = "stop_takes",
        .form = Form::kDuration,
        .about = "how long an application stays at work after it is told that it leads no more, "
                 "or to stop; a write in progress may still be sent, and only then may the "
                 "protocol give the lock back. With `use` `has_lock` it is at work only from an "
                 "answer to its write",
        .otherwise = JsonText(WorkloadSpec().stop_takes)},
       {.name = "resource",
        .form = Form::kWord,
        .about = "what is written to: one that refuses old tokens, one that takes any, or both",
        .words = Listed(AllWords<ResourceKind>()),
        .otherwise = JsonText(WorkloadSpec().resource)},
       {.name = "ask",
        .form = Form::kWords,
        .about = "questions that the application asks beside its work, all of them at once: from "
                 "the start of its process until that is gone, also while it stops and after that, "
                 "and also while earlier ones are not answered",
        .words = Listed(AllWords<SideQuestion>())},
       {.name = "ask_every",
        .form = Form::kPositiveDuration,
        .about = "how often it asks these",
        .otherwise = JsonText(WorkloadSpec().ask_every)},
       {.name = "hold_for",
        .form = Form::kPositiveDuration,
        .about =
            "with `use` `lock`: how long after Lock() returned the application calls Unlock(); "
            "else it does when it is told to stop"},
       {.name = "lock_again",
        .form = Form::kPositiveDuration,
        .about =
            "with `use` `lock`: how long after Unlock(), or after a Lock() that failed, it calls "
            "Lock() again, with a new `deadline`; else it never does"}},
      R"({ "write_every": "200ms", "work_for": "50ms", "ask": [ "HasLock2", "Leader" ], "ask_every": "2s" })"};
}

Words FaultWords();

// The keys that every kind of fault takes.
std::vector<KeyInfo> CommonFaultKeys() {
  return {
      {.name = "at", .form = Form::kDuration, .about = "when; this or `when`"},
      {.name = "when",
       .form = Form::kObject,
       .about = "what has to happen first; this or `at`",
       .object = ObjectId::kWhen},
      {.name = "do",
       .form = Form::kWord,
       .about = "what goes wrong",
       .required = true,
       .words = FaultWords()},
      {.name = "node",
       .form = Form::kName,
       .about = "which node; a pattern with * makes one fault for each node that matches; with "
                "`when`, else the node that it names; `leader`, unless a node has that name, is "
                "the first node that believes it holds a lock when the fault strikes, and if "
                "none does, the fault finds nothing to strike. Faults of Spanner have none"},
      {.name = "stagger",
       .form = Form::kDuration,
       .about = "with `at` and a pattern: each node that matches is hit so much later than "
                "the one before it"},
      {.name = "every",
       .form = Form::kPositiveDuration,
       .about = "with `at` and `times`: the fault comes again, each time so much later"},
      {.name = "times", .form = Form::kInteger, .about = "how often it comes in all", .min = 2}};
}

// The kinds that describe a key in the same words.
struct Description {
  std::string kinds;  // "crash and stop"
  const FaultKey* key = nullptr;
};

// "crash and stop: how much later the node starts again; else never"
std::string AboutKey(std::string_view name) {
  std::vector<Description> descriptions;
  for (const FaultInfo& info : Faults()) {
    for (const FaultKey& own : info.keys) {
      if (own.key.name != name) continue;
      const auto same = std::ranges::find_if(descriptions, [&](const Description& other) {
        return other.key->key.about == own.key.about && other.key->only == own.only;
      });
      if (same == descriptions.end()) {
        descriptions.push_back({.kinds = std::string(info.word), .key = &own});
      } else {
        same->kinds += Cat(" and ", info.word);
      }
    }
  }
  std::string about;
  for (const auto& [kinds, own] : descriptions) {
    if (!own->names_kinds) return own->key.about;
    about += Cat(about.empty() ? "" : "; ", kinds, own->only, ": ", own->key.about);
  }
  return about;
}

// Those that only some take, in the order in which the kinds name them.
std::vector<KeyInfo> ParticularFaultKeys() {
  std::vector<KeyInfo> keys;
  for (const FaultInfo& info : Faults()) {
    for (const FaultKey& own : info.keys) {
      if (std::ranges::find(keys, own.key.name, &KeyInfo::name) != keys.end()) continue;
      KeyInfo& key = keys.emplace_back(own.key);
      key.about = AboutKey(key.name);
      key.required = false;
    }
  }
  return keys;
}

Words FaultWords() {
  Words words;
  for (const FaultInfo& info : Faults()) words.push_back(info.word);
  return words;
}

template <typename T>
FaultInfo DescribeKind() {
  FaultInfo info = T::Describe();
  info.kind = kKindOf<T>;
  return info;
}

template <size_t... I>
std::array<FaultInfo, sizeof...(I)> DescribeKinds(std::index_sequence<I...>) {
  return {DescribeKind<std::variant_alternative_t<I, AnyFault>>()...};
}

ObjectInfo DescribeFault() {
  std::vector<KeyInfo> keys = CommonFaultKeys();
  for (KeyInfo& key : ParticularFaultKeys()) keys.push_back(std::move(key));
  return {"fault", std::move(keys)};
}

ObjectInfo DescribeDelay() {
  return {"delay",
          {{.name = "min",
            .form = Form::kDuration,
            .about = "the least",
            .otherwise = JsonText(DelaySpec().min)},
           {.name = "p50",
            .form = Form::kDuration,
            .about = "half of the messages take no longer",
            .required = true},
           {.name = "p99",
            .form = Form::kDuration,
            .about = "all but one of a hundred take no longer",
            .required = true},
           {.name = "max",
            .form = Form::kPositiveDuration,
            .about = "none takes longer; between these values it rises evenly",
            .required = true}},
          R"({ "min": "7s", "p50": "8s", "p99": "9s", "max": "10s" })"};
}

ObjectInfo DescribeWhen() {
  return {"when",
          {{.name = "node", .form = Form::kName, .about = "whose step", .required = true},
           {.name = "step",
            .form = Form::kWord,
            .about = "which step of the protocol, or has_lock, or write (to the resource)",
            .required = true,
            .words = StepWords()},
           {.name = "phase",
            .form = Form::kWord,
            .about = "how far the step has come",
            .required = true,
            .words = Listed(AllWords<Phase>())},
           {.name = "count",
            .form = Form::kInteger,
            .about = "at which time that this happens",
            .min = 1,
            .otherwise = std::to_string(When().count)},
           {.name = "lock", .form = Form::kName, .about = "of which lock; else of any"}},
          R"({ "node": "a", "step": "heartbeat_update", "phase": "replied", "count": 3 })"};
}

ObjectInfo DescribeChoice() {
  constexpr uint64_t kMax16 = std::numeric_limits<uint16_t>::max();
  constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
  return {"choice",
          {{.name = "at",
            .form = Form::kDuration,
            .about = "not before this time; without it, as soon as the event is due"},
           {.name = "event",
            .form = Form::kWord,
            .about = "what happens",
            .required = true,
            .words = Listed(AllWords<ScheduledEvent>())},
           {.name = "node",
            .form = Form::kName,
            .about = "to which node, or whose call, commit or write it is"},
           {.name = "incarnation",
            .form = Form::kInteger,
            .about = "which process of the node: 1 before its first crash",
            .min = 1,
            .max = kMax32},
           {.name = "lock", .form = Form::kName, .about = "for which lock"},
           {.name = "step",
            .form = Form::kWord,
            .about = "of which step the call or the transaction is",
            .words = StepWords()},
           {.name = "transaction",
            .form = Form::kInteger,
            .about = "which transaction of the process: `generation` in a trace",
            .max = kMax32},
           {.name = "attempt",
            .form = Form::kInteger,
            .about = "which attempt of the transaction",
            .max = kMax16},
           {.name = "call",
            .form = Form::kInteger,
            .about = "which call of the attempt",
            .max = kMax16},
           {.name = "timer",
            .form = Form::kWord,
            .about = "whose timer: the protocol's, that of a transaction that backs off, the "
                     "application's, the one at which a belief lapses, or that of the sessions",
            .words = Listed(AllWords<TimerOwner>())},
           {.name = "id",
            .form = Form::kInteger,
            .about = "which of these timers, by its number in the code",
            .max = kMax16},
           {.name = "fault",
            .form = Form::kInteger,
            .about = "which of `faults`, counted from 0, as in a trace",
            .max = kMaxFaults - 1},
           {.name = "truetime_error",
            .form = Form::kSignedDuration,
            .about = "how far the middle of TrueTime's interval is ahead of true time, at most "
                     "`epsilon` either way; a commit wait that begins ends as soon as it may"},
           {.name = "current_timestamp_error",
            .form = Form::kSignedDuration,
            .about = "how far `CURRENT_TIMESTAMP` is ahead of true time"}},
          R"({ "at": "0s", "event": "call_arrives", "node": "a", "step": "check" })"};
}

ObjectInfo DescribeBranch() {
  return {"branch",
          {{.name = "event",
            .form = Form::kInteger,
            .about = "how many events of the run happen before it",
            .required = true,
            .min = 1},
           {.name = "seed",
            .form = Form::kInteger,
            .about = "of all chance from there on",
            .required = true,
            .max = std::numeric_limits<uint64_t>::max()}},
          R"({ "event": 120, "seed": 7 })"};
}

ObjectInfo DescribeExpect() {
  const Words invariants = Listed(AllWords<Invariant>());
  return {"expect",
          {{.name = "holds",
            .form = Form::kWords,
            .about = "invariants that must hold, rather than be unknown",
            .words = invariants},
           {.name = "violates",
            .form = Form::kWords,
            .about = "invariants that must be violated",
            .words = invariants},
           {.name = "sometimes",
            .form = Form::kWords,
            .about = "what must happen at least once",
            .words = Listed(AllWords<Sometimes>())},
           {.name = "metrics",
            .form = Form::kMetrics,
            .about = "bounds of metrics, or their exact values",
            .object = ObjectId::kBound},
           {.name = "takeover_within",
            .form = Form::kPositiveDuration,
            .about = "the longest time without a holder"},
           {.name = "reach",
            .form = Form::kNames,
            .about = "[waypoints](#waypoints) that the run passes in this order"},
           {.name = "faults_may_miss",
            .form = Form::kBoolean,
            .about = "whether a fault that finds nothing to strike is no failure; what `whorl hunt "
                     "--show` prints says so, because nobody has seen what the faults strike",
            .otherwise = "false"}},
          R"({
  "holds": [ "one_live_token" ],
  "violates": [ "single_leader_belief" ],
  "sometimes": [ "takeover" ],
  "metrics": { "takeovers": 1, "without_holder_max": { "min": "5s", "max": "12s" } },
  "takeover_within": "12s",
  "reach": [ "old leader paused", "takeover_insert replied" ],
  "faults_may_miss": true
})"};
}

ObjectInfo DescribeBound() {
  return {"bound",
          {{.name = "min", .form = Form::kLimit, .about = "the least that is allowed"},
           {.name = "max", .form = Form::kLimit, .about = "the most that is allowed"}},
          R"({ "min": 1, "max": 3 })"};
}

ObjectInfo DescribeRules() {
  return {"rules",
          {{.name = "$schema",
            .about = "where rules.schema.json lies, for editors; not used otherwise"},
           {.name = "version",
            .form = Form::kInteger,
            .about = "of the language of rules",
            .min = 1,
            .max = 1,
            .otherwise = "1"},
           {.name = "about", .about = "what the rules are for"},
           {.name = "faults",
            .form = Form::kObjects,
            .about = "the rules; of several that strike one call the first acts, and all count it",
            .required = true,
            .object = ObjectId::kRule}},
          R"({
  "about": "The reply to the third commit is lost, and every tenth read takes its time.",
  "faults": [
    { "match": { "method": "Commit", "count": 3 }, "do": "drop_reply" },
    { "match": { "sql_matches": "^select", "nth": 10 }, "do": "latency", "times": 0,
      "add": { "min": "50ms", "p50": "100ms", "p99": "1s", "max": "2s" } },
    { "match": { "protocol": "spindle_v2", "step": "takeover_update" }, "do": "abort", "times": 2 },
    { "match": { "client": 2, "count": 100 }, "do": "partition", "for": "12s" }
  ]
})"};
}

Words RuleWords() {
  Words words;
  for (const FaultKind kind : KindsOfRules()) words.push_back(FaultKindText(kind));
  return words;
}

// The key as the kind of fault describes it.
template <typename Kind>
KeyInfo KeyOf(std::string_view name) {
  const std::vector<FaultKey>& keys = InfoOf(kKindOf<Kind>).keys;
  return std::ranges::find(keys, name, [](const FaultKey& own) { return own.key.name; })->key;
}

Words CodeWords() {
  Words words = Listed(AllWords<Code>());
  std::erase(words, WordOf(Code::kOk));
  return words;
}

constexpr uint64_t kMostMatches = 1'000'000'000;

ObjectInfo DescribeRule() {
  return {
      "rule",
      {{.name = "match",
        .form = Form::kObject,
        .about = "which calls; `{}` is every call",
        .required = true,
        .object = ObjectId::kMatch},
       {.name = "do",
        .form = Form::kWord,
        .about = "what happens to them",
        .required = true,
        .words = RuleWords()},
       {.name = "times",
        .form = Form::kInteger,
        .about =
            "how many calls are struck, 0 for all; by default 1, or all with `ttl` or `percent`",
        .max = kMostMatches},
       {.name = "percent",
        .form = Form::kInteger,
        .about = "each matching call is struck with this probability",
        .min = 1,
        .max = 100,
        .otherwise = "100"},
       {.name = "ttl",
        .form = Form::kPositiveDuration,
        .about = "how long after the start, or after it was added, the rule strikes"},
       {.name = "add",
        .form = Form::kDelay,
        .about = "`latency`: how much later it is, always the same duration or drawn for each call",
        .object = ObjectId::kDelay},
       {.name = "for",
        .form = Form::kPositiveDuration,
        .about = "`partition` (required): how long it lasts, from the call on"},
       {.name = "mode",
        .form = Form::kWord,
        .about = KeyOf<PartitionFault>("mode").about,
        .words = KeyOf<PartitionFault>("mode").words,
        .otherwise = KeyOf<PartitionFault>("mode").otherwise},
       {.name = "code",
        .form = Form::kWord,
        .about = "`error`: by which the call is answered",
        .words = CodeWords()},
       {.name = "impossible",
        .form = Form::kBoolean,
        .about = "whether the answer is given although Spanner never answers so",
        .otherwise = "false"},
       {.name = "about", .about = "what the rule is for"}},
      R"({ "match": { "method": "Commit" }, "do": "error", "code": "UNAVAILABLE", "percent": 5, "ttl": "1m" })"};
}

ObjectInfo DescribeMatch() {
  Words methods;
  for (const CallAnswers& answers : AnswersOfCalls()) methods.push_back(answers.method);
  return {
      "match",
      {{.name = "method", .form = Form::kWord, .about = "the call's method", .words = methods},
       {.name = "sql",
        .about = "a statement that is the same but for case, spaces, comments, literals and "
                 "parameters"},
       {.name = "sql_matches",
        .about = "a regular expression (ECMAScript, regardless of case) that is found in the text"},
       {.name = "table",
        .about =
            "a table that the statement names, or that a read or a commit's first mutation is of"},
       {.name = "protocol",
        .form = Form::kWord,
        .about = "whose `step` it is",
        .words = ProtocolWords()},
       {.name = "step",
        .form = Form::kWord,
        .about =
            "a statement of the protocol, by its step; with `table` if that is not its usual one",
        .words = StepWords()},
       {.name = "parameters",
        .form = Form::kParameters,
        .about = "parameters of the statement that have these values"},
       {.name = "client",
        .form = Form::kInteger,
        .about = "the client's number (`--clients`)",
        .min = 1,
        .max = 1000},
       {.name = "phase",
        .form = Form::kWord,
        .about = "before Spanner has the call, or when it has answered, so that what a commit did "
                 "stays done; by default `sent`, for `drop_reply` `served`",
        .words = {WordOf(Phase::kSent), WordOf(Phase::kServed)}},
       {.name = "count",
        .form = Form::kInteger,
        .about = "from which match on",
        .min = 1,
        .max = kMostMatches,
        .otherwise = "1"},
       {.name = "nth",
        .form = Form::kInteger,
        .about = "every so many of them, from `count` on",
        .min = 1,
        .max = kMostMatches,
        .otherwise = "1"}},
      R"({ "sql_matches": "^update locks", "parameters": { "name": "job" }, "count": 3, "nth": 2 })"};
}

}  // namespace

std::string_view FaultKindText(FaultKind kind) { return InfoOf(kind).word; }

const KeyInfo* ObjectInfo::Find(std::string_view key) const {
  for (const KeyInfo& info : keys) {
    if (info.name == key) return &info;
  }
  return nullptr;
}

std::vector<std::string_view> ObjectInfo::KeyNames() const {
  std::vector<std::string_view> names;
  names.reserve(keys.size());
  for (const KeyInfo& info : keys) names.push_back(info.name);
  return names;
}

const ObjectInfo& DescribeObject(ObjectId id) {
  // In the order of ObjectId.
  static const std::array<ObjectInfo, kCountOf<ObjectId>> objects = {
      DescribeScenario(), DescribeNode(),    DescribeClock(),    DescribeSpanner(),
      DescribeTrueTime(), DescribeNetwork(), DescribeWorkload(), DescribeFault(),
      DescribeWhen(),     DescribeDelay(),   DescribeChoice(),   DescribeBranch(),
      DescribeExpect(),   DescribeBound(),   DescribeRules(),    DescribeRule(),
      DescribeMatch()};
  return objects[static_cast<size_t>(id)];
}

bool FaultInfo::Takes(std::string_view key) const {
  return std::ranges::any_of(keys, [key](const FaultKey& own) { return own.key.name == key; });
}

std::span<const FaultInfo> Faults() {
  static const auto faults = DescribeKinds(std::make_index_sequence<kFaultKindCount>());
  return faults;
}

const FaultInfo& InfoOf(FaultKind kind) { return Faults()[static_cast<size_t>(kind)]; }

std::span<const std::string_view> FaultKeys() {
  static const Words keys = [] {
    Words names;
    for (const KeyInfo& key : ParticularFaultKeys()) names.push_back(key.name);
    return names;
  }();
  return keys;
}

std::span<const FaultKind> KindsOfRules() {
  static const std::vector<FaultKind> kinds = [] {
    std::vector<FaultKind> of_calls;
    for (const FaultInfo& info : Faults()) {
      if (!info.of_calls.empty()) of_calls.push_back(info.kind);
    }
    return of_calls;
  }();
  return kinds;
}

std::span<const std::string_view> RuleKeys() {
  static constexpr std::array<std::string_view, 4> kKeys = {"add", "for", "mode", "code"};
  return kKeys;
}

// A rule lives for its `ttl`: only a partition goes on after the call that began it.
bool RuleTakes(FaultKind kind, std::string_view key) {
  return InfoOf(kind).Takes(key) && (key != "for" || kind == kKindOf<PartitionFault>);
}

bool RuleNeeds(FaultKind kind, std::string_view key) {
  return RuleTakes(kind, key) && key != "mode";
}

}  // namespace whorl::sim
