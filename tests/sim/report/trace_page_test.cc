// The page of a trace shows what the page of its run shows, as far as a trace tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "sim/report/explain.h"
#include "sim/report/trace.h"
#include "sim/report/trace_diff.h"
#include "tests/sim/report/page_testing.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::trace_page_test {
namespace {

using testing::HasSubstr;

Scenario Cut() {
  return ScenarioOf(R"({"version": 1, "about": "a test", "protocol": "fenced_lease", "lease": "5s",
    "nodes": ["a", {"name": "b", "start_at": "1s"}], "duration": "40s", "seed": 4,
    "workload": {"write_every": "200ms"},
    "faults": [{"at": "15s", "do": "partition", "node": "a", "for": "9s"},
               {"at": "20s", "do": "pause", "node": "b", "for": "2s"},
               {"at": "36s", "do": "crash", "node": "b"}]})");
}

std::string TraceOf(const Scenario& scenario) {
  std::ostringstream trace;
  TraceWriter writer(trace, scenario, scenario.seed, "0.0.0");
  RunScenario(scenario, scenario.seed, &writer);
  return trace.str();
}

absl::StatusOr<PageModel::Data> PageOf(const std::string& trace) {
  std::istringstream stream(trace);
  return PageOfTrace({.stream = &stream, .name = "x.jsonl"});
}

TEST(TracePageTest, HasTheTablesOfTheRunsPage) {
  const Scenario scenario = Cut();
  PageModel model(scenario);
  const RunResult result = RunScenario(scenario, scenario.seed, &model);
  const PageModel::Data run = model.Finish(result, Explain(scenario, result),
                                           {.whorl_version = "0.0.0", .command = "x", .on = {}});
  const absl::StatusOr<PageModel::Data> trace = PageOf(TraceOf(scenario));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->head["kinds"], run.head["kinds"]);
  const PageReader of_run({.manifest = run.head["data"], .bytes = run.bytes});
  const PageReader of_trace({.manifest = trace->head["data"], .bytes = trace->bytes});
  const std::vector<std::pair<std::string, std::string>> columns = {
      {"events", "at"},   {"events", "kind"}, {"spans", "kind"}, {"spans", "node"},
      {"spans", "from"},  {"spans", "to"},    {"calls", "sent"}, {"calls", "served"},
      {"calls", "ended"}, {"faults", "from"}, {"faults", "to"}};
  for (const auto& [table, column] : columns) {
    EXPECT_FALSE(of_run.Ints(table, column).empty()) << table << "." << column;
    EXPECT_EQ(of_trace.Ints(table, column), of_run.Ints(table, column)) << table << "." << column;
  }
  EXPECT_EQ(of_trace.Texts("call_sent", "step"), of_run.Texts("call_sent", "step"));
}

TEST(TracePageTest, RefusesWhatIsNoWholeTrace) {
  const std::string trace = TraceOf(Cut());
  EXPECT_THAT(PageOf(trace.substr(0, trace.rfind('\n', trace.size() - 2) + 1)).status().message(),
              HasSubstr("is cut off after this line"));
  EXPECT_THAT(PageOf("{}\n").status().message(), HasSubstr("x.jsonl:1: is no trace"));
  std::string timeless = trace;
  timeless.replace(timeless.find("\"t\":\"0."), 7, "\"t\":\"x.");
  EXPECT_THAT(PageOf(timeless).status().message(), HasSubstr("x.jsonl:2: has no time"));
}

}  // namespace
}  // namespace whorl::sim::trace_page_test
