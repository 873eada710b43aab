// The findings' runs, whole, as text that people have read: what happened, in which order, and
// which invariant broke why. A change of behaviour shows as a difference of these files.
//
// To write them anew after a change that is meant, and to review the difference:
//   WHORL_UPDATE_GOLDEN=1 ./dev test -R Golden
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/text.h"
#include "sim/judge/run.h"
#include "sim/report/timeline.h"
#include "tests/sim/scenario_files.h"

namespace whorl::sim::golden_test {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The whole run by its rolling hash, the invariants, and the transitions.
std::string Describe(const Scenario& scenario) {
  Timeline timeline(scenario);
  const RunResult result = RunScenario(scenario, scenario.seed, &timeline);
  std::ostringstream out;
  out << scenario.name << " seed " << result.seed << " hash " << HashText(result.hash) << "\n";
  for (const InvariantResult& invariant : result.checks.invariants) {
    out << WordOf(invariant.invariant) << ": " << WordOf(invariant.verdict) << "\n";
  }
  timeline.Print(result.checks, TimelineStyle{}, out);
  return out.str();
}

class GoldenTest : public testing::TestWithParam<const char*> {};

// A checker that is silent, and a finding that breaks something else than it should, both look
// green in a summary; here the order of events itself is pinned.
TEST_P(GoldenTest, FindingHappensForTheStatedReason) {
  const std::string golden = WHORL_SOURCE_DIR "/tests/golden/" + std::string(GetParam()) + ".txt";
  const std::string now = Describe(NamedScenario(GetParam()));
  if (std::getenv("WHORL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(golden) << now;
    GTEST_SKIP() << "wrote " << golden;
  }
  EXPECT_EQ(ReadFile(golden), now) << "if this is meant, see the head of golden_test.cc";
}

INSTANTIATE_TEST_SUITE_P(Findings, GoldenTest,
                         testing::Values("s1_insert_loser_takes_over", "s2_reread_does_not_judge",
                                         "s3_dies_between_insert_and_update", "s4_token_goes_back",
                                         "s4b_late_update_takes_live_lease",
                                         "s10_partitioned_leader_is_not_told",
                                         "gc_pause_stale_token", "readme_leader_stops"),
                         [](const auto& test) { return std::string(test.param); });

// What the table of findings says each breaks, and nothing else.
struct Finding {
  const char* scenario;
  Invariant breaks;
};

class FindingTest : public testing::TestWithParam<Finding> {};

TEST_P(FindingTest, BreaksExactlyWhatIsPublishedAndKeepsOneLiveToken) {
  const Scenario scenario = NamedScenario(GetParam().scenario);
  const RunResult result = RunScenario(scenario, scenario.seed, nullptr);
  for (const InvariantResult& invariant : result.checks.invariants) {
    // Two who lead work at the same time; the metric says for how long.
    if (invariant.invariant == Invariant::kSingleWorker) continue;
    Verdict wanted = Verdict::kHolds;
    if (invariant.invariant == GetParam().breaks) wanted = Verdict::kViolated;
    if (invariant.promise == Promise::kNotApplicable) wanted = Verdict::kNotApplicable;
    EXPECT_EQ(invariant.verdict, wanted) << WordOf(invariant.invariant);
  }
  EXPECT_EQ(result.checks[Invariant::kOneLiveToken].verdict, Verdict::kHolds);
}

INSTANTIATE_TEST_SUITE_P(
    SpindleV2, FindingTest,
    testing::Values(Finding{"s1_insert_loser_takes_over", Invariant::kLeaseRespected},
                    Finding{"s2_reread_does_not_judge", Invariant::kLeaseRespected},
                    Finding{"s3_dies_between_insert_and_update", Invariant::kNoWedge},
                    Finding{"s4_token_goes_back", Invariant::kTokenMonotonic},
                    Finding{"s4b_late_update_takes_live_lease", Invariant::kLeaseRespected},
                    Finding{"s10_partitioned_leader_is_not_told", Invariant::kSingleLeaderBelief}),
    [](const auto& test) { return std::string(test.param.scenario); });

}  // namespace
}  // namespace whorl::sim::golden_test
