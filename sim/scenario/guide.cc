#include "sim/scenario/guide.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "protocol/protocols.h"
#include "sim/scenario/instant.h"
#include "sim/scenario/language.h"
#include "sim/scenario/loader.h"

namespace whorl::sim {
namespace {

constexpr std::string_view kIntroduction =
    R"(<!-- Made by sim/scenario/guide.cc from the description that the loader reads by. A change goes there;
     WHORL_UPDATE_GOLDEN=1 in the environment of the tests writes this file anew. -->

# The scenario language

A scenario is one JSON object that decides a run: who takes part, what goes wrong and when, and what
has to come out. `whorl replay FILE` runs it; a scenario and a seed give the same run, to the byte,
every time. `schema.json` beside this file says the same to an editor.

)";

constexpr std::string_view kRulesText = R"(
What holds everywhere:

- A key that begins with `//` is a comment, in any object but those of `rows` and `metrics`: its value
  is a string that nobody reads.
- Any other key that is not described here is an error, and so is a second key of one name. The
  message names file, line, the place as a JSON pointer, what was expected, and the nearest known
  word. All errors of a file are reported at once, but not more than twenty; the exit code is 2.
- A **duration** is a string of a number and a unit (`ns`, `us`, `ms`, `s`, `m`, `h`), such as
  `"200ms"` or `"1.5s"`: whole nanoseconds, at most ten years.
- A **name** is a string that is not empty, of at most )";

constexpr std::string_view kLimits = R"(
- Integers are written as such: `7`, not `7.0` and not `"7"`.
)";

constexpr std::string_view kRowsText = R"(
## Rows

An entry of `rows` is an object whose keys are the columns of the protocol's table
([below](#protocols)). A STRING is a string, an INT64 an integer; a TIMESTAMP is a duration relative to
the start of the run, or a time in RFC 3339 in UTC, and never in the future; a column that is not named is NULL. Every
run starts on )";

constexpr std::string_view kRowExample =
    R"({ "name": "lock", "heartbeat": "-12s", "token": "2025-12-31T23:59:00Z" })";

constexpr std::string_view kFaultsText = R"(
## Faults

A fault strikes `at` a time of the run, or `when` a node reaches a phase of a step for the `count`-th
time. One that can be seen never to fire is an error; one that did not fire in the run is an
expectation that has failed.

)";

constexpr std::string_view kRulesOfCallsText = R"(
## Rules for the calls of any program

`whorl serve --faults FILE` and `whorl proxy --to HOST:PORT --faults FILE` strike calls of programs that are
not whorl's. A rule is a fault with a `match` in the place of node and step; `rules.schema.json` beside this file
describes a file of rules to an editor. `whorl convert FILE` writes a file of an earlier release in these words.

)";

constexpr std::string_view kKindsText = R"(
## Kinds of faults

The examples stand in a scenario of spindle_v2 with the nodes `a`, `b`, `pod-1`, `pod-2` and `spare`
(`"start_at": "never"`), of which a leads, and strike in it. Keys that a kind does not take are errors.
)";

constexpr std::string_view kScheduleText = R"(
## Schedule

A run begins with the entries of `schedule`, in their order. While they last, nothing else happens, and
time goes on only as they say: an entry happens at its `at`, or when its event is due, whichever is
later. After the last one virtual time goes on until the end of the run. `whorl explore --save` writes
such scenarios. Nothing is drawn in them: calls are as fast as the preset allows, a pause that the code
under test draws is the longest one, and the seed has no effect.

An entry names an event by the keys beside it in the second table. A key that is left out fits any
event, and if several events fit, the one that is due first happens. If none of them can happen, the run
has failed: the message names the entry and what could have happened instead.

`truetime_error` and `current_timestamp_error` say where Spanner's clocks stand while it serves the
event, instead of where `spanner` has them. They go with `call_arrives`, `commit_becomes_visible`,
`spanner_looks_again`, `fault_begins` and `operator_acts`.

A fault that an entry begins strikes there, and its own `at` only tells readers when. Any other fault
strikes as ever, which has to be after the last entry unless it waits for a step (`when`).

)";

