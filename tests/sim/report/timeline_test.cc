// The timeline is what a person reads to understand an incident: it must show what changed, and
// only that, on a screen of any size.

#include "sim/report/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/spindle_v2/words.h"
#include "sim/judge/run.h"
#include "sim/report/page_model.h"
#include "sim/report/sequence_diagram.h"
#include "tests/sim/judge/checkers_testing.h"
#include "tests/sim/scenario_files.h"

namespace whorl::sim::timeline_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class TimelineTest : public testing::Test {
 protected:
  // Verbs; all speak of the process that a node has now.
  void Nodes(const std::vector<std::string>& names, std::vector<std::string> locks = {"lock"}) {
    scenario_ = MakeScenario(names, std::move(locks));
    timeline_.emplace(scenario_);
  }
  void Hear(Duration at, ObservedEvent what) {
    timeline_->Hear({.at = {at.ns}, .what = std::move(what)}, ++ordinal_, 0);
  }
  void Start(Duration at, int16_t node) { Hear(at, ProcessStarted{.process = Process(node)}); }
  void Answer(Duration at, int16_t node, bool yes, uint16_t lock = 0) {
    Hear(at, QuestionAnswered{.process = Process(node), .lock = lock, .answer = {.yes = yes}});
  }
  void CommitRow(Duration at, int16_t node, std::optional<Row> before, std::optional<Row> after) {
    Hear(at, RowCommitted{.writer = Process(node),
                          .before = std::move(before),
                          .after = std::move(after),
                          .commit = Stamp(at)});
  }
  void Fail(Duration at, int16_t node, Code code) {
    Hear(at, TransactionFinished{.process = Process(node),
                                 .step = spindle_v2::steps::kTakeoverInsert,
                                 .outcome = Outcome::kAborted,
                                 .code = code});
  }
  static ProcessId Process(int16_t node) { return {.node = node, .incarnation = 1}; }
  static Row LockRow(Duration heartbeat, Duration token) {
    return {"lock", Stamp(heartbeat), Stamp(token), "w"};
  }

  std::string Printed(const TimelineStyle& style = {}) const {
    std::ostringstream out;
    timeline_->Print(checks_, style, out);
    return out.str();
  }
  // Without the head.
  std::vector<std::string> Body(const TimelineStyle& style = {}) const {
    std::vector<std::string> lines = Lines(Printed(style));
    EXPECT_GE(lines.size(), 2U);
    lines.erase(lines.begin(), lines.begin() + 2);
    return lines;
  }

  Scenario scenario_;
  std::optional<Timeline> timeline_;
  CheckReport checks_;
  uint64_t ordinal_ = 0;
};

