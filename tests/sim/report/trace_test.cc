// Traces are compared byte for byte, over compilers and years, and read by scripts: what a line
// looks like is a promise.

#include "sim/report/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "protocol/spindle_v2/words.h"
#include "sim/judge/run.h"
#include "sim/report/determinism.h"
#include "sim/scenario/names.h"
#include "tests/sim/judge/checkers_testing.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::trace_test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

const ProcessId kA1 = {.node = 0, .incarnation = 1};

Scenario TwoNodes() {
  Scenario scenario = MakeScenario({"a", "b"});
  scenario.name = "crafted";
  scenario.path = "some/where/crafted.json";
  return scenario;
}

std::string LineOf(ObservedEvent what, Duration at = Milliseconds(1'500)) {
  const JsonPrinter printer(NamesOf(TwoNodes()));
  return TraceLine(printer, {.at = {at.ns}, .what = std::move(what)}, 7, 0xabc);
}

Scenario WithAFault() {
  return ScenarioOf(R"({
    "version": 1, "about": "a crashes.", "protocol": "spindle_v2", "lease": "2s", "seed": 11,
    "nodes": ["a", "b"], "duration": "30s",
    "faults": [ { "at": "8s", "do": "crash", "node": "a", "restart_after": "5s" } ]
  })");
}

std::string TraceOf(const Scenario& scenario, uint64_t seed) {
  std::ostringstream out;
  TraceWriter writer(out, scenario, seed, "1.2.3");
  RunScenario(scenario, seed, &writer);
  return out.str();
}

// --- the form of a line ------------------------------------------------------------------------

