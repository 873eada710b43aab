#include "sim/scenario/schema.h"

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "protocol/protocols.h"
#include "sim/scenario/json_text.h"
#include "sim/scenario/language.h"
#include "sim/scenario/metrics.h"

namespace whorl::sim {
namespace {

Json Reference(std::string_view name) { return {{"$ref", Cat("#/$defs/", name)}}; }

Json AnyOf(Json a, Json b) { return {{"anyOf", Json::array({std::move(a), std::move(b)})}}; }

Json ArrayOf(Json items, int min, bool distinct) {
  Json array = {{"type", "array"}, {"items", std::move(items)}};
  if (min > 0) array["minItems"] = min;
  if (distinct) array["uniqueItems"] = true;
  return array;
}

Json OneOf(const std::vector<std::string_view>& words) {
  Json allowed = Json::array();
  for (const std::string_view word : words) allowed.push_back(word);
  return {{"type", "string"}, {"enum", std::move(allowed)}};
}

Json ObjectName(const KeyInfo& key) { return Reference(DescribeObject(*key.object).name); }

Json MetricsObject() {
  Json metrics = {{"type", "object"}, {"additionalProperties", false}};
  for (const Metric metric : AllOf<Metric>()) {
    metrics["properties"][std::string(WordOf(metric))] =
        Reference(IsTime(metric) ? "time_bound" : "count_bound");
  }
  return metrics;
}

// The columns of all protocols, since a schema cannot tell which protocol the scenario names.
Json RowObject() {
  Json row = {{"type", "object"}, {"additionalProperties", false}};
  for (const ProtocolInfo& protocol : Protocols()) {
    for (const ColumnInfo& column : protocol.columns) {
      const std::string type = column.type == Type::kInt64 ? "integer" : "string";
      const Json types = column.key ? Json(type) : Json::array({type, "null"});
      row["properties"][std::string(column.name)] = Json{{"type", types}};
    }
  }
  return row;
}

Json FormOf(const KeyInfo& key) {
  switch (key.form) {
    case Form::kText:
      return {{"type", "string"}, {"minLength", 1}};
    case Form::kName:
      return Reference("name");
    case Form::kNewName:
      return Reference("node_name");
    case Form::kNames:
      return ArrayOf(Reference("name"), 1, true);
    case Form::kBoolean:
      return {{"type", "boolean"}};
    case Form::kInteger: {
      Json integer = {{"type", "integer"}, {"minimum", key.min}};
      if (key.max != KeyInfo().max) integer["maximum"] = key.max;
      return integer;
    }
    case Form::kDuration:
      return Reference("duration");
    case Form::kPositiveDuration:
      return Reference("positive_duration");
    case Form::kSignedDuration:
      return Reference("signed_duration");
    case Form::kStart:
      return AnyOf(Reference("duration"), {{"const", "never"}});
    case Form::kWord:
      return OneOf(key.words);
    case Form::kWords:
      return ArrayOf(OneOf(key.words), 0, true);
    case Form::kObject:
      return ObjectName(key);
    case Form::kObjects:
      return ArrayOf(ObjectName(key), 0, false);
    case Form::kDelay:
      return AnyOf(Reference("positive_duration"), ObjectName(key));
    case Form::kNodes:
      return ArrayOf(AnyOf(Reference("node_name"), ObjectName(key)), 1, false);
    case Form::kRows:
      return ArrayOf(RowObject(), 0, false);
    case Form::kMetrics:
      return MetricsObject();
    case Form::kLimit:
      return AnyOf(Reference("count"), Reference("duration"));
    case Form::kParameters:
      return {{"type", "object"}};
  }
  return {};
}

Json ObjectSchema(const ObjectInfo& info) {
  Json schema = {{"type", "object"}, {"additionalProperties", false}};
  schema["patternProperties"][Cat("^", kCommentPrefix)] = {{"type", "string"},
                                                           {"description", "a comment"}};
  Json required = Json::array();
  for (const KeyInfo& key : info.keys) {
    Json property = {{"description", key.about}};
    property.update(FormOf(key));
    if (!key.otherwise.empty()) property["default"] = Json::parse(key.otherwise);
    schema["properties"][std::string(key.name)] = std::move(property);
    if (key.required) required.push_back(key.name);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  if (!info.example.empty()) schema["examples"] = Json::array({Json::parse(info.example)});
  return schema;
}

// One rule for each kind of fault: the keys that it needs, and those that it does not take.
Json FaultRules() {
  Json rules = Json::array();
  for (const FaultInfo& fault : Faults()) {
    Json then = Json::object();
    then["description"] = fault.about;
    for (const FaultKey& own : fault.keys) {
      if (own.key.required) then["required"].push_back(own.key.name);
    }
    for (const std::string_view key : FaultKeys()) {
      if (!fault.Takes(key)) then["properties"][std::string(key)] = false;
    }
    if (!fault.has_node) {
      for (const char* key : {"node", "stagger"}) then["properties"][key] = false;
    }
    Json is_it = {{"properties", {{"do", {{"const", fault.word}}}}},
                  {"required", Json::array({"do"})}};
    rules.push_back({{"if", std::move(is_it)}, {"then", std::move(then)}});
  }
  return rules;
}

// A number, or an object of bounds; `limit` is the schema of each bound.
Json BoundOf(std::string_view limit) {
  Json object = {{"type", "object"}, {"additionalProperties", false}, {"minProperties", 1}};
  for (const KeyInfo& key : DescribeObject(ObjectId::kBound).keys) {
    Json property = {{"description", key.about}};
    property.update(Reference(limit));
    object["properties"][std::string(key.name)] = std::move(property);
  }
  return AnyOf(Reference(limit), std::move(object));
}

Json DurationOf(std::string_view pattern, std::string_view about) {
  return {{"type", "string"}, {"pattern", pattern}, {"description", about}};
}

void AddDurations(Json& defs) {
  static constexpr std::string_view kNumber = "[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h)$";
  defs["duration"] =
      DurationOf(Cat("^", kNumber), "a number and a unit, such as \"200ms\" or \"1.5s\"");
  defs["positive_duration"] =
      DurationOf(Cat("^(?=.*[1-9])", kNumber), "a duration of more than 0s, such as \"200ms\"");
  defs["signed_duration"] =
      DurationOf(Cat("^-?", kNumber), "a duration that may be negative, such as \"-2ms\"");
}

void AddValues(Json& defs) {
  const Json name = {{"type", "string"}, {"minLength", 1}, {"maxLength", kMaxNameBytes}};
  defs["name"] = name;
  defs["node_name"] = name;
  defs["node_name"]["pattern"] = "^[^*]*$";
  AddDurations(defs);
  defs["count"] = {{"type", "integer"}, {"minimum", 0}};
  defs["count_bound"] = BoundOf("count");
  defs["time_bound"] = BoundOf("duration");
}

void AddObjects(Json& defs, std::initializer_list<ObjectId> ids) {
  for (const ObjectId id : ids) {
    const ObjectInfo& info = DescribeObject(id);
    defs[std::string(info.name)] = ObjectSchema(info);
  }
}

// What each kind of a rule needs, and what it does not take.
Json KindRules() {
  Json kinds = Json::array();
  for (const FaultKind kind : KindsOfRules()) {
    const FaultInfo& info = InfoOf(kind);
    Json then = {{"description", info.of_calls}};
    for (const std::string_view key : RuleKeys()) {
      if (!RuleTakes(kind, key)) then["properties"][std::string(key)] = false;
      if (RuleNeeds(kind, key)) then["required"].push_back(key);
    }
    kinds.push_back(
        {{"if", {{"properties", {{"do", {{"const", info.word}}}}}}}, {"then", std::move(then)}});
  }
  return kinds;
}

constexpr std::string_view kDialect = "https://json-schema.org/draft/2020-12/schema";

}  // namespace

std::string RulesSchema() {
  Json schema = {{"$schema", kDialect},
                 {"title", "whorl rules"},
                 {"description", "Faults for the calls of any program."}};
  schema.update(ObjectSchema(DescribeObject(ObjectId::kRules)));
  Json& defs = schema["$defs"];
  AddObjects(defs, {ObjectId::kRule, ObjectId::kMatch, ObjectId::kDelay});
  defs["rule"]["allOf"] = KindRules();
  AddDurations(defs);
  return schema.dump(2) + "\n";
}

std::string ScenarioSchema() {
  Json schema = {
      {"$schema", kDialect},
      {"title", "whorl scenario"},
      {"description", "What decides a run of whorl, and what its author expects of it."}};
  schema.update(ObjectSchema(DescribeObject(ObjectId::kScenario)));
  Json& defs = schema["$defs"];
  AddObjects(defs, {ObjectId::kNode, ObjectId::kClock, ObjectId::kSpanner, ObjectId::kTrueTime,
                    ObjectId::kNetwork, ObjectId::kWorkload, ObjectId::kFault, ObjectId::kWhen,
                    ObjectId::kDelay, ObjectId::kChoice, ObjectId::kBranch, ObjectId::kExpect});
  defs["fault"]["oneOf"] =
      Json::array({{{"required", Json::array({"at"})}}, {{"required", Json::array({"when"})}}});
  defs["fault"]["allOf"] = FaultRules();
  for (const FaultInfo& fault : Faults()) {
    defs["fault"]["examples"].push_back(Json::parse(fault.example));
  }
  AddValues(defs);
  return schema.dump(2) + "\n";
}

}  // namespace whorl::sim
