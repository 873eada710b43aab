// Finds the scenarios of the repository, for tests of all of them or of one.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/loader.h"

namespace whorl::sim {

// The files of scenarios/, except its schema.
inline std::vector<std::filesystem::path> ScenarioFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(WHORL_SOURCE_DIR "/scenarios")) {
    const bool is_scenario =
        file.path().extension() == ".json" && !file.path().stem().string().ends_with("schema");
    if (is_scenario) files.push_back(file.path());
  }
  return files;
}
inline Scenario ScenarioFile(const std::filesystem::path& path) {
  auto scenario = LoadScenario(path.string());
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return scenario.ok() ? *scenario : Scenario{};
}
inline Scenario NamedScenario(const std::string& name) {
  return ScenarioFile(WHORL_SOURCE_DIR "/scenarios/" + name + ".json");
}

}  // namespace whorl::sim
