// Runs with a fault, written out as histories that others might have recorded: the scenario that is
// inferred from one has the same fault, and its replay the same violation.

#include "check/reproduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/history.h"
#include "check/infer.h"
#include "sim/judge/expectations.h"
#include "sim/judge/run.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/writer.h"
#include "tests/check/foreign_history.h"
#include "tests/check/history_lines.h"

namespace whorl::check::reproduce_test {
namespace {

using sim::FaultKind;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Judged {
  HistoryVerdict verdict;
  Reproduction reproduction;
};

Judged JudgeAndReproduce(const sim::Scenario& scenario, const Recording& how = {}) {
  const ProtocolInfo& protocol = *FindProtocol(scenario.protocol);
  ForeignHistory history(scenario, protocol, /*keeps_ids=*/false);
  sim::RunScenario(scenario, scenario.seed, &history);
  Checker checker(protocol, {.lease = scenario.nodes.front().lease, .clock_error = {}});
  History kept;
  Feed(history.Lines(how), protocol, checker, kept);
  Judged judged = {.verdict = checker.Verdict(), .reproduction = {}};
  auto inferred = InferScenario(protocol, kept, checker.processes(), scenario.nodes.front().lease,
                                judged.verdict);
  if (!inferred) {
    ADD_FAILURE() << "nothing was inferred";
    return judged;
  }
  judged.reproduction = Reproduce(std::move(*inferred), judged.verdict);
  return judged;
}

sim::Scenario Parsed(const std::string& text) {
  auto scenario = sim::ParseScenario(text, "history.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status();
  return scenario.ok() ? *scenario : sim::Scenario();
}

std::vector<FaultKind> KindsOf(const sim::Scenario& scenario) {
  std::vector<FaultKind> kinds;
  for (const sim::FaultSpec& fault : scenario.faults) kinds.push_back(fault.kind());
  return kinds;
}

// What is written has to be what was compared: it loads, and its replay meets its own expectations.
void ExpectReplays(const sim::Scenario& written, Invariant violated) {
  const sim::Scenario again = Parsed(sim::ScenarioText(written));
  const sim::RunResult result = sim::RunScenario(again, again.seed, nullptr);
  EXPECT_EQ(result.checks[violated].verdict, sim::Verdict::kViolated);
  EXPECT_THAT(sim::FailuresOf(again, result), testing::IsEmpty());
}

TEST(CheckReproduce, APauseWithinWorkComesBackAsAPauseThatViolatesTheSame) {
  const auto scenario = sim::LoadScenario(WHORL_SOURCE_DIR "/scenarios/gc_pause_stale_token.json");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  const Judged judged =
      JudgeAndReproduce(*scenario, {.clock_error = Milliseconds(10), .disorder = {}});
  ASSERT_EQ(judged.verdict[Invariant::kSingleWorker].verdict, Verdict::kViolated);
  const Reproduction& found = judged.reproduction;
  EXPECT_THAT(KindsOf(found.scenario), testing::ElementsAre(sim::kKindOf<sim::PauseFault>));
  const auto* pause = found.scenario.faults.front().As<sim::PauseFault>();
  ASSERT_NE(pause, nullptr);
  EXPECT_NEAR(static_cast<double>(pause->lasts.ns), static_cast<double>(Seconds(15).ns), 1e9);
  EXPECT_THAT(found.reproduced, Contains(HasSubstr("single_worker violated")));
  EXPECT_THAT(found.reproduced, Contains(HasSubstr("was held by a, b")));
  ExpectReplays(found.scenario, Invariant::kSingleWorker);
}

// Of a minute in which b starts after a.
Judged Minute(const std::string& protocol, const std::string& more = "") {
  return JudgeAndReproduce(Parsed(R"({ "version": 1, "about": "x", "lease": "5s", "seed": 3,
    "nodes": [ "a", { "name": "b", "start_at": "2s" } ], "duration": "60s", "protocol": ")" +
                                  protocol + "\"" + more + "}"));
}

TEST(CheckReproduce, ACrashComesBackWithItsRestart) {
  const Judged judged = Minute(
      "fenced_lease",
      R"(, "faults": [ { "at": "20s", "do": "crash", "node": "a", "restart_after": "15s" } ])");
  const sim::Scenario& written = judged.reproduction.scenario;
  ASSERT_THAT(KindsOf(written), testing::ElementsAre(sim::kKindOf<sim::CrashFault>));
  EXPECT_EQ(written.faults.front().As<sim::CrashFault>()->restart_after, Seconds(15));
  EXPECT_THAT(judged.reproduction.reproduced, Contains(HasSubstr("was held by a, b")));
}

TEST(CheckReproduce, LinesThatGoOnWithoutCommitsAreACut) {
  const Judged judged = Minute("fenced_lease", R"(, "workload": { "write_every": "200ms" },
    "faults": [ { "at": "20s", "do": "partition", "node": "a", "for": "12s" } ])");
  EXPECT_THAT(KindsOf(judged.reproduction.scenario), Contains(sim::kKindOf<sim::PartitionFault>));
  EXPECT_THAT(KindsOf(judged.reproduction.scenario), Not(Contains(sim::kKindOf<sim::PauseFault>)));
}

TEST(CheckReproduce, ARunWithoutFaultsHasNone) {
  const Judged judged = Minute("spindle_v2");
  EXPECT_THAT(judged.reproduction.scenario.faults, testing::IsEmpty());
  EXPECT_THAT(judged.reproduction.not_inferred, Contains(HasSubstr("calls that failed")));
}

// Of a history that fits no scenario it is said what differs.
TEST(CheckReproduce, WhatCannotBeReproducedIsSaid) {
  const ProtocolInfo& protocol = *FindProtocol("fenced_lease");
  Checker checker(protocol, {.lease = Seconds(5), .clock_error = Duration{}});
  History kept;
  Feed({Says("a", "leads", "01"), Says("b", "leads", "02"), Says("a", "lost", "03"),
        Says("b", "lost", "04")},
       protocol, checker, kept);
  const HistoryVerdict verdict = checker.Verdict();
  ASSERT_EQ(verdict[Invariant::kSingleLeaderBelief].verdict, Verdict::kViolated);
  auto inferred = InferScenario(protocol, kept, checker.processes(), Seconds(5), verdict);
  ASSERT_TRUE(inferred.has_value());
  const Reproduction found = Reproduce(std::move(*inferred), verdict);
  EXPECT_THAT(found.not_reproduced,
              Contains(HasSubstr("single_leader_belief: violated in the history")));
}

}  // namespace
}  // namespace whorl::check::reproduce_test