constexpr std::string_view kBranchesText = R"(
## Branches

A run with `branches` is that of its seed up to the first of them, draws from that one's seed until the
next, and so on. Their events rise. `whorl hunt --guide` finds such runs: it goes on from events at which
a run showed something new. They do not go with `schedule`, with which nothing is drawn.

)";

constexpr std::string_view kWaypointsText = R"(
### Waypoints

Each of `reach` is a text: who, and what. What is a step of the protocol and a phase
(`takeover_insert replied`), or what becomes of a process: `started`, `stopped`, `crashed`, `paused` or
`resumed`. Who stands before it, or nobody for any process: the name of a node, `leader` for the node
that owns the lock's newest version, `old leader` for the one that owned it before. A run has reached a
waypoint when that happens after the waypoint before it; `replied` is reached with `ended`. One that is
not reached fails the scenario.
)";

constexpr std::string_view kExpectText = R"(
## Expectations

`expect` is judged for the file's own seed; other seeds are counted and not judged. An invariant that
is listed nowhere may hold or be unknown, but not be violated. "Unknown" never counts as holding.

)";

constexpr std::string_view kPhasesText = R"(
## Phases

"Between INSERT and UPDATE" of a takeover is the step `takeover_insert` and the phase `replied`. A
pause, a latency or a partition that strikes at `replied` holds that very reply up, and `drop_reply` loses
it; one that is to strike after the process has acted on it says `ended`. On a real server a reply that
has arrived cannot be held up: there, `replied` is refused for these, but not for a pause.

)";

constexpr std::string_view kInvariantsText = R"(
## Invariants

All of them are judged in every run, on every protocol, promised or not.

)";

// --- pieces ------------------------------------------------------------------------------------

std::string Code(std::string_view text) { return Cat("`", text, "`"); }

std::string CodeList(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += Cat(text.empty() ? "" : ", ", Code(word));
  return text;
}

std::string JsonBlock(std::string_view json) { return Cat("```json\n", json, "\n```\n"); }

// `text` with its first letter capitalised.
std::string Sentence(std::string_view text) {
  std::string sentence(text);
  if (sentence.front() >= 'a' && sentence.front() <= 'z') {
    sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
  }
  return sentence + ".";
}

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += cell.empty() ? " |" : Cat(" ", cell, " |");
  return row + "\n";
}

std::string Head(const std::vector<std::string>& cells) {
  std::string rule = "|";
  for (size_t i = 0; i < cells.size(); ++i) rule += "---|";
  return Row(cells) + rule + "\n";
}

// --- what may stand behind a key ---------------------------------------------------------------

// A link to the section that describes an object or lists many words.
std::string SectionOf(ObjectId id) {
  switch (id) {
    case ObjectId::kScenario:
      return "[scenario](#the-scenario)";
    case ObjectId::kNode:
      return "[node](#nodes)";
    case ObjectId::kClock:
      return "[clock](#clock)";
    case ObjectId::kSpanner:
      return "[spanner](#spanner)";
    case ObjectId::kTrueTime:
      return "[truetime](#truetime)";
    case ObjectId::kNetwork:
      return "[network](#network)";
    case ObjectId::kWorkload:
      return "[workload](#workload)";
    case ObjectId::kFault:
      return "[fault](#faults)";
    case ObjectId::kWhen:
      return "[when](#when)";
    case ObjectId::kDelay:
      return "[delay](#delay)";
    case ObjectId::kChoice:
      return "[choice](#schedule)";
    case ObjectId::kBranch:
      return "[branch](#branches)";
    case ObjectId::kExpect:
      return "[expect](#expectations)";
    case ObjectId::kBound:
      return "[bound](#bound)";
    case ObjectId::kRules:
    case ObjectId::kRule:
      return "[rule](#rules-for-the-calls-of-any-program)";
    case ObjectId::kMatch:
      return "[match](#match)";
  }
  return {};
}

