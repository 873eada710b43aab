// The verdict on a recorded history against the simulation's own: runs in drawn worlds are written out as
// others might have recorded them.
//
// WHORL_CHECK_RUNS=10000 judges that many runs, WHORL_CHECK_FROM=N from the N-th on.
//
// Kinds of lines, fields, processes and columns are left out, too: what is not there must not make a verdict that
// the whole history contradicts.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/json_lines.h"
#include "sim/hunt/world_generator.h"
#include "sim/judge/run.h"
#include "tests/check/foreign_history.h"

namespace whorl::check::truth_test {
namespace {

HistoryVerdict Judge(const ProtocolInfo& protocol, Duration lease,
                     const std::vector<std::string>& lines, bool may_be_refused) {
  Checker checker(protocol, {.lease = lease});
  const Wanted wanted;
  JsonLines reader(protocol, wanted);
  std::vector<Operation> operations;
  Place place = {.file = "history", .line = 0};
  for (const std::string& line : lines) {
    ++place.line;
    operations.clear();
    const std::string wrong = reader.Read(line, place, operations);
    EXPECT_TRUE(wrong.empty() || may_be_refused) << wrong;
    if (!wrong.empty()) checker.AddUnread(place);
    for (Operation& operation : operations) checker.Add(std::move(operation));
  }
  AddUnclear(*wanted.counts, checker);
  return checker.Verdict();
}

int64_t Runs() {
  const char* wanted = std::getenv("WHORL_CHECK_RUNS");  // NOLINT(concurrency-mt-unsafe)
  constexpr int64_t kInTests = 240;
  return wanted == nullptr ? kInTests : std::atoll(wanted);
}

// The number of the first run of each test, to judge one again that failed.
int64_t FirstRun() {
  const char* wanted = std::getenv("WHORL_CHECK_FROM");  // NOLINT(concurrency-mt-unsafe)
  return wanted == nullptr ? 0 : std::atoll(wanted);
}

struct Counts {
  std::map<std::tuple<std::string, std::string, std::string>, int64_t> seen;
  int64_t decided = 0;
  int64_t undecided = 0;
};

// Every invariant that is judged, of every run. Never "holds" where it is violated, never "violated" where
// it holds.
void JudgeRuns(const Recording& recording, uint64_t first_seed, Counts& counts) {
  const int64_t runs = Runs() / 4;
  const int64_t first = FirstRun();
  for (int64_t run = first; run < first + runs; ++run) {
    const char* const names[] = {"spindle_v2", "spindle_v3", "fenced_lease", "semaphore",
                                 "lease_lock"};
    const ProtocolInfo& protocol = *FindProtocol(names[run % 5]);
    const uint64_t seed = first_seed + static_cast<uint64_t>(run);
    const sim::Scenario world = sim::DrawWorld({}, protocol, seed);
    // In every second world a process that is started again keeps its id.
    ForeignHistory history(world, protocol, /*keeps_ids=*/run / 5 % 2 == 1);
    const sim::RunResult truth = sim::RunScenario(world, seed, &history);
    Recording drawn = recording;
    drawn.seed = seed;
    LeftOut left_out;
    const HistoryVerdict verdict =
        Judge(protocol, world.nodes.front().lease, history.Lines(drawn, &left_out),
              /*may_be_refused=*/drawn.left_out_per_mille > 0);
    EXPECT_LE(verdict.metrics.outside, history.outside_writes())
        << protocol.name << " seed " << seed << ": "
        << (verdict.outside_writes.empty() ? "" : verdict.outside_writes.front().text);
    std::string lacks;
    for (const std::string& one : left_out.what)
      lacks += (lacks.empty() ? " without " : ", ") + one;
    EXPECT_TRUE(verdict.problems.empty())
        << protocol.name << " seed " << seed << ": " << verdict.problems.front();
    for (const InvariantResult& found : verdict.invariants) {
      if (found.verdict == Verdict::kNotApplicable) continue;
      const sim::InvariantResult& in_truth = truth.checks[found.invariant];
      const bool violated = in_truth.verdict == sim::Verdict::kViolated;
      const std::string what = std::string(protocol.name) + " seed " + std::to_string(seed) + " " +
                               std::string(WordOf(found.invariant)) + lacks;
      if (violated) {
        EXPECT_NE(found.verdict, Verdict::kHolds) << what << ": " << in_truth.first->text;
      } else if (!(left_out.lapses && found.invariant == Invariant::kSingleLeaderBelief)) {
        // That lapses are logged is taken for granted.
        EXPECT_NE(found.verdict, Verdict::kViolated) << what << ": " << found.text;
      }
      ++counts.seen[{std::string(protocol.name) + " " + std::string(WordOf(found.invariant)),
                     violated ? "violated" : "holds", std::string(WordOf(found.verdict))}];
      // There are worlds in which nobody asks, and none in which it would be a mistake to say so.
      const bool was_said = !found.text.starts_with("no ");
      const bool decided = found.verdict == Verdict::kHolds || found.verdict == Verdict::kViolated;
      if (was_said) ++(decided ? counts.decided : counts.undecided);
      const bool is_told =
          std::getenv("WHORL_CHECK_TELL") != nullptr;  // NOLINT(concurrency-mt-unsafe)
      if (!decided && was_said && is_told) {
        std::printf("%s: %s: %s\n", what.c_str(), std::string(WordOf(found.verdict)).c_str(),
                    found.text.c_str());
      }
    }
  }
  for (const auto& [key, count] : counts.seen) {
    std::printf("%-40s %-9s judged %-9s %lld\n", std::get<0>(key).c_str(), std::get<1>(key).c_str(),
                std::get<2>(key).c_str(), static_cast<long long>(count));
  }
}

TEST(CheckTruth, ClocksWithinTenMillisecondsAndNothingMissing) {
  Counts counts;
  JudgeRuns({.clock_error = Milliseconds(10)}, 1, counts);
  EXPECT_GT(counts.decided, 0);
  EXPECT_LT(counts.undecided * 20, counts.decided + counts.undecided) << "5 % may be undecided";
}

TEST(CheckTruth, RecordsTwiceAndOutOfOrderChangeNothing) {
  Counts counts;
  JudgeRuns({.clock_error = Milliseconds(10), .twice_per_mille = 50, .disorder = Seconds(20)},
            20'000, counts);
  EXPECT_LT(counts.undecided * 20, counts.decided + counts.undecided);
}

TEST(CheckTruth, MissingLinesAndClocksThatAreFarOff) {
  Counts counts;
  JudgeRuns({.clock_error = Seconds(2),
             .missing_per_mille = 30,
             .twice_per_mille = 30,
             .disorder = Seconds(5)},
            40'000, counts);
  EXPECT_GT(counts.undecided, 0);
}

TEST(CheckTruth, ClocksThatOnlyCallsShow) {
  Counts counts;
  JudgeRuns({.clock_error = Seconds(5), .drift_ppm = 150, .clocks_declared = false}, 60'000,
            counts);
  EXPECT_GT(counts.decided, counts.undecided);
}

// A tenth of all kinds, fields, processes and columns; and half of them.
TEST(CheckTruth, KindsOfLinesFieldsAndProcessesThatAreLeftOut) {
  for (const int64_t left_out : {30, 100, 500}) {
    Counts counts;
    JudgeRuns({.clock_error = Milliseconds(10), .left_out_per_mille = left_out},
              80'000 + static_cast<uint64_t>(left_out) * 100'000, counts);
    EXPECT_GT(counts.undecided, 0);
  }
}

}  // namespace
}  // namespace whorl::check::truth_test
