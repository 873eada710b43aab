// Work under a lock, on crafted traces: giving the lock back while it goes on, and two who are at it.
#include <string>

#include "protocol/spindle_v3/words.h"
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_work_test {
namespace {

Scenario ThreeNodes() {
  Scenario scenario = MakeScenario({"a", "b", "c"});
  scenario.protocol = "spindle_v3";
  return scenario;
}

// Node a owns the row since 1 s and is at work since 2 s.
struct Work : OneRow {
  Work() : OneRow(trace), trace(ThreeNodes()) {
    trace.Starts("a").Starts("b").Starts("c");
    At(Seconds(1)).Acquires("a");
    At(Seconds(2));
    trace.IsAtWork("a");
  }
  CheckReport AtEnd() { return trace.EndsAt(Seconds(30)); }
  void GivesBack(const std::string& node) {
    Commits(trace.Process(node), spindle_v3::steps::kRelease, std::nullopt);
  }

  Trace trace;
};

TEST(NoWorkAfterReleaseTest, IsBrokenByAnOwnerThatIsAtWork) {
  Work work;
  work.At(Seconds(3));
  work.GivesBack("a");
  ExpectViolated(work.AtEnd(), Invariant::kNoWorkAfterRelease, Seconds(3), 0,
                 {"a gave lock \"lock\" back", "still at work"});
}

TEST(NoWorkAfterReleaseTest, HoldsWhenWorkHasStopped) {
  Work work;
  work.At(Seconds(3));
  work.trace.IsAtWork("a", false);
  work.GivesBack("a");
  ExpectHolds(work.AtEnd(), Invariant::kNoWorkAfterRelease);
}

TEST(NoWorkAfterReleaseTest, ALeaseThatRunsOutIsNotGivenBack) {
  Work work;
  work.At(Seconds(20)).Acquires("b");
  ExpectHolds(work.AtEnd(), Invariant::kNoWorkAfterRelease);
}

TEST(NoWorkAfterReleaseTest, AnOperatorWhoDeletesTheRowIsNotItsOwner) {
  Work work;
  work.At(Seconds(3)).Commits(ProcessId{}, StepName{}, std::nullopt);
  ExpectHolds(work.AtEnd(), Invariant::kNoWorkAfterRelease);
}

TEST(NoWorkAfterReleaseTest, TheWorkOfAnotherIsNoneOfTheOwners) {
  Work work;
  work.At(Seconds(20)).Acquires("b");
  work.At(Seconds(21));
  work.GivesBack("b");
  ExpectHolds(work.AtEnd(), Invariant::kNoWorkAfterRelease);
}

TEST(NoWorkAfterReleaseTest, ACrashEndsWork) {
  // Its release was on its way when it died.
  Work work;
  work.At(Seconds(3));
  work.trace.Crashes("a");
  work.GivesBack("a");
  ExpectHolds(work.AtEnd(), Invariant::kNoWorkAfterRelease);
}

TEST(SingleWorkerTest, IsBrokenByWhoBeginsWhileAnotherIsAtWork) {
  Work work;
  work.At(Seconds(4));
  work.trace.IsAtWork("b");
  work.At(Seconds(7));
  work.trace.IsAtWork("a", false);
  const CheckReport report = work.AtEnd();
  ExpectViolated(report, Invariant::kSingleWorker, Seconds(4), 0, {"b began work", "while a was"});
  EXPECT_EQ(report.metrics[Metric::kWorkOverlapMax], Seconds(3).ns);
  EXPECT_EQ(report.metrics[Metric::kWorkOverlapSum], Seconds(3).ns);
}

TEST(SingleWorkerTest, CountsEachBeginningOnce) {
  Work work;
  work.At(Seconds(4));
  work.trace.IsAtWork("b").IsAtWork("b").IsAtWork("c");
  const CheckReport report = work.AtEnd();
  EXPECT_EQ(report[Invariant::kSingleWorker].violations, 2);
  EXPECT_EQ(report.metrics[Metric::kWorkOverlapMax], Seconds(26).ns) << "open until the end";
}

TEST(SingleWorkerTest, HoldsWhenTheFirstHasStoppedOrIsGone) {
  Work work;
  work.At(Seconds(4));
  work.trace.IsAtWork("a", false).IsAtWork("b");
  work.At(Seconds(5));
  work.trace.Crashes("b").IsAtWork("c");
  const CheckReport report = work.AtEnd();
  ExpectHolds(report, Invariant::kSingleWorker);
  EXPECT_EQ(report.metrics[Metric::kWorkOverlapSum], 0);
}

TEST(SingleWorkerTest, APauseDoesNotEndWork) {
  Work work;
  work.At(Seconds(4));
  work.trace.Pauses("a").IsAtWork("b");
  ExpectViolated(work.AtEnd(), Invariant::kSingleWorker, Seconds(4));
}

}  // namespace
}  // namespace whorl::sim::checkers_work_test
