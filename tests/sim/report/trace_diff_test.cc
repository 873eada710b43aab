// Comparing two traces: they are equal, or an event differs first, or one of them is invalid.
#include "sim/report/trace_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "sim/report/trace.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::trace_diff_test {
namespace {

using testing::HasSubstr;

const std::string kText = R"({"version": 1, "about": "a test", "protocol": "spindle_v2",
  "lease": "2s", "duration": "10s", "nodes": ["a", "b"]})";

std::string TraceOf(uint64_t seed, const std::string& version = "1.0.0") {
  const Scenario scenario = ScenarioOf(kText);
  std::ostringstream out;
  TraceWriter writer(out, scenario, seed, version);
  RunScenario(scenario, seed, &writer);
  return out.str();
}

absl::StatusOr<TraceDifference> Diff(const std::string& a, const std::string& b) {
  std::istringstream stream_a(a);
  std::istringstream stream_b(b);
  return DiffTraces({.stream = &stream_a, .name = "a.jsonl"},
                    {.stream = &stream_b, .name = "b.jsonl"});
}

std::string ErrorOf(const std::string& a, const std::string& b) {
  const auto difference = Diff(a, b);
  return difference.ok() ? "" : std::string(difference.status().message());
}

// The line of an event of a trace, changed.
std::string Changed(const std::string& trace, int event, const std::string& from,
                    const std::string& to) {
  std::istringstream in(trace);
  std::string out;
  std::string line;
  for (int n = 0; std::getline(in, line); ++n) {
    if (n == event) line.replace(line.find(from), from.size(), to);
    out += line + "\n";
  }
  return out;
}

std::string FirstLines(const std::string& trace, int lines) {
  size_t at = 0;
  for (int i = 0; i < lines; ++i) at = trace.find('\n', at) + 1;
  return trace.substr(0, at);
}

TEST(TraceDiff, ATraceIsEqualToItself) {
  const std::string trace = TraceOf(1);
  const auto difference = Diff(trace, trace);
  ASSERT_TRUE(difference.ok()) << difference.status().message();
  EXPECT_TRUE(difference->IsEqual());
  EXPECT_EQ(difference->equal_events, static_cast<uint64_t>(std::ranges::count(trace, '\n')) - 1);
}

// The one line that matters among thousands, with what led to it.
TEST(TraceDiff, NamesTheFirstEventThatDiffersWithItsFieldsAndContext) {
  const std::string trace = TraceOf(1);
  const std::string other =
      Changed(Changed(trace, 20, "\"t\":\"", "\"t\":\"9"), 30, "\"t\"", "\"T\"");
  const auto difference = Diff(trace, other);
  ASSERT_TRUE(difference.ok()) << difference.status().message();
  EXPECT_TRUE(difference->header.empty());
  EXPECT_EQ(difference->equal_events, 19U);
  ASSERT_TRUE(difference->event.has_value());
  EXPECT_EQ(difference->event->n, 20U);
  ASSERT_EQ(difference->event->before.size(), kDiffContext);
  EXPECT_THAT(difference->event->before.back(), HasSubstr("{\"n\":19,"));
  ASSERT_EQ(difference->event->fields.size(), 1U);
  EXPECT_EQ(difference->event->fields[0].field, "t");
  EXPECT_EQ(difference->event->fields[0].b,
            "9" + difference->event->fields[0].a.get<std::string>());
}

// Two seeds differ in their hash from the first event on; what matters is the first event.
TEST(TraceDiff, SeedsAndVersionsAreDifferencesOfTheHead) {
  const auto difference = Diff(TraceOf(1), TraceOf(2, "1.0.1"));
  ASSERT_TRUE(difference.ok()) << difference.status().message();
  ASSERT_EQ(difference->header.size(), 2U);
  EXPECT_EQ(difference->header[0].field, "whorl");
  EXPECT_EQ(difference->header[1].field, "seed");
  EXPECT_EQ(difference->header[1].a, "1");
  ASSERT_TRUE(difference->event.has_value());
  EXPECT_GT(difference->event->n, 1U);
}

// What was not observed shows in the hash alone.
TEST(TraceDiff, AHashThatDiffersByItselfIsToldApart) {
  const std::string trace = TraceOf(1);
  const size_t at = trace.find("\"hash\":\"", trace.find("{\"n\":7,")) + 8;
  std::string other = trace;
  other[at] = other[at] == '0' ? '1' : '0';
  const auto difference = Diff(trace, other);
  ASSERT_TRUE(difference.ok()) << difference.status().message();
  EXPECT_FALSE(difference->IsEqual());
  EXPECT_EQ(difference->hash_from, 7U);
  EXPECT_FALSE(difference->event.has_value());
}

// A file that was cut off in copying must not look like a run that ended earlier.
TEST(TraceDiff, WhatIsNoTraceIsAnErrorThatNamesTheLine) {
  const std::string trace = TraceOf(1);
  const int lines = static_cast<int>(std::ranges::count(trace, '\n'));
  EXPECT_EQ(ErrorOf(trace, ""), "b.jsonl:0: is empty, and no trace");
  EXPECT_THAT(ErrorOf("{}\n", trace), HasSubstr("a.jsonl:1: is no trace"));
  EXPECT_THAT(ErrorOf("x\n", trace), HasSubstr("a.jsonl:1: is no trace"));
  EXPECT_THAT(ErrorOf(Changed(trace, 0, "\"version\":1", "\"version\":7"), trace),
              HasSubstr("a.jsonl:1: is a trace of version 7, and this whorl reads version 1"));
  EXPECT_EQ(ErrorOf(trace, trace.substr(0, trace.size() - 5)),
            "b.jsonl:" + std::to_string(lines) + ": the last line is cut off");
  EXPECT_EQ(ErrorOf(trace, FirstLines(trace, 40)),
            "b.jsonl:40: is cut off after this line: no run_ended");
  EXPECT_EQ(ErrorOf(trace, trace + "\n"), "b.jsonl:" + std::to_string(lines + 1) + ": is empty");
  EXPECT_EQ(ErrorOf(Changed(trace, 5, "{\"n\":5", "{\"n\":6"), trace),
            "a.jsonl:6: is not event 5 of a trace");
  EXPECT_EQ(ErrorOf(Changed(trace, 5, "\"event\"", "event\""), trace), "a.jsonl:6: is not JSON");
}

// Without a limit, a line that never ends would fill the memory.
TEST(TraceDiff, ALineHasABound) {
  const std::string trace = TraceOf(1);
  const std::string endless(kMaxTraceLine + 1, 'x');
  EXPECT_THAT(ErrorOf(endless, trace), HasSubstr("a.jsonl:1: is no trace"));
  EXPECT_THAT(ErrorOf(trace.substr(0, trace.find('\n') + 1) + endless, trace),
              HasSubstr("a.jsonl:2: is too long"));
}

// Nothing is read after the first difference, so a stream that goes on for ever does no harm.
TEST(TraceDiff, ReadsNoFurtherThanTheFirstDifference) {
  const std::string trace = TraceOf(1);
  const std::string head = FirstLines(Changed(trace, 20, "\"t\":\"", "\"t\":\"9"), 21);
  const auto difference = Diff(trace, head + "garbage");
  ASSERT_TRUE(difference.ok()) << difference.status().message();
  EXPECT_EQ(difference->event->n, 20U);
}

}  // namespace
}  // namespace whorl::sim::trace_diff_test