// The picture as a whole: a change of it shows here what people will see.
TEST_F(TimelineTest, ShowsThreeNodesInColumnsOnAScreenOf100) {
  Nodes({"a", "b", "c"});
  Start({}, 0);
  Start(Seconds(1), 1);
  CommitRow(Seconds(2), 0, std::nullopt, LockRow(Seconds(2), Milliseconds(1'900)));
  Hear(Seconds(3), BeliefChanged{.process = Process(0), .believes = true});
  Hear(Seconds(4), ProcessPaused{.process = Process(0)});
  Hear(Seconds(5), ProcessGone{.process = Process(0), .crashed = true});
  EXPECT_EQ(Printed(),
            R"(           s  spanner                           a                 b                 c
              | runs   # believes that it leads   : paused   % paused, and still believes
    0.000000                                  | started
    1.000000                                  |                 | started
    2.000000  lock: token 1.900000 by a       |                 |
    3.000000                                  # believes        |
    4.000000                                  % paused          |
    5.000000                                    crashed         |
)");
}

// An hour of a healthy lock is two lines, or the one line that matters is lost.
TEST_F(TimelineTest, WhatRepeatsItselfHasNoLine) {
  Nodes({"a", "b"});
  Row row = LockRow(Seconds(1), Seconds(1));
  CommitRow(Seconds(1), 0, std::nullopt, row);
  for (int64_t second = 2; second < 100; ++second) {
    const Row beaten = LockRow(Seconds(second), Seconds(1));
    CommitRow(Seconds(second), 0, std::exchange(row, beaten), beaten);
    Answer(Seconds(second), 0, true);
    Answer(Seconds(second), 1, false);
    Fail(Seconds(second), 0, Code::kAlreadyExists);
    Hear(Seconds(second), CalledBack{.process = Process(1), .leader = false});
  }
  EXPECT_THAT(Body(), testing::ElementsAre(HasSubstr("lock: token 1.000000 by a"),
                                           HasSubstr("HasLock: yes"),
                                           HasSubstr("takeover_insert: ALREADY_EXISTS")));
}

// What a fault changed must be seen where it happened, and how much.
TEST_F(TimelineTest, FaultsSayWhatTheyChange) {
  Nodes({"a", "b"});
  const Duration ms20 = Milliseconds(20);
  scenario_.faults = {
      {.what = LatencyFault{.direction = Direction::kTo,
                            .add = {.min = ms20, .p50 = ms20, .p99 = ms20, .max = ms20}},
       .line = 9},
      {.what = AbortFault{.lasts = Seconds(9), .percent = 30}, .line = 10},
      {.node = FaultSpec::kNoNode, .what = DeleteRowFault{{.row = "lock_1"}}, .line = 11},
      {.what = ErrorFault{.lasts = Seconds(9), .percent = 30, .of_step = spindle_v2::steps::kCheck},
       .line = 12}};
  timeline_.emplace(scenario_);
  for (uint32_t fault = 0; fault < 4; ++fault) Hear(Seconds(1), FaultBegan{.fault = fault});
  Hear(Seconds(2),
       LinkChanged{.node = 0, .link = LinkState::kBlackHoled, .direction = Direction::kFrom});
  Hear(Seconds(3), SpannerAvailability{.available = false});
  Hear(Seconds(3), SpannerAvailability{.available = true});
  Hear(Seconds(4), ClockChanged{.node = 0, .error = -Seconds(3), .rate_ppm = 200});
  Hear(Seconds(4), ClockChanged{.node = 1, .error = {}, .rate_ppm = 0, .stands = true});
  Hear(Seconds(5), SpannerClocksChanged{.epsilon = Milliseconds(4),
                                        .truetime_error = Seconds(10),
                                        .current_timestamp_error = -Milliseconds(6)});
  Hear(Seconds(6), SessionLost{.process = Process(0)});
  Hear(Seconds(6), SessionCreated{.process = Process(0)});
  Hear(Seconds(7), RowCommitted{.before = LockRow(Seconds(1), Seconds(1)), .commit = Stamp({})});
  const std::string text = Printed({.width = 200});
  for (const std::string expected :
       {"fault latency +20ms to Spanner (line 9)", "fault abort 30% (line 10)",
        "fault delete_row lock_1 (line 11)", "fault error INTERNAL of check 30% (line 12)",
        "link black-holed from Spanner", " unavailable", " available",
        "wall clock -3s, rate +200 ppm", "clocks stand still",
        "TrueTime +10s +-4ms, CURRENT_TIMESTAMP -6ms", "session deleted", "new session",
        "lock: row deleted by an operator"}) {
    EXPECT_THAT(text, HasSubstr(expected));
  }
}

// Each of these is a transition that a reader needs.
TEST_F(TimelineTest, EveryChangeHasALine) {
  Nodes({"a", "b"});
  scenario_.faults = {{.node = 1, .what = PartitionFault{}, .line = 9}};
  timeline_.emplace(scenario_);
  const Row row = LockRow(Seconds(1), Seconds(1));
  Hear(Seconds(1), FaultBegan{.fault = 0});
  Hear(Seconds(1), LinkChanged{.node = 1, .link = LinkState::kRefused});
  Hear(Seconds(2), FaultEnded{.fault = 0});
  CommitRow(Seconds(3), 0, std::nullopt, Row{"lock_77", Null{}, Null{}, Null{}});
  CommitRow(Seconds(3), 0, Row{"lock_77", Null{}, Null{}, Null{}}, std::nullopt);
  CommitRow(Seconds(4), 1, row, std::nullopt);
  Fail(Seconds(5), 0, Code::kAborted);
  Fail(Seconds(5), 0, Code::kUnavailable);
  Hear(Seconds(6), WriteArrived{.process = Process(0), .fenced = true, .accepted = false});
  Hear(Seconds(7), CalledBack{.process = Process(0), .leader = true});
  Hear(Seconds(7), CalledBack{.process = Process(0), .leader = false});
  Answer(Seconds(8), 0, true);
  Answer(Seconds(8), 0, false);
  const std::string text = Printed();
  for (const std::string expected :
       {"fault partition (line 9)", "link refused", "over: partition (line 9)", "+ lock_77 by a",
        "- lock_77 by a", "lock: row deleted by b", "takeover_insert: ABORTED",
        "takeover_insert: UNAVAILABLE", "write refused", "callback 1", "callback 0", "HasLock: yes",
        "HasLock: no"}) {
    EXPECT_THAT(text, HasSubstr(expected));
  }
}

// Without the reason, a lapse that the process brought about reads like one that it suffered.
TEST_F(TimelineTest, SaysWhyABeliefLapsed) {
  Nodes({"a"});
  const auto note = [this](Duration at, NoteId what, Value value) {
    Hear(at, Noted{.process = Process(0), .note = {.note = what, .values = {std::move(value)}}});
  };
  Hear(Seconds(1), BeliefChanged{.process = Process(0), .believes = true});
  Hear(Seconds(9), BeliefChanged{.process = Process(0), .believes = false});
  note(Seconds(9), notes::kClockStoodStill, int64_t{1'500});
  note(Seconds(9), notes::kLostLock, "its lease ran out");
  note(Seconds(9), notes::kGotLock, "no news: a belief has a line");
  EXPECT_THAT(Body(), testing::ElementsAre(EndsWith("believes"), EndsWith("belief lapsed"),
                                           EndsWith("the clock stood still for 1500 ms"),
                                           EndsWith("lost the lock: its lease ran out")));
}

// A write that comes in after the belief is the harm itself; that of a leader is news once. What metrics count
// is counted here, too.
TEST_F(TimelineTest, ShowsWritesThatWereAccepted) {
  Nodes({"a"});
  const auto write = [this](Duration at, bool fenced, uint64_t token, bool accepted) {
    Hear(at, WriteArrived{
                 .process = Process(0), .fenced = fenced, .token = token, .accepted = accepted});
  };
  CommitRow({}, 0, std::nullopt, LockRow({}, {}));
  Hear(Seconds(1), BeliefChanged{.process = Process(0), .believes = true});
  for (int second = 2; second < 8; ++second) {
    write(Seconds(second), true, 7, true);
    write(Seconds(second), false, 7, true);
  }
  Hear(Seconds(8), BeliefChanged{.process = Process(0), .believes = false});
  write(Seconds(9), true, 7, true);
  write(Seconds(9), false, 7, true);
  CommitRow(Seconds(10), 0, LockRow({}, {}), std::nullopt);
  for (int second = 11; second < 14; ++second) {
    write(Seconds(second), true, 7, false);
    write(Seconds(second), false, 7, true);
  }
  write(Seconds(14), true, 7, true);
  EXPECT_THAT(
      Body({.width = 200}),
      testing::ElementsAre(EndsWith("by a"), EndsWith("believes"), EndsWith(" write accepted"),
                           EndsWith("belief lapsed"), EndsWith("late write accepted"),
                           EndsWith("late write accepted, not fenced"), HasSubstr("row deleted"),
                           EndsWith("stale write refused, 3 until 13.000000"),
                           EndsWith("stale write accepted, not fenced, 3 until 13.000000"),
                           EndsWith("stale write accepted by its token")));
}

// How many writes the texts tell of that begin so, and go on so: one, or as many as the text says.
int64_t Told(const std::vector<std::string>& texts, const std::string& what) {
  int64_t told = 0;
  for (const std::string& text : texts) {
    const size_t at = text.find(what);
    if (at == std::string::npos) continue;
    const std::string rest = text.substr(at + what.size());
    std::smatch count;
    if (rest.empty()) ++told;
    if (std::regex_match(rest, count, std::regex(", ([0-9,]+) until [0-9.]+"))) {
      std::string digits = count[1];
      std::erase(digits, ',');
      told += std::stoll(digits);
    }
  }
  return told;
}

// Four places tell of stale writes: who adds up one of them has to come to what another says.
void ExpectTheMetrics(const Scenario& scenario, const std::vector<std::string>& texts,
                      const Metrics& metrics) {
  const bool has_tokens = RulesOf(scenario.protocol).token_column.has_value();
  EXPECT_EQ(Told(texts, "stale write refused"), metrics[Metric::kStaleWriteRefused]);
  EXPECT_EQ(Told(texts, has_tokens ? "stale write accepted, not fenced" : "stale write accepted"),
            metrics[Metric::kStaleWriteAccepted]);
  EXPECT_EQ(Told(texts, "legitimate write refused"), metrics[Metric::kLegitimateWriteRefused]);
}

constexpr const char* kStaleWrites = WHORL_SOURCE_DIR "/tests/sim/report/stale_writes.json";

// A write that was sent in good time and came in after the takeover was told as any other.
TEST(StaleWrites, AreTheSameInTimelineDiagramPageAndMetrics) {
  const Scenario loaded = ScenarioFile(kStaleWrites);
  SequenceDiagram diagram(loaded);
  const RunResult result = RunScenario(loaded, loaded.seed, &diagram);
  const Metrics& metrics = result.checks.metrics;
  EXPECT_EQ(metrics[Metric::kStaleWriteRefused], 2);
  EXPECT_EQ(metrics[Metric::kStaleWriteAccepted], 2);
  ExpectTheMetrics(loaded, Lines(diagram.Text(result)), metrics);
  PageModel page(loaded);
  RunScenario(loaded, loaded.seed, &page);
  const Json events = page.Finish(result, {}, {}).head["events_of"];
  EXPECT_EQ(events["stale_write_refused"].size(), 2U);
  EXPECT_EQ(events["stale_write_accepted"].size(), 2U);
}

TEST(StaleWrites, OfEveryScenarioAddUpToItsMetrics) {
  int64_t stale = 0;
  std::vector<std::filesystem::path> paths = ScenarioFiles();
  paths.emplace_back(kStaleWrites);
  for (const std::filesystem::path& path : paths) {
    SCOPED_TRACE(path.string());
    const Scenario loaded = ScenarioFile(path);
    Timeline timeline(loaded);
    const RunResult result = RunScenario(loaded, loaded.seed, &timeline);
    if (timeline.left_out() > 0) continue;
    std::vector<std::string> texts;
    for (const TimelineLine& line : timeline.changes()) texts.push_back(line.text);
    ExpectTheMetrics(loaded, texts, result.checks.metrics);
    stale += result.checks.metrics[Metric::kStaleWriteRefused];
  }
  EXPECT_GT(stale, 20);
}

// With several locks, every text that is about one of them has to say which.
TEST_F(TimelineTest, NamesTheLockWhereThereAreSeveral) {
  Nodes({"a"}, {"mail", "orders"});
  Answer(Seconds(1), 0, true, 1);
  EXPECT_THAT(Body(), testing::ElementsAre(EndsWith("orders: HasLock: yes")));
}

// A hundred columns fit no screen: one column then, whose lines name their node.
TEST_F(TimelineTest, OneHundredNodesShareOneColumn) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("pod-" + std::to_string(i));
  Nodes(names);
  for (int16_t node = 0; node < 100; ++node) Start(Milliseconds(node), node);
  CommitRow(Seconds(2), 42, std::nullopt, LockRow(Seconds(2), Seconds(2)));
  const std::vector<std::string> lines = Body();
  ASSERT_EQ(lines.size(), 101U);
  EXPECT_EQ(lines[42], "    0.042000  pod-42  | started");
  EXPECT_EQ(lines[100], "    2.000000  spanner   lock: token 2.000000 by pod-42");
}

constexpr std::string_view kLongName = "a-node-with-a-rather-long-name-of-fifty-characters!";

// A line that the terminal breaks by itself destroys the columns of all that follows.
TEST_F(TimelineTest, NoLineIsLongerThanTheScreenAndNothingIsCutOff) {
  for (const size_t nodes : {1U, 2U, 3U, 4U, 5U, 9U, 200U}) {
    Nodes(std::vector<std::string>(nodes, std::string(kLongName)));
    for (size_t node = 0; node < nodes; ++node) {
      Start({}, static_cast<int16_t>(node));
      Fail(Seconds(1), static_cast<int16_t>(node), Code::kFailedPrecondition);
    }
    CommitRow(Seconds(2), 0, std::nullopt, LockRow(Seconds(2), Seconds(2)));
    for (const int width : {0, 60, 80, 100, 237}) {
      const std::string text = Printed({.width = width});
      for (const std::string& line : Lines(text)) {
        EXPECT_LE(line.size(), static_cast<size_t>(std::max(width, 60))) << line;
      }
      // Whatever the breaks are, all letters are there.
      std::string letters = text;
      std::erase_if(letters, [](char c) { return c == ' ' || c == '|' || c == '\n'; });
      EXPECT_THAT(letters, HasSubstr("takeover_insert:FAILED_PRECONDITION")) << text;
      EXPECT_THAT(letters, HasSubstr(std::string(kLongName))) << text;
    }
  }
}

// Colour codes in a log or a file are noise; the caller knows where the text goes.
TEST_F(TimelineTest, ColourOnlyWhenToldToAndNothingElseChanges) {
  Nodes({"a", "b"});
  Start({}, 0);
  Answer(Seconds(1), 0, true);
  const std::string plain = Printed();
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  std::string coloured = Printed({.colour = true});
  EXPECT_THAT(coloured, HasSubstr("\x1b[32mHasLock: yes\x1b[0m"));
  for (const std::string code : {"\x1b[32m", "\x1b[0m"}) {
    for (size_t at = 0; (at = coloured.find(code)) != std::string::npos;) {
      coloured.erase(at, code.size());
    }
  }
  EXPECT_EQ(coloured, plain);
}

// The violation is shown at the time at which it happened, even if it was noticed later.
TEST_F(TimelineTest, ViolationsStandWhereTheyCameAbout) {
  Nodes({"a"});
  Start(Seconds(1), 0);
  Answer(Seconds(5), 0, true);
  checks_.invariants = {
      {.invariant = Invariant::kNoWedge,
       .verdict = Verdict::kViolated,
       .violations = 1,
       .first = Violation{.at = InstantOf(Seconds(3)), .observation = 2, .text = "nobody has it"}}};
  const std::vector<std::string> lines = Body();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], "    3.000000  !! no_wedge violated: nobody has it");
}

// A process that comes back has forgotten everything, and so has what was last said of it.
TEST_F(TimelineTest, ANewLifeStartsAfresh) {
  Nodes({"a"});
  Start({}, 0);
  Answer(Seconds(1), 0, true);
  Hear(Seconds(2), ProcessGone{.process = Process(0), .crashed = true});
  const ProcessId second = {.node = 0, .incarnation = 2};
  Hear(Seconds(3), ProcessStarted{.process = second});
  Hear(Seconds(4), QuestionAnswered{.process = second, .answer = {.yes = true}});
  EXPECT_THAT(Body(), testing::ElementsAre(EndsWith("| started"), EndsWith("| HasLock: yes"),
                                           EndsWith("crashed"), EndsWith("| started, #2"),
                                           EndsWith("| HasLock: yes")));
}

// A year of a flapping lock must not fill the memory.
TEST_F(TimelineTest, LinesAreBoundedAndTheRestIsCounted) {
  Nodes({"a"});
  for (size_t i = 0; i < Timeline::kMaxLines + 1'234; ++i) {
    Answer(Milliseconds(static_cast<int64_t>(i)), 0, i % 2 == 0);
  }
  EXPECT_THAT(Printed(), EndsWith("and 1,234 more transitions, which a trace would show\n"));
}

}  // namespace
}  // namespace whorl::sim::timeline_test