// Where the words are listed that may stand behind the key; nothing if in its own row.
std::optional<std::string_view> SectionOfWords(std::string_view key) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kSections = {{
      {"protocol", "[protocol](#protocols)"},
      {"do", "[kind of fault](#kinds-of-faults)"},
      {"step", "[step](#protocols)"},
      {"of_step", "[step](#protocols)"},
      {"phase", "[phase](#phases)"},
      {"event", "[event](#schedule)"},
      {"holds", "[invariant](#invariants)"},
      {"violates", "[invariant](#invariants)"},
      {"sometimes", "[goal](#goals)"},
  }};
  for (const auto& [name, section] : kSections) {
    if (name == key) return section;
  }
  return std::nullopt;
}

// "one [step](#protocols)", "one of `a`, `b`"
std::string OneWord(const KeyInfo& key) {
  const std::optional<std::string_view> section = SectionOfWords(key.name);
  return section ? Cat("one ", *section) : Cat("one of ", CodeList(key.words));
}

std::string IntegerText(const KeyInfo& key) {
  if (key.min >= 0 && static_cast<uint64_t>(key.min) == key.max)
    return Code(std::to_string(key.min));
  const std::string text = Cat("integer, ", std::to_string(key.min));
  return text + (key.max == KeyInfo().max ? " or more" : Cat(" to ", std::to_string(key.max)));
}

std::string FormText(const KeyInfo& key) {
  switch (key.form) {
    case Form::kText:
      return "string, not empty";
    case Form::kName:
      return "name";
    case Form::kNewName:
      return "name without `*`";
    case Form::kNames:
      return "array of distinct names, not empty";
    case Form::kBoolean:
      return "`true` or `false`";
    case Form::kInteger:
      return IntegerText(key);
    case Form::kDuration:
      return "duration, `0s` or more";
    case Form::kPositiveDuration:
      return "duration above `0s`";
    case Form::kSignedDuration:
      return "duration, negative or not";
    case Form::kStart:
      return "duration, or `\"never\"`";
    case Form::kWord:
      return OneWord(key);
    case Form::kWords:
      return Cat("array of distinct words, each ", OneWord(key));
    case Form::kObject:
      return Cat("object: ", SectionOf(*key.object));
    case Form::kObjects:
      return Cat("array of objects: ", SectionOf(*key.object));
    case Form::kDelay:
      return Cat("duration above `0s`, or object: ", SectionOf(*key.object));
    case Form::kNodes:
      return Cat("array, not empty, of names and objects: ", SectionOf(*key.object));
    case Form::kRows:
      return "array of objects: [rows](#rows)";
    case Form::kMetrics:
      return Cat("object: [metrics](#metrics), each with its value or a ", SectionOf(*key.object));
    case Form::kLimit:
      return "count, or duration where the metric is a time";
    case Form::kParameters:
      return "object: names of parameters and their values";
  }
  return {};
}

std::string KeyRow(const KeyInfo& key) {
  const std::string otherwise = key.required            ? "required"
                                : key.otherwise.empty() ? ""
                                                        : Code(key.otherwise);
  return Row({Code(key.name), FormText(key), otherwise, key.about});
}

std::string KeyTable(std::span<const KeyInfo> keys) {
  std::string table = Head({"key", "what stands there", "default", "what it means"});
  for (const KeyInfo& key : keys) table += KeyRow(key);
  return table;
}

std::string ObjectSection(std::string_view head, ObjectId id) {
  const ObjectInfo& info = DescribeObject(id);
  std::string text = Cat("\n", head, "\n\n", KeyTable(info.keys));
  if (!info.example.empty()) text += Cat("\n", JsonBlock(info.example));
  return text;
}

// --- faults ------------------------------------------------------------------------------------

bool IsParticular(const KeyInfo& key) {
  return std::ranges::find(FaultKeys(), key.name) != FaultKeys().end();
}

std::string KindSection(const FaultInfo& fault) {
  std::string keys;
  for (const FaultKey& own : fault.keys) {
    keys +=
        Cat(keys.empty() ? "" : ", ", Code(own.key.name), own.key.required ? " (required)" : "");
  }
  return Cat("\n### `", fault.word, "`\n\n", Sentence(fault.about), "\n\n",
             fault.has_node ? "Happens to a node. " : "Happens at Spanner: it has no `node`. ",
             keys.empty() ? "No keys of its own." : Cat("Keys of its own: ", keys, "."), "\n\n",
             JsonBlock(fault.example));
}

