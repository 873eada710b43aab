// Loads `expect`: what the author of a scenario expects of its run.
#include <algorithm>
#include <variant>

#include "base/parse_duration.h"
#include "base/text.h"
#include "sim/scenario/metrics.h"
#include "sim/scenario/parts.h"
#include "sim/scenario/waypoints.h"

namespace whorl::sim {
namespace {

// Reads a bound: a count, or nanoseconds if the metric is a time.
std::optional<int64_t> ReadLimit(const JsonValue& value, Metric metric, Problems& problems) {
  if (IsTime(metric)) {
    const auto time = ReadDuration(value, Form::kDuration, problems);
    return time.has_value() ? std::optional(time->ns) : std::nullopt;
  }
  const std::optional<int64_t> count = value.AsInt64();
  if (count.has_value() && *count >= 0) return count;
  problems.Add(value, Cat("expected a count, 0 or more, got ", Described(value)));
  return std::nullopt;
}

MetricBound ReadBound(const JsonValue& value, Metric metric, Problems& problems) {
  MetricBound bound;
  bound.metric = metric;
  if (value.kind() != JsonKind::kObject) {
    bound.min = bound.max = ReadLimit(value, metric, problems);
    return bound;
  }
  const ObjectFields fields(value, ObjectId::kBound, problems);
  const std::optional<JsonValue> min = fields.Find("min");
  const std::optional<JsonValue> max = fields.Find("max");
  if (min.has_value()) bound.min = ReadLimit(*min, metric, problems);
  if (max.has_value()) bound.max = ReadLimit(*max, metric, problems);
  if (value.ChildCount() == 0) {
    problems.Add(value, "expected \"min\", \"max\" or both, got an empty object");
  }
  if (bound.min.has_value() && bound.max.has_value() && *bound.min > *bound.max) {
    problems.Add(value, "\"min\" is above \"max\", so that no run can meet both");
  }
  return bound;
}

void ReadMetrics(const ObjectFields& fields, Expectations& expect, Problems& problems) {
  const std::optional<JsonValue> metrics = fields.Find("metrics");
  if (!metrics.has_value()) return;
  if (metrics->kind() != JsonKind::kObject) {
    problems.Add(*metrics, Cat("expected an object of metrics, got ", Described(*metrics)));
    return;
  }
  for (const JsonValue& member : metrics->Children()) {
    if (problems.Full()) return;
    if (const std::optional<Metric> metric = ParseWord<Metric>(member.key())) {
      expect.metrics.push_back(ReadBound(member, *metric, problems));
    } else {
      problems.AddAtKey(member, UnknownWord("metric", member.key(), AllWords<Metric>()));
    }
  }
}

void ReadReach(const ObjectFields& fields, const Known& known, Scenario& scenario,
               Problems& problems) {
  const std::optional<std::vector<std::string>> texts = fields.Names("reach", "waypoint");
  if (!texts || !known.node_names) return;
  std::vector<std::string_view> nodes;
  for (const NodeSpec& node : scenario.nodes) nodes.push_back(node.name);
  const std::vector<JsonValue> entries = fields.Find("reach")->Children();
  for (size_t i = 0; i < texts->size(); ++i) {
    auto parsed = ParseWaypoint((*texts)[i], nodes, known.protocol);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
      problems.Add(entries[i], *problem);
      continue;
    }
    auto& waypoint = std::get<Waypoint>(parsed);
    waypoint.line = entries[i].position().line;
    scenario.expect.reach.push_back(waypoint);
  }
}

}  // namespace

void ReadExpect(const ObjectFields& file, const Known& known, Scenario& scenario,
                Problems& problems) {
  const std::optional<ObjectFields> fields = file.Object("expect");
  if (!fields.has_value()) return;
  Expectations& expect = scenario.expect;
  expect.holds = fields->Words<Invariant>("holds", "invariant");
  expect.violates = fields->Words<Invariant>("violates", "invariant");
  expect.sometimes = fields->Words<Sometimes>("sometimes", "goal");
  ReadMetrics(*fields, expect, problems);
  expect.takeover_within = fields->Time("takeover_within");
  ReadReach(*fields, known, scenario, problems);
  expect.faults_may_miss = fields->Boolean("faults_may_miss").value_or(false);
  for (const Invariant invariant : expect.violates) {
    if (std::find(expect.holds.begin(), expect.holds.end(), invariant) == expect.holds.end()) {
      continue;
    }
    problems.Add(*fields->Find("violates"),
                 Cat("invariant ", Quoted(WordOf(invariant)), " cannot both hold and be violated"));
  }
}

}  // namespace whorl::sim
