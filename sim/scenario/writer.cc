#include "sim/scenario/writer.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/parse_duration.h"
#include "base/text.h"
#include "protocol/protocols.h"
#include "sim/scenario/faults/keys.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/language.h"
#include "sim/scenario/waypoints.h"

namespace whorl::sim {
namespace {

std::string TimeJson(Duration duration) { return FormatDuration(duration); }
std::string TimeJson(Instant at) { return FormatDuration(Duration{at.ns}); }

template <typename T>
void PutTime(std::string_view key, const T& value, const T& otherwise, Json& json) {
  if (value != otherwise) json[std::string(key)] = TimeJson(value);
}
void PutTime(std::string_view key, const std::optional<Duration>& value, Json& json) {
  if (value) json[std::string(key)] = TimeJson(*value);
}
template <typename Enum>
void PutWord(std::string_view key, Enum value, Enum otherwise, Json& json) {
  if (value != otherwise) json[std::string(key)] = std::string(WordOf(value));
}
void PutObject(std::string_view key, Json object, Json& json) {
  if (!object.empty()) json[std::string(key)] = std::move(object);
}

// --- nodes and rows ----------------------------------------------------------------------------

bool TakesPartInAll(const NodeSpec& node, const Scenario& scenario) {
  if (node.locks.size() != scenario.locks.size()) return false;
  for (size_t i = 0; i < node.locks.size(); ++i) {
    if (node.locks[i] != i) return false;
  }
  return true;
}

// `lease` is the scenario's: a node that has it needs no key for it.
Json NodeJson(const NodeSpec& node, const Scenario& scenario, Duration lease) {
  const NodeSpec defaults;
  Json json = Json::object();
  json["name"] = node.name;
  if (!node.id.empty()) json["id"] = node.id;
  if (!TakesPartInAll(node, scenario)) {
    Json& locks = json["locks"] = Json::array();
    for (const uint16_t lock : node.locks) locks.push_back(scenario.locks[lock]);
  }
  PutTime("lease", node.lease, lease, json);
  if (!node.start_at) {
    json["start_at"] = "never";
  } else {
    PutTime("start_at", *node.start_at, *defaults.start_at, json);
  }
  PutTime("deadline", node.deadline, json);
  PutWord("use", node.use, defaults.use, json);
  Json clock = Json::object();
  PutTime("offset", node.clock.offset, defaults.clock.offset, clock);
  if (node.clock.rate_ppm != 0) clock["rate_ppm"] = node.clock.rate_ppm;
  PutObject("clock", std::move(clock), json);
  return json.size() == 1 ? Json(node.name) : json;
}

// A timestamp relative to the start, unless it is too far from it.
std::string TimestampText(Timestamp at) {
  const Duration since_start = at - kStartTime;
  if (since_start < -kMaxDuration || since_start > kMaxDuration) return FormatRfc3339(at);
  return FormatDuration(since_start);
}

Json RowJson(const RowSpec& row) {
  Json json = Json::object();
  for (size_t i = 0; i < row.columns.size(); ++i) {
    Json& column = json[row.columns[i]];
    if (const auto* text = std::get_if<std::string>(&row.values[i])) {
      column = *text;
    } else if (const auto* at = std::get_if<Timestamp>(&row.values[i])) {
      column = TimestampText(*at);
    } else if (const auto* number = std::get_if<int64_t>(&row.values[i])) {
      column = *number;
    } else {
      column = nullptr;
    }
  }
  return json;
}

// --- spanner, network, workload ----------------------------------------------------------------

void PutTrueTime(const TrueTimeSpec& truetime, Duration epsilon, Json& json) {
  PutTime("epsilon", truetime.epsilon, epsilon, json);
  if (truetime.truthful) return;
  json["truthful"] = false;
  json["error"] = TimeJson(truetime.error);
}

Json SpannerJson(const SpannerSpec& spanner) {
  const SpannerSpec defaults;
  Json json = Json::object();
  PutWord("preset", spanner.preset, defaults.preset, json);
  Json truetime = Json::object();
  PutTrueTime(spanner.truetime, defaults.truetime.epsilon, truetime);
  PutObject("truetime", std::move(truetime), json);
  PutTime("current_timestamp_error", spanner.current_timestamp_error,
          defaults.current_timestamp_error, json);
  PutWord("strict_pending_commit_timestamp", spanner.strict_pending_commit_timestamp,
          defaults.strict_pending_commit_timestamp, json);
  PutWord("default_isolation", spanner.default_isolation, defaults.default_isolation, json);
  if (!spanner.splits.empty()) json["splits"] = spanner.splits;
  return json;
}

Json NetworkJson(const NetworkSpec& network) {
  Json json = Json::object();
  PutTime("connection_timeout", network.connection_timeout, NetworkSpec().connection_timeout, json);
  if (network.announce_releases) json["announce_releases"] = true;
  PutTime("commit_timeout", network.commit_timeout, json);
  return json;
}

Json WorkloadJson(const WorkloadSpec& workload) {
  const WorkloadSpec defaults;
  Json json = Json::object();
  PutTime("write_every", workload.write_every, defaults.write_every, json);
  PutTime("work_for", workload.work_for, defaults.work_for, json);
  PutTime("stop_takes", workload.stop_takes, defaults.stop_takes, json);
  PutWord("resource", workload.resource, defaults.resource, json);
  for (const SideQuestion question : workload.ask) {
    json["ask"].push_back(std::string(WordOf(question)));
  }
  PutTime("ask_every", workload.ask_every, defaults.ask_every, json);
  PutTime("hold_for", workload.hold_for, json);
  PutTime("lock_again", workload.lock_again, json);
  return json;
}

// --- faults ------------------------------------------------------------------------------------

Json WhenJson(const When& when, const Scenario& scenario) {
  Json json = Json::object();
  json["node"] = scenario.nodes[static_cast<size_t>(when.node)].name;
  json["step"] = std::string(WordOf(when.step));
  json["phase"] = std::string(WordOf(when.phase));
  if (when.count != When().count) json["count"] = when.count;
  if (when.lock) json["lock"] = scenario.locks[*when.lock];
  return json;
}

Json DelayJson(const DelaySpec& add) {
  if (add.min == add.max) return TimeJson(add.max);
  Json json = Json::object();
  PutTime("min", add.min, DelaySpec().min, json);
  json["p50"] = TimeJson(add.p50);
  json["p99"] = TimeJson(add.p99);
  json["max"] = TimeJson(add.max);
  return json;
}

// One key of a fault.
template <typename T>
void PutValue(std::string_view key, const T& value, Json& json) {
  if constexpr (std::is_same_v<T, DelaySpec>) {
    json[std::string(key)] = DelayJson(value);
  } else if constexpr (std::is_same_v<T, Duration>) {
    json[std::string(key)] = TimeJson(value);
  } else if constexpr (requires { WordOf(value); }) {
    json[std::string(key)] = std::string(WordOf(value));
  } else {
    json[std::string(key)] = value;
  }
}

// The keys of a fault's field, unless the field says what it says by default.
template <typename T>
void PutField(std::string_view key, const T& value, const T& otherwise, const Scenario& scenario,
              Json& json) {
  if constexpr (std::is_same_v<T, RowOfLock>) {
    if (scenario.locks.size() > 1) json["lock"] = scenario.locks[value.lock];
    if (value.row != scenario.locks[value.lock]) json["row"] = value.row;
  } else if constexpr (std::is_same_v<T, TrueTimeSpec>) {
    // One of its keys has to be there, so epsilon always is.
    PutTrueTime(value, Duration{-1}, json);
  } else {
    // A duration, a delay or a code that is no optional is a key that the kind requires.
    const bool required =
        std::is_same_v<T, Duration> || std::is_same_v<T, DelaySpec> || std::is_same_v<T, ErrorCode>;
    if (required || value != otherwise) PutValue(key, value, json);
  }
}
template <typename T>
void PutField(std::string_view key, const std::optional<T>& value,
              const std::optional<T>& /*otherwise*/, const Scenario& /*scenario*/, Json& json) {
  if (value) PutValue(key, *value, json);
}

template <typename Kind>
void PutKind(const Kind& kind, const Scenario& scenario, Json& json) {
  const Kind defaults;
  VisitKeys(kind, defaults, [&](std::string_view key, const auto& value, const auto& otherwise) {
    PutField(key, value, otherwise, scenario, json);
  });
}

Json KindJson(const FaultSpec& fault, const Scenario& scenario) {
  Json json = Json::object();
  std::visit([&](const auto& kind) { PutKind(kind, scenario, json); }, fault.what);
  return json;
}

Json FaultJson(const FaultSpec& fault, const Scenario& scenario) {
  Json json = Json::object();
  if (const auto* at = std::get_if<Instant>(&fault.trigger)) {
    json["at"] = TimeJson(*at);
  } else {
    json["when"] = WhenJson(std::get<When>(fault.trigger), scenario);
  }
  json["do"] = std::string(FaultKindText(fault.kind()));
  if (fault.node == FaultSpec::kLeader) {
    json["node"] = std::string(kLeaderWord);
  } else if (fault.node != FaultSpec::kNoNode) {
    json["node"] = scenario.nodes[static_cast<size_t>(fault.node)].name;
  }
  json.update(KindJson(fault, scenario));
  return json;
}

// --- the schedule ------------------------------------------------------------------------------

Json EntryJson(const ScheduleEntry& entry, const Scenario& scenario) {
  Json json = Json::object();
  if (entry.at) json["at"] = TimeJson(*entry.at);
  json["event"] = std::string(WordOf(entry.event));
  if (entry.node) json["node"] = scenario.nodes[static_cast<size_t>(*entry.node)].name;
  if (entry.incarnation) json["incarnation"] = *entry.incarnation;
  if (entry.lock) json["lock"] = scenario.locks[*entry.lock];
  if (entry.step) json["step"] = std::string(WordOf(*entry.step));
  if (entry.transaction) json["transaction"] = *entry.transaction;
  if (entry.attempt) json["attempt"] = *entry.attempt;
  if (entry.call) json["call"] = *entry.call;
  if (entry.timer) json["timer"] = std::string(WordOf(*entry.timer));
  if (entry.id) json["id"] = *entry.id;
  if (entry.fault) json["fault"] = *entry.fault;
  const auto& [truetime, current_timestamp] = entry.clocks;
  if (truetime) json["truetime_error"] = TimeJson(*truetime);
  if (current_timestamp) json["current_timestamp_error"] = TimeJson(*current_timestamp);
  return json;
}

Json BranchesJson(const Scenario& scenario) {
  Json json = Json::array();
  for (const BranchSpec& branch : scenario.branches) {
    json.push_back({{"event", branch.event}, {"seed", branch.seed}});
  }
  return json;
}

// --- what is expected --------------------------------------------------------------------------

template <typename Enum>
void PutWords(std::string_view key, const std::vector<Enum>& words, Json& json) {
  if (words.empty()) return;
  Json& array = json[std::string(key)] = Json::array();
  for (const Enum word : words) array.push_back(std::string(WordOf(word)));
}

Json LimitJson(Metric metric, int64_t limit) {
  return IsTime(metric) ? Json(TimeJson(Duration{limit})) : Json(limit);
}

Json BoundJson(const MetricBound& bound) {
  if (bound.min && bound.min == bound.max) return LimitJson(bound.metric, *bound.min);
  Json json = Json::object();
  if (bound.min) json["min"] = LimitJson(bound.metric, *bound.min);
  if (bound.max) json["max"] = LimitJson(bound.metric, *bound.max);
  return json;
}

Json ExpectJson(const Scenario& scenario) {
  const Expectations& expect = scenario.expect;
  Json json = Json::object();
  PutWords("holds", expect.holds, json);
  PutWords("violates", expect.violates, json);
  PutWords("sometimes", expect.sometimes, json);
  Json metrics = Json::object();
  for (const MetricBound& bound : expect.metrics) {
    metrics[std::string(WordOf(bound.metric))] = BoundJson(bound);
  }
  PutObject("metrics", std::move(metrics), json);
  PutTime("takeover_within", expect.takeover_within, json);
  Json reach = Json::array();
  for (const Waypoint& waypoint : expect.reach) reach.push_back(WaypointText(waypoint, scenario));
  PutObject("reach", std::move(reach), json);
  if (expect.faults_may_miss) json["faults_may_miss"] = true;
  return json;
}

// --- all of it ---------------------------------------------------------------------------------

Json ScenarioJson(const Scenario& scenario) {
  const Scenario defaults;
  const Duration lease = scenario.nodes.front().lease;
  Json json = Json::object();
  json["version"] = scenario.version;
  json["about"] = scenario.about;
  json["protocol"] = scenario.protocol;
  PutWord("constants", scenario.constants, defaults.constants, json);
  if (scenario.locks != std::vector<std::string>{"lock"}) json["locks"] = scenario.locks;
  json["lease"] = TimeJson(lease);
  Json& nodes = json["nodes"] = Json::array();
  for (const NodeSpec& node : scenario.nodes) nodes.push_back(NodeJson(node, scenario, lease));
  Json rows = Json::array();
  for (const RowSpec& row : scenario.rows) rows.push_back(RowJson(row));
  PutObject("rows", std::move(rows), json);
  json["duration"] = TimeJson(scenario.duration);
  if (scenario.seed != defaults.seed) json["seed"] = scenario.seed;
  PutObject("spanner", SpannerJson(scenario.spanner), json);
  PutObject("network", NetworkJson(scenario.network), json);
  PutObject("workload", WorkloadJson(scenario.workload), json);
  Json faults = Json::array();
  for (const FaultSpec& fault : scenario.faults) faults.push_back(FaultJson(fault, scenario));
  PutObject("faults", std::move(faults), json);
  Json schedule = Json::array();
  for (const ScheduleEntry& entry : scenario.schedule) {
    schedule.push_back(EntryJson(entry, scenario));
  }
  PutObject("schedule", std::move(schedule), json);
  PutObject("branches", BranchesJson(scenario), json);
  PutObject("expect", ExpectJson(scenario), json);
  return json;
}

// The text on one line, with a space inside each bracket that is not empty.
std::string Inline(const Json& json) {
  const std::string indented = DumpJson(json, 1);
  std::string line;
  for (size_t i = 0; i < indented.size(); ++i) {
    // A string has no such character in it: JSON escapes them.
    if (indented[i] != '\n') {
      line.push_back(indented[i]);
      continue;
    }
    line.push_back(' ');
    while (indented[i + 1] == ' ') ++i;
  }
  return line;
}

// Whether each element of the array gets a line of its own.
bool IsTall(const Json& json) {
  return json.is_array() && std::any_of(json.begin(), json.end(),
                                        [](const Json& element) { return element.is_object(); });
}

}  // namespace

std::string ScenarioText(const Scenario& scenario) {
  const Json json = ScenarioJson(scenario);
  std::string text = "{";
  for (const auto& [key, value] : json.items()) {
    text += Cat(text.size() > 1 ? "," : "", "\n  ", Inline(Json(key)), ": ");
    if (!IsTall(value)) {
      text += Inline(value);
      continue;
    }
    const char* separator = "[\n    ";
    for (const Json& element : value)
      text += Cat(std::exchange(separator, ",\n    "), Inline(element));
    text += "\n  ]";
  }
  return text + "\n}\n";
}

std::string ScenarioLine(const Scenario& scenario) { return DumpJson(ScenarioJson(scenario)); }

std::string EntryText(const ScheduleEntry& entry, const Scenario& scenario) {
  return Inline(EntryJson(entry, scenario));
}

std::string FaultKeysText(const FaultSpec& fault, const Scenario& scenario) {
  std::string text;
  const Json keys = KindJson(fault, scenario);
  for (const auto& [key, value] : keys.items()) {
    if (key == "for") continue;
    const std::string said = value.is_string() ? value.get<std::string>() : DumpJson(value);
    text += Cat(text.empty() ? "" : ", ", key, " ", Printable(said));
  }
  return text;
}

Scenario WithoutPlace(Scenario scenario) {
  scenario.name.clear();
  scenario.path.clear();
  for (FaultSpec& fault : scenario.faults) fault.line = 0;
  for (ScheduleEntry& entry : scenario.schedule) entry.line = 0;
  for (Waypoint& waypoint : scenario.expect.reach) waypoint.line = 0;
  return scenario;
}

}  // namespace whorl::sim