std::string FaultSections() {
  std::vector<KeyInfo> common;
  std::vector<KeyInfo> particular;
  for (const KeyInfo& key : DescribeObject(ObjectId::kFault).keys) {
    (IsParticular(key) ? particular : common).push_back(key);
  }
  std::string text = Cat(kFaultsText, KeyTable(common), "\nKeys that only some kinds take:\n\n",
                         KeyTable(particular));
  text += ObjectSection("### when", ObjectId::kWhen);
  text += ObjectSection("### delay", ObjectId::kDelay);
  text += kKindsText;
  for (const FaultInfo& fault : Faults()) text += KindSection(fault);
  return text;
}

std::string RulesSection() {
  const ObjectInfo& rules = DescribeObject(ObjectId::kRules);
  std::string text = Cat(kRulesOfCallsText, JsonBlock(rules.example), "\n", KeyTable(rules.keys));
  text += Cat(ObjectSection("### rule", ObjectId::kRule), "\n",
              Head({"`do`", "keys of its own", "what happens to the call"}));
  for (const FaultKind kind : KindsOfRules()) {
    std::string keys;
    for (const std::string_view key : RuleKeys()) {
      if (!RuleTakes(kind, key)) continue;
      keys += Cat(keys.empty() ? "" : ", ", Code(key), RuleNeeds(kind, key) ? " (required)" : "");
    }
    text += Row({Code(FaultKindText(kind)), keys, std::string(InfoOf(kind).of_calls)});
  }
  return text + ObjectSection("### match", ObjectId::kMatch);
}

// --- the schedule ------------------------------------------------------------------------------

std::string ScheduleSection() {
  std::string text = Cat(kScheduleText, KeyTable(DescribeObject(ObjectId::kChoice).keys), "\n",
                         Head({"event", "named by", "what happens"}));
  for (const ScheduledEvent event : AllOf<ScheduledEvent>()) {
    const EventKeys known = KeysOf(event);
    text += Row({Code(WordOf(event)), CodeList({known.keys.begin(), known.keys.end()}),
                 std::string(AboutScheduledEvent(event))});
  }
  return Cat(text, "\n", JsonBlock(DescribeObject(ObjectId::kChoice).example));
}

// --- protocols and the other words -------------------------------------------------------------

std::string StepRow(const ProtocolInfo& protocol, StepName step) {
  const bool has_commit = std::ranges::find(protocol.steps_without_commit, step) ==
                              protocol.steps_without_commit.end() &&
                          step != steps::kHasLock && step != steps::kWrite;
  return Row({Code(WordOf(step)), has_commit ? "yes" : "no", std::string(AboutStep(step))});
}

std::string ProtocolSection(const ProtocolInfo& protocol) {
  std::string text = Cat("\n### `", protocol.name, "`\n\n", Sentence(protocol.summary),
                         " The lease is ", FormatDuration(protocol.lease_default),
                         " by default, and at least ", FormatDuration(protocol.lease_min),
                         protocol.refuses_short_lease ? "; less is an error." : ".");
  if (protocol.takes_one_lock) text += " A scenario of it has one lock.";
  if (!protocol.init_row.empty()) {
    text += " Where `rows` give no row for that, the one that its `init` leaves is there.";
  }
  if (!protocol.has_tokens) {
    text +=
        " It hands out no tokens, so its applications write to the resource that does not fence.";
  }
  text += "\n\n";
  text += Head({"step", "commits", "what it is"});
  for (const StepName step : protocol.steps) text += StepRow(protocol, step);
  for (const StepName step : {steps::kHasLock, steps::kWrite}) {
    text += StepRow(protocol, step);
  }
  text += "\nThe columns of its table: ";
  std::string_view separator;
  for (const ColumnInfo& column : protocol.columns) {
    text +=
        Cat(separator, Code(column.name), " ", WordOf(column.type), column.key ? " (the key)" : "");
    separator = ", ";
  }
  return text + ".\n";
}