// A reader that knows these lines must be able to rely on them.
TEST(TraceTest, ALineNamesTimeHashEventAndFields) {
  EXPECT_EQ(LineOf(ProcessStarted{.process = kA1}),
            R"({"n":7,"t":"1.500000000","hash":"0000000000000abc","event":"process_started",)"
            R"("process":"a#1"})");
  EXPECT_EQ(LineOf(LinkChanged{.node = 1, .link = LinkState::kBlackHoled}, Nanoseconds(1)),
            R"({"n":7,"t":"0.000000001","hash":"0000000000000abc","event":"link_changed",)"
            R"("node":"b","link":"black_holed","direction":"both"})");
  EXPECT_EQ(LineOf(TransactionFinished{.process = kA1,
                                       .request = 3,
                                       .step = spindle_v2::steps::kTakeoverInsert,
                                       .outcome = Outcome::kAborted,
                                       .code = Code::kAlreadyExists}),
            R"({"n":7,"t":"1.500000000","hash":"0000000000000abc",)"
            R"("event":"transaction_finished","process":"a#1","lock":"lock","request":3,)"
            R"("step":"takeover_insert","outcome":"aborted","code":"ALREADY_EXISTS"})");
}

// The kind of a call is a number in an observation; nobody should have to look it up.
TEST(TraceTest, CallsAreNamedByContentAndKind) {
  const CallName call = {.process = kA1, .request = 2, .generation = 1, .attempt = 4, .call = 5};
  EXPECT_THAT(LineOf(CallSent{.call = call, .step = spindle_v2::steps::kCheck, .request = 2}),
              HasSubstr(R"("call":{"process":"a#1","lock":"lock","request":2,"generation":1,)"
                        R"("attempt":4,"call":5},"step":"check","request":"Commit"})"));
}

// A row without its columns' names can only be read beside the schema. INT64 and tokens are
// strings, because readers that know only doubles would round them.
TEST(TraceTest, RowsAreObjectsOfTheirColumns) {
  const Timestamp commit = kStartTime + Milliseconds(1);
  EXPECT_THAT(LineOf(RowCommitted{.writer = kA1,
                                  .step = spindle_v2::steps::kFirstInsert,
                                  .before = std::nullopt,
                                  .after = Row{"lock", commit, Null{}, "w"},
                                  .commit = commit}),
              HasSubstr(R"("before":null,"after":{"name":"lock",)"
                        R"("heartbeat":"2026-01-01T00:00:00.001Z","token":null,"writer":"w"},)"
                        R"("commit":"2026-01-01T00:00:00.001Z"})"));
  EXPECT_THAT(LineOf(WriteSent{.process = kA1, .fenced = true, .token = ~uint64_t{0}}),
              HasSubstr(R"("fenced":true,"token":"18446744073709551615"})"));
}

// Spanner's JSON for columns: exact, and the same from every compiler.
TEST(TraceTest, ValuesArePrintedAsSpannersJson) {
  EXPECT_EQ(ValueJson(Null{}), nullptr);
  EXPECT_EQ(ValueJson(true), true);
  EXPECT_EQ(ValueJson(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(DumpJson(ValueJson(Float64(0.1))), "0.1");
  EXPECT_EQ(ValueJson(Float64(std::numeric_limits<double>::quiet_NaN())), "NaN");
  EXPECT_EQ(ValueJson(Float64(-std::numeric_limits<double>::infinity())), "-Infinity");
  EXPECT_EQ(ValueJson(Bytes{.data = std::string("\x00\xff", 2)}), "AP8=");
}

// Spanner's ids are bytes of its own: raw, they would break a line or a terminal.
TEST(TraceTest, TransactionIdsAreHex) {
  const JsonPrinter printer(NamesOf(TwoNodes()));
  EXPECT_EQ(printer.Print("", Request(Commit{.transaction = "\x01\xfe"}))["transaction"], "01fe");
  EXPECT_EQ(printer.Print("transaction", TransactionSelector(TransactionId("\x0a"))), "0a");
}

// A row may hold any bytes; a trace stays one line of valid JSON.
TEST(TraceTest, ALineStaysOneLineOfJsonWhateverARowHolds) {
  const std::string line =
      LineOf(RowCommitted{.after = Row{"a\nb\xff\"\x1b", Null{}, Null{}, Null{}}});
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  EXPECT_TRUE(Json::accept(line)) << line;
}

template <size_t... I>
std::vector<std::string> AllEventNames(std::index_sequence<I...>) {
  return {std::string(ObservedEventText(ObservedEvent(std::in_place_index<I>)))...};
}

// Scripts select lines by `event`, so two kinds of events must not have one name.
TEST(TraceTest, EveryEventHasAWordOfItsOwn) {
  const auto names = AllEventNames(std::make_index_sequence<std::variant_size_v<ObservedEvent>>());
  for (const std::string& name : names) EXPECT_THAT(name, MatchesRegex("[a-z_]+"));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

// The first line says what the rest is of; a path or a host in it would differ between machines.
TEST(TraceTest, TheHeaderNamesTheRunAndNoPlace) {
  std::ostringstream out;
  TraceWriter(out, TwoNodes(), ~uint64_t{0}, "1.2.3");
  EXPECT_EQ(out.str(),
            R"({"format":"whorl-trace","version":1,"whorl":"1.2.3","scenario":"crafted",)"
            R"("protocol":"spindle_v2","seed":"18446744073709551615",)"
            R"("start":"2026-01-01T00:00:00Z","nodes":["a","b"],"locks":["lock"]})"
            "\n");
}

// --- traces of runs ----------------------------------------------------------------------------

// Rule 5 of the house: a run is its inputs.
TEST(TraceTest, TwoRunsOfOneSeedAreTheSameBytes) {
  const Scenario scenario = WithAFault();
  const std::string trace = TraceOf(scenario, 11);
  EXPECT_EQ(trace, TraceOf(scenario, 11));
  EXPECT_NE(trace, TraceOf(scenario, 12));
  EXPECT_THAT(trace, HasSubstr(R"("event":"process_gone","process":"a#1","crashed":true})"));
  EXPECT_THAT(trace, HasSubstr(R"("event":"process_started","process":"a#2"})"));
}

// The last hash of a trace is the run's: comparing hashes is comparing traces.
TEST(TraceTest, ListeningChangesNothingAndTheLastHashIsTheRuns) {
  const Scenario scenario = WithAFault();
  const RunResult unheard = RunScenario(scenario, 11, nullptr);
  std::ostringstream out;
  TraceWriter writer(out, scenario, 11, "1.2.3");
  EXPECT_EQ(RunScenario(scenario, 11, &writer), unheard);
  const std::string last = "\"hash\":\"" + HashText(unheard.hash) + "\",\"event\":\"run_ended\"}\n";
  EXPECT_TRUE(out.str().ends_with(last)) << last;
}

// --- finding a difference ----------------------------------------------------------------------

Observation At(int64_t ns) { return {.at = {ns}, .what = ProcessStarted{.process = kA1}}; }

class ComparisonTest : public testing::Test {
 protected:
  // Compares a second run with a first of hashes 1, 2, 3.
  std::optional<Difference> Compare(const std::vector<uint64_t>& second, bool results_equal) {
    Recording recording;
    for (uint64_t i = 1; i <= 3; ++i) recording.Hear(At(static_cast<int64_t>(i)), i, i);
    Comparison comparison(recording, scenario_);
    for (uint64_t i = 1; i <= second.size(); ++i) {
      comparison.Hear(At(static_cast<int64_t>(10 * i)), i, second[i - 1]);
    }
    return comparison.Finish(results_equal);
  }
  const Scenario scenario_ = TwoNodes();
};

// An alarm without a difference, or none with one, would make the check useless.
TEST_F(ComparisonTest, EqualRunsHaveNoDifference) {
  EXPECT_EQ(Compare({1, 2, 3}, true), std::nullopt);
}

// Where two runs part is where the back door to chance is; both sides show what came through it.
TEST_F(ComparisonTest, NamesTheFirstObservationThatDiffersWithBothSides) {
  const auto difference = Compare({1, 9, 3}, false);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->ordinal, 2U);
  EXPECT_THAT(difference->first, HasSubstr(R"({"n":2,"t":"0.000000002",)"));
  EXPECT_THAT(difference->second, HasSubstr(R"({"n":2,"t":"0.000000020",)"));
}

// One run may be the beginning of the other, or differ in something that is not observed.
TEST_F(ComparisonTest, SeesARunThatEndedEarlierAndADifferenceAfterTheEnd) {
  const auto shorter = Compare({1, 2}, false);
  ASSERT_TRUE(shorter.has_value());
  EXPECT_EQ(shorter->ordinal, 3U);
  EXPECT_THAT(shorter->second, HasSubstr("had ended"));
  const auto longer = Compare({1, 2, 3, 4}, false);
  ASSERT_TRUE(longer.has_value());
  EXPECT_EQ(longer->ordinal, 4U);
  EXPECT_THAT(longer->first, HasSubstr("had ended"));
  const auto unseen = Compare({1, 2, 3}, false);
  ASSERT_TRUE(unseen.has_value());
  EXPECT_THAT(unseen->first, HasSubstr("not observed"));
}

// --- numbers -----------------------------------------------------------------------------------

// Times are compared by people digit by digit; a locale or a double would change them.
TEST(ReportTextTest, SecondsAreExactAndRoundedByWholeNumbers) {
  EXPECT_EQ(FormatSeconds(Nanoseconds(12'345'678'901)), "12.345678901");
  EXPECT_EQ(FormatSeconds(Nanoseconds(-1)), "-0.000000001");
  EXPECT_EQ(FormatSeconds({std::numeric_limits<int64_t>::min()}), "-9223372036.854775808");
  EXPECT_EQ(FormatSeconds(Nanoseconds(999'500'000), 3), "1.000");
  EXPECT_EQ(FormatSeconds(Nanoseconds(999'499'999), 3), "0.999");
  EXPECT_EQ(FormatSeconds(Nanoseconds(-499'999), 3), "0.000");
  EXPECT_EQ(FormatSeconds(Nanoseconds(1'500'000'000), 0), "2");
}

// Thousands are grouped the same everywhere.
TEST(ReportTextTest, CountsAreGroupedWithoutALocale) {
  EXPECT_EQ(GroupedText(0), "0");
  EXPECT_EQ(GroupedText(999), "999");
  EXPECT_EQ(GroupedText(1'000), "1,000");
  EXPECT_EQ(GroupedText(-1'234'567), "-1,234,567");
  EXPECT_EQ(GroupedText(-100), "-100");
  EXPECT_EQ(CountText(1, "grant", "grants"), "1 grant");
  EXPECT_EQ(CountText(0, "grant", "grants"), "0 grants");
  EXPECT_EQ(HashText(0xfedcba9876543210), "fedcba9876543210");
}

}  // namespace
}  // namespace whorl::sim::trace_test
