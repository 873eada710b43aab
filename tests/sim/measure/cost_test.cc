// The cost of a lock in worlds whose calls can be counted by hand, and the laws that extend counts
// to larger sizes.

#include "sim/measure/cost.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/measure/cost_figures.h"
#include "sim/measure/cost_report.h"

namespace whorl::sim::cost_test {
namespace {

CostResult Measure(const CostCase& what, int64_t runs) {
  CostResult result{.what = what};
  for (int64_t run = 0; run < runs; ++run) {
    result.Add(RunCostCase(what, 1, static_cast<uint64_t>(run)));
  }
  return result;
}

CostFigures Figures(const CostCase& what, int64_t runs = 1) {
  return FiguresOf(Measure(what, runs));
}

CostCase TenSeconds(const char* protocol, int64_t followers = 2, int64_t locks = 1) {
  return {.protocol = protocol, .lease = Seconds(10), .followers = followers, .locks = locks};
}

// On paper: heartbeats pause for 7.5 s on average, which is 480 transactions of UPDATE, DELETE and
// Commit an hour; and each of three processes checks every 10 s.
TEST(BenchCost, SpindleV2CostsWhatItsAnalysisSays) {
  const CostRates rates = Figures(TenSeconds("spindle_v2"), 4).rates;
  EXPECT_DOUBLE_EQ(rates.reads, 1080);
  EXPECT_NEAR(rates.transactions, 480, 6);
  EXPECT_NEAR(rates.rpcs, 2520, 18);
  EXPECT_NEAR(rates.rpcs, 3 * rates.transactions + 1080, 3);
  EXPECT_EQ(rates.aborted, 0);
}

// The bound: a safer lock has to cost no more.
TEST(BenchCost, FencedLeaseCostsNoMoreThanSpindleV2) {
  const CostRates rates = Figures(TenSeconds("fenced_lease"), 2).rates;
  EXPECT_LE(rates.rpcs, 2520);
  // A beat of two calls every 6 s, and a look of each follower after each beat, at least.
  EXPECT_NEAR(rates.transactions, 600, 3);
  EXPECT_GE(rates.reads, 2 * 598);
  EXPECT_NEAR(rates.rpcs, 2 * rates.transactions + rates.reads, 3);
}

// Every second UPDATE, Commit and SELECT of each process; one row is written in it.
TEST(BenchCost, SemaphoreAsksThreeTimesASecondAndProcess) {
  const CostRates rates = Figures(TenSeconds("semaphore", 1)).rates;
  EXPECT_NEAR(rates.reads, 2 * 3600, 2);
  EXPECT_NEAR(rates.transactions, 2 * 3600, 2);
  EXPECT_NEAR(rates.rpcs, 3 * 2 * 3600, 12);
  EXPECT_NEAR(rates.rows, 3600, 2);
  EXPECT_NEAR(rates.statements, 2 * 2 * 3600, 6);
  EXPECT_NEAR(rates.commits, 2 * 3600, 6);
}

// The application's own questions go to Spanner, but are not what a lock costs.
TEST(BenchCost, QuestionsOfTheApplicationAreNotCounted) {
  CostWorld world = MakeCostWorld(TenSeconds("spindle_v2", 1), 1, 0);
  const auto count = [&world] {
    CallCounter counter(world.scenario, world.from, world.until, world.crash);
    RunScenario(world.scenario, world.scenario.seed, &counter);
    return counter.steady();
  };
  const CallCounts quiet = count();
  for (NodeSpec& node : world.scenario.nodes) node.use = Use::kHasLock;
  world.scenario.workload.write_every = Seconds(20);
  EXPECT_EQ(count(), quiet);
}

// After a crash another process gets the lock, and the report says how many tried.
TEST(BenchCost, ATakeoverIsCountedFromTheCrashOn) {
  const CostRun run = RunCostCase(TenSeconds("fenced_lease", 10), 1, 0);
  EXPECT_EQ(run.early_grants, 0);
  ASSERT_TRUE(run.was_taken_over);
  // What is left of the lease after the last renewal, and the lease that is watched.
  EXPECT_GT(run.takeover_time, Seconds(10 + 4));
  EXPECT_LT(run.takeover_time, Seconds(10 + 11));
  // All ten followers wait for the same instant; one of them gets the row.
  EXPECT_GE(run.takeover.transactions, 10);
  EXPECT_GE(run.first_second, 20);
  EXPECT_GE(run.takeover_peak, run.first_second);
}

TEST(BenchCost, TheBusiestSecondIsAnyNotACalendarOne) {
  BusiestSecond busiest;
  for (const int64_t ms : {100, 900, 1'050, 1'099, 1'101, 1'950}) {
    busiest.Add(Instant{} + Milliseconds(ms));
  }
  EXPECT_EQ(busiest.most(), 4);  // 900 to 1101, and 100 is a second old at 1100
}

// The law behind the cost of 100,000 locks: locks with their own processes share nothing.
TEST(BenchCost, LocksAddUp) {
  for (const char* protocol : {"fenced_lease", "spindle_v3"}) {
    const CostFigures one = Figures(TenSeconds(protocol));
    const CostFigures many = Figures(TenSeconds(protocol, 2, 7));
    EXPECT_LT(DeviationOf(many, WithLocks(one, 7)), 0.01) << protocol;
  }
}

// The law behind the cost of 10,000 followers.
TEST(BenchCost, FollowersLieOnALine) {
  const CostFigures few = Figures(TenSeconds("spindle_v2", 2));
  const CostFigures more = Figures(TenSeconds("spindle_v2", 6));
  const CostFigures many = Figures(TenSeconds("spindle_v2", 18));
  EXPECT_LT(DeviationOf(many, WithFollowers(few, more, 18)), 0.01);
}

TEST(BenchCost, LawsExtendRates) {
  CostFigures few;
  few.what.followers = 10;
  few.rates = {.rpcs = 100, .takeover_aborted = 5, .takeover_peak = 12};
  CostFigures many = few;
  many.what.followers = 20;
  many.rates = {.rpcs = 150, .takeover_aborted = 3, .takeover_peak = 20};
  const CostFigures most = WithFollowers(few, many, 100);
  EXPECT_FALSE(most.measured);
  EXPECT_EQ(most.what.followers, 100);
  EXPECT_DOUBLE_EQ(most.rates.rpcs, 550);
  EXPECT_DOUBLE_EQ(most.rates.takeover_peak, 84);
  EXPECT_EQ(most.rates.takeover_aborted, 0) << "nothing is rarer than never";
  EXPECT_DOUBLE_EQ(WithLocks(few, 30).rates.rpcs, 3000);
  EXPECT_DOUBLE_EQ(WithLocks(few, 30).rates.takeover_aborted, 5);
}

// A node of a regional instance: 22,500 reads or 3,500 writes a second, 65 % of it.
TEST(BenchCost, ProcessingUnitsFollowThePublishedThroughput) {
  const CostRates reads = {.statements = 22'500.0 * 3600};
  const CostRates writes = {.commits = 2'700.0 * 3600};
  EXPECT_NEAR(UnitsOf(reads, Preset::kRegional), 1000 / 0.65, 1e-6);
  EXPECT_NEAR(UnitsOf(writes, Preset::kMultiRegion), 1000 / 0.45, 1e-6);
  EXPECT_EQ(InstanceFor(0), 100);
  EXPECT_EQ(InstanceFor(100.5), 200);
  EXPECT_EQ(InstanceFor(1000), 1000);
  EXPECT_EQ(InstanceFor(1000.5), 2000);
}

// Otherwise a figure would depend on the machine rather than on the lock.
TEST(BenchCost, FiguresDoNotDependOnThreadsOrOnOtherCases) {
  const std::vector<CostCase> both = {TenSeconds("spindle_v3"), TenSeconds("fenced_lease")};
  const std::vector<CostCase> last = {both[1]};
  const auto go_on = [](size_t, size_t) { return BatchStep::kGoOn; };
  std::vector<CostResult> of_both;
  std::vector<CostResult> of_last;
  ASSERT_TRUE(MeasureCosts(both, 2, 7, 1, go_on, of_both).ok());
  ASSERT_TRUE(MeasureCosts(last, 2, 7, 1, go_on, of_last).ok());
  ASSERT_EQ(of_both.size(), 2);
  EXPECT_EQ(of_both[1], of_last[0]);
  EXPECT_EQ(of_last[0].runs, 2);
}

TEST(BenchCost, AReportMarksWhatIsByLaw) {
  CostOptions options = {.protocols = {"spindle_v3"},
                         .leases = {Seconds(1), Seconds(10)},
                         .followers = {2},
                         .herd = {2, 4, 8, 10'000},
                         .locks = {1, 2, 50},
                         .largest = 8,
                         .runs = 1};
  CostReport report;
  ASSERT_TRUE(
      MeasureCostReport(options, 1, [](size_t, size_t) { return BatchStep::kGoOn; }, report).ok());
  ASSERT_EQ(report.steady.size(), 1);
  EXPECT_EQ(report.left_out.size(), 1) << "spindle_v3 has no lease of 1 s";
  ASSERT_EQ(report.herd.size(), 4);
  EXPECT_TRUE(report.herd[2].measured);
  EXPECT_FALSE(report.herd[3].measured);
  EXPECT_EQ(report.herd_checks.size(), 1);
  ASSERT_EQ(report.locks.size(), 3);
  EXPECT_TRUE(report.locks[1].measured);
  EXPECT_FALSE(report.locks[2].measured);
  EXPECT_EQ(report.lock_checks.size(), 1);
}

// Their rates are those of one lock with that lease, many times.
TEST(BenchCost, LocksAreReportedForEachLease) {
  CostOptions options = {.protocols = {"spindle_v3"},
                         .leases = {Seconds(5), Seconds(10)},
                         .followers = {2},
                         .herd = {},
                         .locks = {1, 4, 50},
                         .largest = 8,
                         .runs = 1};
  CostReport report;
  ASSERT_TRUE(
      MeasureCostReport(options, 1, [](size_t, size_t) { return BatchStep::kGoOn; }, report).ok());
  ASSERT_EQ(report.locks.size(), 6);
  EXPECT_EQ(report.locks[0].what.lease, Seconds(5));
  EXPECT_TRUE(report.locks[0].measured);
  EXPECT_FALSE(report.locks[1].measured) << "four locks are simulated with the usual lease alone";
  EXPECT_DOUBLE_EQ(report.locks[2].rates.rpcs, 50 * report.locks[0].rates.rpcs);
  EXPECT_EQ(report.locks[3].what.lease, Seconds(10));
  EXPECT_TRUE(report.locks[4].measured);
  EXPECT_GT(report.locks[2].rates.rpcs, 1.5 * report.locks[5].rates.rpcs) << "the shorter lease";
  EXPECT_EQ(report.lock_checks.size(), 1);
}

TEST(BenchCost, AnInterruptedReportHasWhatWasDone) {
  CostOptions options = {.protocols = {"spindle_v3"},
                         .leases = {Seconds(10)},
                         .followers = {1, 2},
                         .herd = {},
                         .locks = {},
                         .runs = 2};
  CostReport report;
  const auto stop_after_two = [](size_t done, size_t) {
    return done == 2 ? BatchStep::kStop : BatchStep::kGoOn;
  };
  ASSERT_TRUE(MeasureCostReport(options, 1, stop_after_two, report).ok());
  EXPECT_TRUE(report.interrupted);
  ASSERT_EQ(report.steady.size(), 1);
  EXPECT_EQ(report.steady[0].runs, 2);
}

}  // namespace
}  // namespace whorl::sim::cost_test
