// scenarios/LANGUAGE.md says what the loader does: its text is the description's, and its examples
// are accepted and do what they say.
#include "sim/scenario/guide.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/protocols.h"
#include "sim/judge/expectations.h"
#include "sim/judge/run.h"
#include "sim/scenario/language.h"
#include "sim/scenario/loader.h"

namespace whorl::sim::guide_test {
namespace {

using nlohmann::ordered_json;

// The scenario that the guide names for its examples.
ordered_json MinimalScenario() {
  return ordered_json::parse(R"({
    "version": 1, "about": "Around an example.", "protocol": "spindle_v2", "lease": "5s",
    "nodes": [ "a", { "name": "b", "start_at": "1s" }, { "name": "pod", "count": 2, "start_at": "2s" },
               { "name": "spare", "start_at": "never" } ],
    "duration": "60s"
  })");
}

absl::StatusOr<Scenario> Load(const ordered_json& scenario) {
  return ParseScenario(scenario.dump(2), "example.json");
}

// A scenario around an example of the object.
ordered_json Around(ObjectId id, const ordered_json& example) {
  ordered_json scenario = MinimalScenario();
  const auto crash = [](const ordered_json& when) {
    return ordered_json{{"when", when}, {"do", "crash"}};
  };
  switch (id) {
    case ObjectId::kScenario:
      return example;
    case ObjectId::kNode:
      scenario["nodes"] = ordered_json::array({example});
      break;
    case ObjectId::kClock:
      scenario["nodes"] = ordered_json::array({ordered_json{{"name", "a"}, {"clock", example}}});
      break;
    case ObjectId::kTrueTime:
      scenario["spanner"]["truetime"] = example;
      break;
    case ObjectId::kFault:
      scenario["faults"] = ordered_json::array({example});
      break;
    case ObjectId::kWhen:
      scenario["faults"] = ordered_json::array({crash(example)});
      break;
    case ObjectId::kDelay:
      scenario["faults"] = ordered_json::array(
          {ordered_json{{"at", "1s"}, {"do", "latency"}, {"node", "a"}, {"add", example}}});
      break;
    case ObjectId::kChoice:
      scenario["schedule"] = ordered_json::array({example});
      break;
    case ObjectId::kBranch:
      scenario["branches"] = ordered_json::array({example});
      break;
    case ObjectId::kBound:
      scenario["expect"]["metrics"]["grants"] = example;
      break;
    case ObjectId::kRules:
    case ObjectId::kRule:
    case ObjectId::kMatch:
      break;  // stand in no scenario: CallRulesTest.ExamplesOfThePageAreRead
    case ObjectId::kSpanner:
    case ObjectId::kNetwork:
    case ObjectId::kWorkload:
    case ObjectId::kExpect:
      scenario[std::string(DescribeObject(id).name)] = example;
      break;
  }
  return scenario;
}

TEST(ScenarioGuide, IsTheFileThatPeopleRead) {
  // WHORL_UPDATE_GOLDEN=1 in the environment writes the file anew.
  const std::filesystem::path path = WHORL_SOURCE_DIR "/scenarios/LANGUAGE.md";
  if (std::getenv("WHORL_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << ScenarioGuide();
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, ScenarioGuide());
}

TEST(ScenarioGuide, TellsOfEveryKeyAndEveryWord) {
  const std::string guide = ScenarioGuide();
  const auto tells = [&](std::string_view word) {
    return guide.find("`" + std::string(word) + "`") != std::string::npos;
  };
  for (const ObjectId id : AllOf<ObjectId>()) {
    for (const KeyInfo& key : DescribeObject(id).keys) {
      EXPECT_TRUE(tells(key.name)) << key.name;
      EXPECT_NE(guide.find(key.about), std::string::npos) << key.about;
      for (const std::string_view word : key.words) EXPECT_TRUE(tells(word)) << word;
    }
  }
  for (const Metric metric : AllOf<Metric>()) {
    EXPECT_TRUE(tells(WordOf(metric)));
  }
}

TEST(ScenarioGuide, EveryLinkWithinItLeadsToASection) {
  const std::string guide = ScenarioGuide();
  // As GitHub makes them: small letters, and - for a space.
  std::string anchors = "\n";
  for (size_t at = guide.find("\n#"); at != std::string::npos; at = guide.find("\n#", at + 1)) {
    const size_t start = guide.find(' ', at) + 1;
    for (const char c : guide.substr(start, guide.find('\n', start) - start)) {
      if (c == ' ') anchors += '-';
      if (c >= 'A' && c <= 'Z') anchors += static_cast<char>(c - 'A' + 'a');
      if ((c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9')) anchors += c;
    }
    anchors += '\n';
  }
  int links = 0;
  for (size_t at = guide.find("](#"); at != std::string::npos; at = guide.find("](#", at + 1)) {
    const std::string target = guide.substr(at + 3, guide.find(')', at) - at - 3);
    EXPECT_NE(anchors.find("\n" + target + "\n"), std::string::npos) << target;
    ++links;
  }
  EXPECT_GT(links, 20);
}

// An example that the loader refuses teaches mistakes.
TEST(ScenarioGuide, ItsExamplesOfObjectsAreAccepted) {
  for (const ObjectId id : AllOf<ObjectId>()) {
    const ObjectInfo& info = DescribeObject(id);
    if (info.example.empty()) {
      EXPECT_EQ(info.name, "fault") << "its kinds have the examples";
      continue;
    }
    const absl::StatusOr<Scenario> scenario = Load(Around(id, ordered_json::parse(info.example)));
    EXPECT_TRUE(scenario.ok()) << info.name << ": " << scenario.status().message();
  }
}

// It is the first one that people copy.
TEST(ScenarioGuide, ItsFirstExampleComesOutAsItExpects) {
  const absl::StatusOr<Scenario> scenario =
      ParseScenario(DescribeObject(ObjectId::kScenario).example, "example.json");
  ASSERT_TRUE(scenario.ok()) << scenario.status().message();
  const RunResult result = RunScenario(*scenario, scenario->seed, nullptr);
  for (const std::string& failure : FailuresOf(*scenario, result)) ADD_FAILURE() << failure;
}

TEST(ScenarioGuide, ItsExamplesOfFaultsAreOfTheirKindAndStrike) {
  for (const FaultInfo& fault : Faults()) {
    const ordered_json example = ordered_json::parse(fault.example);
    EXPECT_EQ(example.at("do"), fault.word);
    const absl::StatusOr<Scenario> scenario = Load(Around(ObjectId::kFault, example));
    ASSERT_TRUE(scenario.ok()) << scenario.status().message();
    const RunResult result = RunScenario(*scenario, scenario->seed, nullptr);
    EXPECT_TRUE(result.unfired_faults.empty()) << fault.example;
    // And it does something: without the fault, the run is another one.
    const absl::StatusOr<Scenario> quiet = Load(MinimalScenario());
    ASSERT_TRUE(quiet.ok());
    EXPECT_NE(result.hash, RunScenario(*quiet, quiet->seed, nullptr).hash) << fault.example;
  }
}

// The cells of the table of docs/USING.md that begins with "what the step does", by row and protocol.
std::map<std::string, std::map<std::string, std::set<std::string>>> StepsThatDoTheSame() {
  std::ifstream page(WHORL_SOURCE_DIR "/docs/USING.md");
  std::map<std::string, std::map<std::string, std::set<std::string>>> table;
  std::vector<std::string> protocols;
  const std::regex word("`([a-z_0-9]+)`");
  for (std::string line; std::getline(page, line);) {
    if (protocols.empty() && !line.starts_with("| what the step does |")) continue;
    if (!line.starts_with("|")) break;
    if (line.starts_with("|--")) continue;
    std::vector<std::string> cells;
    for (size_t begin = 1, end = 0; (end = line.find('|', begin)) != std::string::npos;
         begin = end + 1) {
      const std::string cell = line.substr(begin, end - begin);
      const size_t text = cell.find_first_not_of(' ');
      cells.push_back(text == std::string::npos
                          ? ""
                          : cell.substr(text, cell.find_last_not_of(' ') + 1 - text));
    }
    const bool is_head = protocols.empty();
    if (is_head) protocols = cells;
    for (size_t i = 1; !is_head && i < cells.size(); ++i) {
      const std::string protocol = protocols[i].substr(1, protocols[i].size() - 2);
      for (std::sregex_iterator found(cells[i].begin(), cells[i].end(), word), end; found != end;
           ++found) {
        table[cells[0]][protocol].insert(found->str(1));
      }
    }
  }
  return table;
}

// By which a scenario is carried to another protocol: a step that stands nowhere cannot be translated.
TEST(ScenarioGuide, TheTableOfStepsThatDoTheSameHasEachStepOfEachProtocol) {
  const auto table = StepsThatDoTheSame();
  ASSERT_TRUE(table.contains("renews the lease"));
  std::map<std::string, std::set<std::string>> named;
  for (const auto& [row, protocols] : table) {
    for (const auto& [protocol, steps] : protocols) {
      named[protocol].insert(steps.begin(), steps.end());
    }
  }
  for (const ProtocolInfo& info : Protocols()) {
    SCOPED_TRACE(info.name);
    const std::string protocol(info.name);
    std::set<std::string> steps = {"has_lock", "write"};
    for (const StepName step : info.steps) steps.emplace(WordOf(step));
    EXPECT_EQ(named[protocol], steps);
    EXPECT_TRUE(table.at("renews the lease")
                    .at(protocol)
                    .contains(std::string(WordOf(info.heartbeat_step.value()))));
  }
}

}  // namespace
}  // namespace whorl::sim::guide_test
