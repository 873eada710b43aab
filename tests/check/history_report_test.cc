// The page of a recorded history has the tables and the head of a run's page, and says of a simulated
// run what that run's own page says of it.

#include "check/history_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "check/check.h"
#include "sim/judge/run.h"
#include "sim/report/page_spans.h"
#include "sim/scenario/loader.h"
#include "tests/check/foreign_history.h"
#include "tests/check/history_lines.h"
#include "tests/sim/report/page_testing.h"

namespace whorl::check::history_report_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

HistoryReport ReportOfLines(const std::string& protocol_name, const std::vector<std::string>& lines,
                            Duration lease, Duration clock_error) {
  const ProtocolInfo& protocol = *FindProtocol(protocol_name);
  Checker checker(protocol, {.lease = lease, .clock_error = clock_error});
  History kept;
  Feed(lines, protocol, checker, kept);
  const HistoryVerdict verdict = checker.Verdict();
  const auto inferred = InferScenario(protocol, kept, checker.processes(), lease, verdict);
  if (!inferred) {
    ADD_FAILURE() << "nothing was inferred";
    return {};
  }
  return ReportOf(protocol, kept, checker.processes(), *inferred, verdict,
                  {.whorl_version = "0.0.0", .command = "x", .lease = lease});
}

sim::PageReader ReaderOf(const HistoryReport& report) {
  return sim::PageReader({.manifest = report.page.head["data"], .bytes = report.page.bytes});
}

std::vector<std::string> TextsOf(const HistoryReport& report) {
  std::vector<std::string> texts;
  for (const sim::TimelineLine& line : report.timeline) texts.push_back(line.text);
  return texts;
}

TEST(CheckHistoryReport, ShowsOfASimulatedRunWhatHappenedInIt) {
  const auto scenario = sim::LoadScenario(WHORL_SOURCE_DIR "/scenarios/gc_pause_stale_token.json");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  ForeignHistory history(*scenario, *FindProtocol(scenario->protocol), /*keeps_ids=*/false);
  sim::RunScenario(*scenario, scenario->seed, &history);
  const HistoryReport report = ReportOfLines(scenario->protocol, history.Lines({}),
                                             scenario->nodes.front().lease, Milliseconds(1));
  EXPECT_EQ(report.story.invariant, "single_worker");
  EXPECT_THAT(report.story.lines.back().text, HasSubstr("<- single_worker"));
  EXPECT_THAT(TextsOf(report),
              Contains(AllOf(HasSubstr("inferred: a#1 was silent for "), HasSubstr("(paused?)"))));
  const sim::Json& head = report.page.head;
  EXPECT_EQ(head["scenario"]["nodes"].size(), 2U);
  EXPECT_EQ(head["scenario"]["faults"].size(), 1U);
  const sim::PageReader page = ReaderOf(report);
  const std::vector<int64_t> at = page.Ints("events", "at");
  EXPECT_TRUE(std::ranges::is_sorted(at));
  // Both were up, believed and worked; a call ends after it was served, and a fault is drawn.
  EXPECT_THAT(page.Ints("spans", "kind"), testing::IsSupersetOf<int64_t>({0, 2, 3}));
  EXPECT_THAT(page.Ints("spans", "node"), testing::IsSupersetOf<int64_t>({0, 1}));
  EXPECT_EQ(page.Ints("faults", "from").size(), 1U);
  EXPECT_THAT(page.Ints("spans", "kind"), Contains(static_cast<int64_t>(sim::PageSpan::kPaused)))
      << "it is hatched as a pause is";
  EXPECT_THAT(page.Ints("calls", "served"), testing::Each(testing::Gt(0)));
  const std::vector<int64_t> leases = page.Ints("versions", "lease_until");
  EXPECT_THAT(leases, Contains(testing::Gt(0)));
  const std::vector<int64_t> violated = page.Ints("violations", "event");
  ASSERT_FALSE(violated.empty());
  EXPECT_GE(at[static_cast<size_t>(violated.front()) - 1], page.Ints("violations", "at").front());
}

// Two processes, of which the first is silent for longer than its lease.
std::vector<std::string> TwoAtWork() {
  return {
      R"({"event":"started","id":"a","lock":"l","logs":"leads works","time":"2026-01-01T00:00:01Z","n":1})",
      R"({"event":"works","id":"a","lock":"l","time":"2026-01-01T00:00:02Z","n":2})",
      R"({"event":"started","id":"b","lock":"l","logs":"leads works","time":"2026-01-01T00:00:03Z","n":1})",
      R"({"event":"works","id":"b","lock":"l","time":"2026-01-01T00:00:20Z","n":2})",
      R"({"event":"rests","id":"a","lock":"l","time":"2026-01-01T00:00:27Z","n":3})",
      R"({"event":"rests","id":"b","lock":"l","time":"2026-01-01T00:00:30Z","n":3})"};
}

