// The data of a page says what the run's observations say: a person who reads the page must not be
// told another story than a person who reads the trace.
#include "sim/report/page_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/report/explain.h"
#include "tests/sim/report/page_testing.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::page_model_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Made {
  Witness witness;
  Json head;
  PageReader reader;
};

Made PageOf(const Scenario& scenario) {
  PageModel model(scenario);
  const RunResult result = RunScenario(scenario, scenario.seed, &model);
  PageModel::Data data =
      model.Finish(result, Explain(scenario, result), {.whorl_version = "0.0.0", .command = "x"});
  PageTables::Packed packed = {.manifest = data.head["data"], .bytes = data.bytes};
  return {.witness = Watch(scenario),
          .head = std::move(data.head),
          .reader = PageReader(std::move(packed))};
}

// a pauses as the holder, b takes over, and the unfenced belief of a lasts: a violation.
Scenario Paused() {
  return ScenarioOf(R"({"version": 1, "about": "a test", "protocol": "spindle_v2", "lease": "5s",
    "nodes": ["a", {"name": "b", "start_at": "1s"}], "duration": "40s", "seed": 4,
    "faults": [{"at": "15s", "do": "pause", "node": "a", "for": "12s"},
               {"at": "36s", "do": "crash", "node": "b"}]})");
}

TEST(PageModelTest, EveryObservationIsAnEventAtItsTime) {
  const Made made = PageOf(Paused());
  const std::vector<int64_t> at = made.reader.Ints("events", "at");
  ASSERT_EQ(at.size(), made.witness.observations.size());
  for (size_t i = 0; i < at.size(); ++i) EXPECT_EQ(at[i], made.witness.observations[i].at.ns);
}

TEST(PageModelTest, SpansBeginAndEndWithTheirObservations) {
  const Made made = PageOf(Paused());
  const std::vector<int64_t> kind = made.reader.Ints("spans", "kind");
  const std::vector<int64_t> from = made.reader.Ints("spans", "from");
  const std::vector<int64_t> to = made.reader.Ints("spans", "to");
  const auto what = [&made](int64_t ordinal) -> const ObservedEvent& {
    return made.witness.observations.at(static_cast<size_t>(ordinal - 1)).what;
  };
  int pauses = 0;
  int crashes = 0;
  for (size_t i = 0; i < kind.size(); ++i) {
    if (kind[i] == static_cast<int64_t>(PageSpan::kPaused)) {
      ++pauses;
      EXPECT_TRUE(std::holds_alternative<ProcessPaused>(what(from[i])));
      EXPECT_TRUE(std::holds_alternative<ProcessResumed>(what(to[i])));
    }
    if (kind[i] == static_cast<int64_t>(PageSpan::kUp)) {
      EXPECT_TRUE(std::holds_alternative<ProcessStarted>(what(from[i])));
      if (to[i] == 0) continue;  // a still runs
      ++crashes;
      EXPECT_TRUE(std::holds_alternative<ProcessGone>(what(to[i])));
    }
  }
  EXPECT_EQ(pauses, 1);
  EXPECT_EQ(crashes, 1);
}

TEST(PageModelTest, CallsJoinWhatWasSentServedAndEnded) {
  const Made made = PageOf(Paused());
  const std::vector<int64_t> sent = made.reader.Ints("calls", "sent");
  const std::vector<int64_t> served = made.reader.Ints("calls", "served");
  const std::vector<int64_t> ended = made.reader.Ints("calls", "ended");
  EXPECT_EQ(sent.size(), made.witness.When<CallSent>().size());
  ASSERT_GT(sent.size(), 10U);
  const auto name_of = [&made](int64_t ordinal) {
    CallName name;
    std::visit(
        [&name](const auto& x) {
          if constexpr (requires { x.call; }) name = x.call;
        },
        made.witness.observations.at(static_cast<size_t>(ordinal - 1)).what);
    return name;
  };
  for (size_t i = 0; i < sent.size(); ++i) {
    for (const int64_t distance : {served[i], ended[i]}) {
      if (distance == 0) continue;
      EXPECT_EQ(name_of(sent[i] + distance), name_of(sent[i]));
    }
  }
}

TEST(PageModelTest, ViolationsAreThoseOfTheReport) {
  const Made made = PageOf(Paused());
  const CheckReport& checks = made.witness.result.checks;
  const std::vector<int64_t> event = made.reader.Ints("violations", "event");
  const std::vector<int64_t> invariant = made.reader.Ints("violations", "invariant");
  ASSERT_TRUE(checks[Invariant::kSingleLeaderBelief].first.has_value());
  for (const InvariantResult& of : checks.invariants) {
    const auto first = std::ranges::find(invariant, static_cast<int64_t>(of.invariant));
    ASSERT_EQ(first != invariant.end(), of.first.has_value()) << WordOf(of.invariant);
    if (!of.first.has_value()) continue;
    EXPECT_EQ(event[static_cast<size_t>(first - invariant.begin())],
              static_cast<int64_t>(of.first->observation));
  }
  EXPECT_THAT(made.head["story"]["head"].get<std::string>(), HasSubstr("violated at"));
}

// A lock's row as the checkers see it: that b took it over is on the page.
TEST(PageModelTest, VersionsNameTheHoldersInTheirOrder) {
  const Made made = PageOf(Paused());
  const std::vector<int64_t> node = made.reader.Ints("versions", "node");
  ASSERT_FALSE(node.empty());
  EXPECT_EQ(node.front(), 0);
  EXPECT_THAT(node, Contains(1));
  EXPECT_TRUE(std::ranges::is_sorted(node));
}

}  // namespace
}  // namespace whorl::sim::page_model_test
