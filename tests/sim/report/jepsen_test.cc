// A history goes to checkers that trust its form: an operation ends once, a process does one at a time,
// and what an application did under the lock is what the history says.
#include "sim/report/jepsen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/judge/run.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::jepsen_test {
namespace {

struct Line {
  int64_t index = 0;
  int64_t time = 0;
  std::string type;
  std::string process;
  std::string f;
  std::string value;
  std::string text;
};

struct Written {
  std::string comment;
  std::vector<Line> lines;
  RunResult result;
};

// Reads the lines strictly.
Written HistoryOf(const Scenario& scenario) {
  std::ostringstream out;
  JepsenWriter writer(out, scenario, scenario.seed, "1.2.3");
  Written run{.result = RunScenario(scenario, scenario.seed, &writer)};
  static const std::string kString = R"("([^"\\]|\\["\\nrt]|\\u[0-9a-f]{4})*")";
  static const std::string kEntry = ":[a-z-]+ (" + kString + "|:[a-z-]+|[0-9]+N|true|false)";
  static const std::regex kLine(R"(\{:index (\d+), :time (\d+), :type (:invoke|:ok|:fail|:info), )"
                                R"(:process (\d+|:nemesis), :f (:[a-z-]+), :value \{()" +
                                kEntry + "(, " + kEntry + R"()*)\}\})");
  std::istringstream text(out.str());
  std::getline(text, run.comment);
  for (std::string line; std::getline(text, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, kLine)) {
      ADD_FAILURE() << line;
      continue;
    }
    run.lines.push_back({.index = std::stoll(found[1]),
                         .time = std::stoll(found[2]),
                         .type = found[3],
                         .process = found[4],
                         .f = found[5],
                         .value = found[6],
                         .text = line});
  }
  return run;
}

void ExpectWellFormed(const Written& run) {
  std::map<std::string, std::string> open;  // f by process
  std::set<std::string> ended;              // processes of unknown outcomes
  int64_t time = 0;
  for (size_t i = 0; i < run.lines.size(); ++i) {
    const Line& line = run.lines[i];
    ASSERT_EQ(line.index, static_cast<int64_t>(i)) << line.text;
    ASSERT_GE(line.time, time) << line.text;
    time = line.time;
    if (line.process == ":nemesis") continue;
    if (line.type == ":invoke") {
      ASSERT_FALSE(open.contains(line.process)) << line.text;
      ASSERT_FALSE(ended.contains(line.process)) << line.text;
      open[line.process] = line.f;
      continue;
    }
    ASSERT_TRUE(open.contains(line.process)) << line.text;
    ASSERT_EQ(open[line.process], line.f) << line.text;
    open.erase(line.process);
    if (line.type == ":info") ended.insert(line.process);
  }
}

// Whether no client acquires a lock while another one has it.
bool IsAMutex(const Written& run) {
  std::set<std::string> holders;
  for (const Line& line : run.lines) {
    if (line.type != ":ok") continue;
    if (line.f == ":acquire") holders.insert(line.value);
    if (line.f == ":release") holders.erase(line.value);
    if (holders.size() > 1) return false;
  }
  return true;
}

size_t Count(const Written& run, const std::string& type, const std::string& f) {
  size_t count = 0;
  for (const Line& line : run.lines) count += line.type == type && line.f == f ? 1 : 0;
  return count;
}

constexpr char kCrash[] = R"({"version": 1, "about": "a test", "protocol": "fenced_lease",
  "lease": "5s", "nodes": ["a \"b\"\\", {"name": "}{", "start_at": "2s"}], "duration": "60s",
  "seed": 4, "faults": [{"at": "10s", "do": "crash", "node": "leader", "restart_after": "1s"},
                        {"at": "40s", "do": "stop", "node": "leader"}]})";

TEST(JepsenTest, AnOverlapOfBeliefsIsAMutexThatTwoHold) {
  const Written run = HistoryOf(ScenarioOf(kStaleTokenByAPause));
  ExpectWellFormed(run);
  EXPECT_THAT(run.comment, testing::MatchesRegex("; whorl 1.2.3: scenario .*, spindle_v2, seed 4"));
  EXPECT_EQ(run.result.checks[Invariant::kSingleLeaderBelief].verdict, Verdict::kViolated);
  EXPECT_FALSE(IsAMutex(run));
  EXPECT_EQ(Count(run, ":fail", ":write"),
            static_cast<size_t>(run.result.checks.metrics[Metric::kStaleWriteRefused]));
  EXPECT_EQ(Count(run, ":info", ":begin"), 1U);
}

TEST(JepsenTest, WhatACrashedProcessHadBegunIsOfUnknownOutcome) {
  const Written run = HistoryOf(ScenarioOf(kCrash));
  ExpectWellFormed(run);
  EXPECT_EQ(run.result.checks[Invariant::kSingleLeaderBelief].verdict, Verdict::kHolds);
  EXPECT_TRUE(IsAMutex(run));
  EXPECT_GE(Count(run, ":ok", ":acquire"), 2U);
  EXPECT_GE(Count(run, ":info", ":acquire") + Count(run, ":info", ":has-lock"), 1U);
  EXPECT_EQ(Count(run, ":ok", ":release"), Count(run, ":invoke", ":release"));
}

}  // namespace
}  // namespace whorl::sim::jepsen_test