// The end of a span is drawn as the end of a process.
TEST(CheckHistoryReport, AFirstStartEndsNoProcess) {
  const HistoryReport report =
      ReportOfLines("fenced_lease", TwoAtWork(), Seconds(5), Milliseconds(1));
  const sim::PageReader page = ReaderOf(report);
  const std::vector<int64_t> kind = page.Ints("spans", "kind");
  const std::vector<int64_t> to = page.Ints("spans", "to");
  int up = 0;
  for (size_t i = 0; i < kind.size(); ++i) {
    if (kind[i] != static_cast<int64_t>(sim::PageSpan::kUp)) continue;
    ++up;
    EXPECT_EQ(to[i], 0) << "none of them ended";
  }
  EXPECT_EQ(up, 2);
}

TEST(CheckHistoryReport, AViolationIsAnEventAtItsTime) {
  const HistoryReport report =
      ReportOfLines("fenced_lease", TwoAtWork(), Seconds(5), Milliseconds(1));
  const sim::PageReader page = ReaderOf(report);
  const std::vector<int64_t> at = page.Ints("events", "at");
  const std::vector<int64_t> events = page.Ints("violations", "event");
  const std::vector<int64_t> times = page.Ints("violations", "at");
  ASSERT_FALSE(events.empty());
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(at[static_cast<size_t>(events[i]) - 1], times[i]);
  }
  EXPECT_THAT(page.Texts("violated", "invariant"), Contains("\"single_worker\""));
}

TEST(CheckHistoryReport, TheHeadlineIsOnePlainVerdict) {
  const HistoryReport two = ReportOfLines("fenced_lease", TwoAtWork(), Seconds(5), Milliseconds(1));
  EXPECT_THAT(two.page.head["headline"]["text"].get<std::string>(),
              testing::StartsWith("Two workers side by side for at least 6.99"));
  EXPECT_EQ(two.page.head["headline"]["tone"], "bad");
  const HistoryReport one = ReportOfLines(
      "fenced_lease",
      {R"({"event":"leads","id":"a","lock":"l","time":"2026-01-01T00:00:01Z","left":"3s"})"},
      Seconds(5), Milliseconds(1));
  EXPECT_NE(one.page.head["headline"]["tone"], "bad");
}

TEST(CheckHistoryReport, ABeliefEndsWhenItLapses) {
  const HistoryReport report = ReportOfLines(
      "fenced_lease",
      {R"({"event":"leads","id":"a","lock":"l","time":"2026-01-01T00:00:01Z","left":"3s"})",
       R"({"event":"leads","id":"a","lock":"l","time":"2026-01-01T00:00:02Z","left":"3s"})",
       R"({"event":"lost","id":"a","lock":"l","time":"2026-01-01T00:00:09Z"})"},
      Seconds(40), Milliseconds(1));  // so that its silence is no fault
  ASSERT_EQ(report.timeline.size(), 2U);
  EXPECT_EQ(report.timeline[1].text, "its belief lapsed");
  EXPECT_EQ(report.timeline[1].at.ns - report.timeline[0].at.ns, Seconds(4).ns);
  EXPECT_THAT(ReaderOf(report).Ints("spans", "kind"), testing::UnorderedElementsAre(0, 2));
}

TEST(CheckHistoryReport, WithoutAViolationThereIsNoStory) {
  const HistoryReport report = ReportOfLines(
      "fenced_lease",
      {R"({"event":"leads","id":"a","lock":"</script>","time":"2026-01-01T00:00:01Z"})",
       R"({"event":"write","id":"db","lock":"</script>","time":"2026-01-01T00:00:02Z","token":"7"})"},
      Seconds(5), Milliseconds(1));
  EXPECT_EQ(report.story.invariant, "");
  EXPECT_EQ(report.page.head["scenario"]["locks"][0], "</script>");
  EXPECT_THAT(ReaderOf(report).Texts("write_arrived", "token"), testing::ElementsAre("\"7\""));
  EXPECT_THAT(ReaderOf(report).Texts("write_arrived", "resource"), testing::ElementsAre("\"db\""));
}

}  // namespace
}  // namespace whorl::check::history_report_test
