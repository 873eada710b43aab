// The loader, its description and the schema for editors say the same.
#include "sim/scenario/schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/language.h"

namespace whorl::sim::scenario_schema_test {
namespace {

using nlohmann::json;

// Where the object is described: in the schema of scenarios, or in that of files of rules.
json SchemaOf(ObjectId id) {
  const json schema = json::parse(id >= ObjectId::kRules ? RulesSchema() : ScenarioSchema());
  if (id == ObjectId::kScenario || id == ObjectId::kRules) return schema;
  return schema.at("$defs").at(std::string(DescribeObject(id).name));
}

TEST(ScenarioSchema, IsTheFileThatEditorsRead) {
  // WHORL_UPDATE_GOLDEN=1 in the environment writes the files anew.
  for (const auto& [name, schema] : {std::pair("schema.json", ScenarioSchema()),
                                     std::pair("rules.schema.json", RulesSchema())}) {
    const std::filesystem::path path = std::filesystem::path(WHORL_SOURCE_DIR "/scenarios") / name;
    if (std::getenv("WHORL_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << schema;
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(text, schema);
  }
}

TEST(ScenarioSchema, HasTheKeysAndTheWordsOfTheLoader) {
  // What the loader takes, an editor offers, and the other way round.
  for (size_t i = 0; i < kCountOf<ObjectId>; ++i) {
    const auto id = static_cast<ObjectId>(i);
    if (id == ObjectId::kBound) continue;  // stands there twice
    const ObjectInfo& info = DescribeObject(id);
    const json object = SchemaOf(id);
    EXPECT_EQ(object.at("additionalProperties"), false) << info.name;
    EXPECT_EQ(object.at("properties").size(), info.keys.size()) << info.name;
    std::vector<std::string> required;
    for (const KeyInfo& key : info.keys) {
      const json& property = object.at("properties").at(std::string(key.name));
      EXPECT_EQ(property.at("description"), key.about);
      if (key.form == Form::kWord) {
        EXPECT_EQ(property.at("enum"), json(key.words)) << key.name;
      }
      if (key.form == Form::kWords) {
        EXPECT_EQ(property.at("items").at("enum"), json(key.words)) << key.name;
      }
      if (key.required) required.emplace_back(key.name);
    }
    EXPECT_EQ(object.value("required", std::vector<std::string>{}), required) << info.name;
  }
}

TEST(ScenarioSchema, RefersOnlyToWhatItDefines) {
  const json schema = json::parse(ScenarioSchema());
  const json flat = schema.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (!pointer.ends_with("/$ref")) continue;
    const auto target = value.get<std::string>();
    EXPECT_TRUE(schema.contains(json::json_pointer(target.substr(1)))) << target;
  }
}

TEST(ScenarioLanguage, DescribesEachKindOfFaultInTheOrderOfItsEnumeration) {
  int kind = 0;
  for (const FaultInfo& fault : Faults()) {
    EXPECT_EQ(fault.kind, static_cast<FaultKind>(kind++));
    EXPECT_FALSE(fault.word.empty());
  }
}

}  // namespace
}  // namespace whorl::sim::scenario_schema_test
