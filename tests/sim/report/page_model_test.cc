// The data of a page says what the run's observations say: a person who reads the page must not be
// told another story than a person who reads the trace.
#include "sim/report/page_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/report/explain.h"
#include "sim/scenario/loader.h"
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

class PageModelTest : public testing::Test {
 protected:
  const Made made_ = PageOf(Paused());
};

TEST_F(PageModelTest, EveryObservationIsAnEventAtItsTime) {
  const std::vector<int64_t> at = made_.reader.Ints("events", "at");
  ASSERT_EQ(at.size(), made_.witness.observations.size());
  for (size_t i = 0; i < at.size(); ++i) EXPECT_EQ(at[i], made_.witness.observations[i].at.ns);
}

TEST_F(PageModelTest, SpansBeginAndEndWithTheirObservations) {
  const std::vector<int64_t> kind = made_.reader.Ints("spans", "kind");
  const std::vector<int64_t> from = made_.reader.Ints("spans", "from");
  const std::vector<int64_t> to = made_.reader.Ints("spans", "to");
  const auto what = [this](int64_t ordinal) -> const ObservedEvent& {
    return made_.witness.observations.at(static_cast<size_t>(ordinal - 1)).what;
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

TEST_F(PageModelTest, CallsJoinWhatWasSentServedAndEnded) {
  const std::vector<int64_t> sent = made_.reader.Ints("calls", "sent");
  const std::vector<int64_t> served = made_.reader.Ints("calls", "served");
  const std::vector<int64_t> ended = made_.reader.Ints("calls", "ended");
  EXPECT_EQ(sent.size(), made_.witness.When<CallSent>().size());
  ASSERT_GT(sent.size(), 10U);
  const auto name_of = [this](int64_t ordinal) {
    CallName name;
    std::visit(
        [&name](const auto& x) {
          if constexpr (requires { x.call; }) name = x.call;
        },
        made_.witness.observations.at(static_cast<size_t>(ordinal - 1)).what);
    return name;
  };
  for (size_t i = 0; i < sent.size(); ++i) {
    for (const int64_t distance : {served[i], ended[i]}) {
      if (distance == 0) continue;
      EXPECT_EQ(name_of(sent[i] + distance), name_of(sent[i]));
    }
  }
}

TEST_F(PageModelTest, ViolationsAreThoseOfTheReport) {
  const CheckReport& checks = made_.witness.result.checks;
  const std::vector<int64_t> event = made_.reader.Ints("violations", "event");
  const std::vector<int64_t> invariant = made_.reader.Ints("violations", "invariant");
  ASSERT_TRUE(checks[Invariant::kSingleLeaderBelief].first.has_value());
  for (const InvariantResult& of : checks.invariants) {
    const auto first = std::ranges::find(invariant, static_cast<int64_t>(of.invariant));
    ASSERT_EQ(first != invariant.end(), of.first.has_value()) << WordOf(of.invariant);
    if (!of.first.has_value()) continue;
    EXPECT_EQ(event[static_cast<size_t>(first - invariant.begin())],
              static_cast<int64_t>(of.first->observation));
  }
  EXPECT_THAT(made_.head["story"]["head"].get<std::string>(), HasSubstr("violated at"));
}

// The head's table says of each invariant what was promised; a page without them would ask the reader to know.
TEST_F(PageModelTest, EachInvariantSaysWhatWasPromisedAndExpected) {
  const Json& invariants = made_.head["result"]["invariants"];
  const Json& belief = invariants[static_cast<size_t>(Invariant::kSingleLeaderBelief)];
  EXPECT_EQ(belief["promised"], "not promised");
  EXPECT_EQ(belief["expects"], "");
  EXPECT_EQ(invariants[static_cast<size_t>(Invariant::kOneLiveToken)]["promised"], "promised");
}

TEST(PageModel, TheHeadlineNamesTheStaleWriteAndItsEvent) {
  const auto scenario = LoadScenario(WHORL_SOURCE_DIR "/scenarios/gc_pause_stale_token.json");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  const Json head = PageOf(*scenario).head;
  EXPECT_EQ(head["headline"]["text"],
            "At 35.010 s a wrote although b held the lock: the resource that checks tokens refused "
            "it, the one that does not check them accepted it.");
  EXPECT_THAT(head["events_of"]["stale_write_accepted"], Contains(head["headline"]["event"]));
  EXPECT_EQ(head["result"]["invariants"][static_cast<size_t>(Invariant::kSingleWorker)]["expects"],
            "violated");
}

// A lock's row as the checkers see it: that b took it over is on the page.
TEST_F(PageModelTest, VersionsNameTheHoldersInTheirOrder) {
  const std::vector<int64_t> node = made_.reader.Ints("versions", "node");
  ASSERT_FALSE(node.empty());
  EXPECT_EQ(node.front(), 0);
  EXPECT_THAT(node, Contains(1));
  EXPECT_TRUE(std::ranges::is_sorted(node));
}

}  // namespace
}  // namespace whorl::sim::page_model_test
