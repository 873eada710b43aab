// scenarios/fault_<kind>*.json: one kind of fault each, shown to make a difference. Without its
// faults of that kind such a scenario must fail, or it says nothing of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/judge/expectations.h"
#include "sim/judge/run.h"
#include "sim/scenario/language.h"
#include "sim/scenario/loader.h"

namespace whorl::sim::fault_difference_test {
namespace {

std::vector<std::string> FaultScenarios() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(WHORL_SOURCE_DIR "/scenarios")) {
    const std::string name = entry.path().stem().string();
    if (name.starts_with("fault_") && entry.path().extension() == ".json") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// fault_drop_reply_heartbeat_lost: drop_reply. The longest word that fits.
const FaultInfo* KindOf(std::string_view name) {
  const FaultInfo* kind = nullptr;
  for (const FaultInfo& info : Faults()) {
    const std::string start = "fault_" + std::string(info.word);
    if (name != start && !name.starts_with(start + "_")) continue;
    const bool longer = kind == nullptr || info.word.size() > kind->word.size();
    if (longer) kind = &info;
  }
  return kind;
}

std::vector<std::string> FailuresOfRun(const Scenario& scenario) {
  return FailuresOf(scenario, RunScenario(scenario, scenario.seed, nullptr));
}

class FaultDifferenceTest : public testing::TestWithParam<std::string> {};

TEST_P(FaultDifferenceTest, TheScenarioFailsWithoutTheFault) {
  const FaultInfo* kind = KindOf(GetParam());
  ASSERT_NE(kind, nullptr) << "the file's name names no kind of fault";
  const auto loaded =
      LoadScenario(std::string(WHORL_SOURCE_DIR "/scenarios/") + GetParam() + ".json");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(FailuresOfRun(*loaded), std::vector<std::string>{});
  Scenario without = *loaded;
  const size_t removed = std::erase_if(
      without.faults, [&](const FaultSpec& fault) { return fault.kind() == kind->kind; });
  EXPECT_GT(removed, 0u);
  EXPECT_FALSE(FailuresOfRun(without).empty());
}

INSTANTIATE_TEST_SUITE_P(Scenarios, FaultDifferenceTest, testing::ValuesIn(FaultScenarios()),
                         [](const auto& test) { return test.param; });

TEST(FaultDifference, EveryKindHasAScenario) {
  std::set<FaultKind> shown;
  for (const std::string& name : FaultScenarios()) {
    if (const FaultInfo* kind = KindOf(name)) shown.insert(kind->kind);
  }
  for (const FaultInfo& info : Faults()) {
    EXPECT_TRUE(shown.contains(info.kind)) << info.word;
  }
}

}  // namespace
}  // namespace whorl::sim::fault_difference_test