template <HasWords Enum>
std::string TableOfWords(std::string_view head, std::string_view what,
                         std::string_view (*about)(Enum)) {
  std::string table = Head({std::string(head), std::string(what)});
  for (const Enum word : AllOf<Enum>()) {
    table += Row({Code(WordOf(word)), std::string(about(word))});
  }
  return table;
}

std::string InvariantTable() {
  std::vector<std::string> head = {"invariant", "what it says"};
  for (const ProtocolInfo& protocol : Protocols()) {
    head.push_back(Cat("promised by ", protocol.name));
  }
  std::string table = Head(head);
  for (const Invariant invariant : AllOf<Invariant>()) {
    std::vector<std::string> cells = {Code(WordOf(invariant)),
                                      std::string(AboutInvariant(invariant))};
    for (const ProtocolInfo& protocol : Protocols()) {
      const Promise promise = protocol.promises[static_cast<size_t>(invariant)];
      const bool is_promised = promise == Promise::kPromised;
      const bool of_resource = invariant == Invariant::kFencedWritesOrdered;
      cells.emplace_back(is_promised && of_resource         ? "checks the resource"
                         : is_promised                      ? "yes"
                         : promise == Promise::kNotPromised ? "no"
                                                            : "n/a");
    }
    table += Row(cells);
  }
  return table;
}

std::string MetricTable() {
  std::string table = Head({"metric", "is a", "of what"});
  for (const Metric metric : AllOf<Metric>()) {
    table += Row({Code(WordOf(metric)), IsTime(metric) ? "duration" : "count",
                  std::string(AboutMetric(metric))});
  }
  return table;
}

std::string WordsSection() {
  std::string text = "\n## Protocols\n";
  for (const ProtocolInfo& protocol : Protocols()) text += ProtocolSection(protocol);
  text += Cat(kPhasesText, TableOfWords("phase", "how far the step has come", AboutPhase));
  text += Cat(kInvariantsText, InvariantTable());
  text +=
      Cat("\n## Metrics\n\nSummed over the locks of a run; the longest times are over all of "
          "them.\n\n",
          MetricTable());
  text +=
      Cat("\n## Goals\n\nWhat `sometimes` wants to have happened at least once, so that a "
          "scenario does not pass because nothing happened.\n\n",
          TableOfWords("goal", "what happened", AboutSometimes));
  return text;
}

}  // namespace

std::string ScenarioGuide() {
  std::string text =
      Cat(kIntroduction, JsonBlock(DescribeObject(ObjectId::kScenario).example), kRulesText,
          std::to_string(kMaxNameBytes), " bytes, without control\n  characters.", kLimits);
  text += Cat("- A file has at most ", std::to_string(kMaxScenarioBytes >> 20),
              " MiB; a run has at most ", std::to_string(kMaxNodes), " nodes, ",
              std::to_string(kMaxLocks), " locks and ", std::to_string(kMaxFaults),
              " faults,\n  counting each node that a pattern matches.\n");
  text += Cat("\n## The scenario\n\n", KeyTable(DescribeObject(ObjectId::kScenario).keys));
  text += ObjectSection("## Nodes", ObjectId::kNode);
  text += ObjectSection("### clock", ObjectId::kClock);
  text += Cat(kRowsText, FormatRfc3339(kStartTime), ".\n\n", JsonBlock(kRowExample));
  text += ObjectSection("## spanner", ObjectId::kSpanner);
  text += ObjectSection("### truetime", ObjectId::kTrueTime);
  text += ObjectSection("## network", ObjectId::kNetwork);
  text += ObjectSection("## workload", ObjectId::kWorkload);
  text += FaultSections();
  text += RulesSection();
  text += ScheduleSection();
  text += Cat(kBranchesText, KeyTable(DescribeObject(ObjectId::kBranch).keys), "\n",
              JsonBlock(DescribeObject(ObjectId::kBranch).example));
  text += Cat(kExpectText, KeyTable(DescribeObject(ObjectId::kExpect).keys), "\n",
              JsonBlock(DescribeObject(ObjectId::kExpect).example));
  text += kWaypointsText;
  text += ObjectSection("### bound", ObjectId::kBound);
  return text + WordsSection();
}

}  // namespace whorl::sim
