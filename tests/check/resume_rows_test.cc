// A checker that goes on from what another one has left, against one that has read all.
#include "check/resume_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "check/check.h"
#include "check/json_lines.h"
#include "sim/hunt/world_generator.h"
#include "sim/judge/run.h"
#include "tests/check/foreign_history.h"
#include "tests/support/fewer.h"

namespace whorl::check::landmarks_test {
namespace {

std::vector<RowChange> ChangesOf(const ProtocolInfo& protocol, uint64_t seed, Duration& lease) {
  const sim::Scenario world = sim::DrawWorld({}, protocol, seed);
  lease = world.nodes.front().lease;
  ForeignHistory history(world, protocol, /*keeps_ids=*/false);
  sim::RunScenario(world, seed, &history);
  JsonLines reader(protocol, {});
  std::vector<RowChange> changes;
  for (const std::string& line : history.Lines({.seed = seed})) {
    std::vector<Operation> operations;
    EXPECT_EQ(reader.Read(line, {}, operations), "");
    for (const Operation& operation : operations) {
      if (const auto* change = std::get_if<RowChange>(&operation.what)) changes.push_back(*change);
    }
  }
  std::ranges::sort(changes, {}, &RowChange::commit);
  return changes;
}

void Feed(Checker& checker, const ProtocolInfo& protocol, const std::vector<RowChange>& changes) {
  JsonLines reader(protocol, {});
  for (const RowChange& change : changes) {
    // By way of the file.
    std::vector<Operation> operations;
    EXPECT_EQ(reader.Read(sim::DumpJson(RecordJson(protocol, change)), {}, operations), "");
    for (Operation& operation : operations) checker.Add(std::move(operation));
  }
}

// Never sure of the contrary, and of most histories sure of the same.
TEST(LandmarksTest, WhoGoesOnComesToTheSameVerdictOrIsLessSure) {
  int same = 0;
  int all = 0;
  int violated = 0;
  for (uint64_t run = 0; run < Fewer(200); ++run) {
    const char* const names[] = {"spindle_v2", "spindle_v3", "fenced_lease", "semaphore",
                                 "lease_lock"};
    const ProtocolInfo& protocol = *FindProtocol(names[run % 5]);
    Duration lease;
    const std::vector<RowChange> changes = ChangesOf(protocol, 90'000 + run, lease);
    if (changes.size() < 2) continue;
    const CheckOptions options = {.lease = lease, .clock_error = {}, .window = {}};
    const size_t cut = 1 + (run * 7) % (changes.size() - 1);
    const Timestamp position = changes[cut].commit;

    Checker whole(protocol, options);
    Checker first(protocol, options);
    ResumeRows landmarks(protocol);
    for (const RowChange& change : changes) {
      whole.Add({.place = {}, .what = change});
      if (change.commit >= position) continue;
      first.Add({.place = {}, .what = change});
      landmarks.Add(change);
    }
    first.Advance(position);
    Checker second(protocol, options);
    Feed(second, protocol, landmarks.Changes());
    second.Advance(position);
    second.GoOn(first.metrics());
    for (const RowChange& change : changes) {
      if (change.commit >= position) second.Add({.place = {}, .what = change});
    }
    const std::vector<InvariantResult> before = first.SoFar();
    const HistoryVerdict expected = whole.Verdict();
    const HistoryVerdict after = second.Verdict();
    const std::string what = std::string(protocol.name) + " run " + std::to_string(run);
    EXPECT_EQ(after.metrics.row_changes, expected.metrics.row_changes) << what;
    EXPECT_EQ(after.metrics.takeovers, expected.metrics.takeovers) << what;
    EXPECT_EQ(after.metrics.gaps, expected.metrics.gaps) << what;
    for (const Invariant invariant : {Invariant::kTokenMonotonic, Invariant::kLeaseRespected}) {
      const auto place = static_cast<size_t>(invariant);
      const Verdict then = before[place].verdict;
      const Verdict now = after[invariant].verdict;
      Verdict both = now;
      for (const Verdict worse : {Verdict::kPossiblyViolated, Verdict::kViolated}) {
        if (then == worse || now == worse) both = worse;
      }
      const Verdict in_truth = expected[invariant].verdict;
      ++all;
      same += both == in_truth ? 1 : 0;
      violated += in_truth == Verdict::kViolated ? 1 : 0;
      if (in_truth == Verdict::kViolated || in_truth == Verdict::kPossiblyViolated) {
        EXPECT_NE(both, Verdict::kHolds) << what;
      } else {
        EXPECT_NE(both, Verdict::kViolated) << what;
      }
    }
  }
  EXPECT_GT(violated, kTestsAreSlow ? 0 : 5);
  EXPECT_GT(same * 100, all * 95) << same << " of " << all;
}

}  // namespace
}  // namespace whorl::check::landmarks_test
