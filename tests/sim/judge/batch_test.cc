// Many runs in parallel: the caller sees the same whatever the number of threads. The thread
// sanitizer runs these tests too.

#include "sim/judge/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim/judge/run.h"
#include "sim/scenario/loader.h"

namespace whorl::sim::batch_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What a batch of `count` jobs delivered; job i leaves i squared in its place.
std::vector<size_t> Squares(size_t count, int threads) {
  std::vector<size_t> places(kBatchWindow);
  std::vector<size_t> delivered;
  RunBatch(
      count, threads, [&](size_t i) { places[i % kBatchWindow] = i * i; },
      [&](size_t i, const std::optional<std::string>& error) {
        EXPECT_EQ(error, std::nullopt);
        EXPECT_EQ(delivered.size(), i) << "in the order of the jobs";
        delivered.push_back(places[i % kBatchWindow]);
        return BatchStep::kGoOn;
      });
  return delivered;
}

// Reports are compared byte for byte over 1 and 2 jobs; an order by speed would differ each time.
// More jobs than the window, so that places are used again.
TEST(BatchTest, DeliversInOrderWhateverTheNumberOfThreads) {
  const std::vector<size_t> expected = Squares(3 * kBatchWindow + 7, 1);
  ASSERT_EQ(expected.size(), 3 * kBatchWindow + 7);
  EXPECT_EQ(expected[2000], 4'000'000U);
  for (const int threads : {2, 3, 8}) {
    EXPECT_EQ(Squares(expected.size(), threads), expected) << threads;
  }
}

// Nothing to do, and fewer jobs than threads, are ordinary.
TEST(BatchTest, HandlesFewerJobsThanThreads) {
  EXPECT_THAT(Squares(0, 4), IsEmpty());
  EXPECT_THAT(Squares(1, 4), ElementsAre(0));
  EXPECT_THAT(Squares(2, 4), ElementsAre(0, 1));
}

// An exception on a thread of its own would end the whole command without a word.
TEST(BatchTest, AnExceptionOfAJobBecomesItsError) {
  for (const int threads : {1, 3}) {
    std::vector<std::string> errors;
    RunBatch(
        4, threads,
        [](size_t i) {
          if (i == 1) throw std::runtime_error("broken");
          if (i == 2) throw 42;
        },
        [&](size_t, const std::optional<std::string>& error) {
          errors.push_back(error.value_or("none"));
          return BatchStep::kGoOn;
        });
    EXPECT_THAT(errors,
                ElementsAre("none", "broken", "something that is no exception was thrown", "none"))
        << threads;
  }
}

// If the output cannot be written, the remaining work is useless.
TEST(BatchTest, StopsWhenToldTo) {
  for (const int threads : {1, 3}) {
    std::atomic<size_t> begun = 0;
    std::vector<size_t> delivered;
    constexpr size_t kJobs = 100 * kBatchWindow;
    RunBatch(
        kJobs, threads, [&](size_t) { ++begun; },
        [&](size_t i, const std::optional<std::string>&) {
          delivered.push_back(i);
          return i == 2 ? BatchStep::kStop : BatchStep::kGoOn;
        });
    EXPECT_THAT(delivered, ElementsAre(0, 1, 2)) << threads;
    EXPECT_LE(begun, 3 + kBatchWindow) << threads;
  }
}

// A million runs must not pile up behind a slow first one.
TEST(BatchTest, AtMostAWindowOfJobsIsAheadOfTheFirstUndelivered) {
  std::atomic<size_t> begun = 0;
  std::atomic<size_t> ahead_max = 0;
  RunBatch(
      4 * kBatchWindow, 3,
      [&](size_t i) {
        ++begun;
        // The first job waits until the others can go no further without it.
        while (i == 0 && begun < kBatchWindow) std::this_thread::yield();
      },
      [&](size_t i, const std::optional<std::string>&) {
        ahead_max = std::max(ahead_max.load(), begun - i);
        return BatchStep::kGoOn;
      });
  EXPECT_LE(ahead_max, kBatchWindow);
}

// Threads that outlive the call would touch what the caller has freed.
TEST(BatchTest, NoJobRunsAfterAnExceptionOfDone) {
  std::atomic<int> running = 0;
  EXPECT_THROW(RunBatch(
                   1000, 3,
                   [&](size_t) {
                     ++running;
                     std::this_thread::yield();
                     --running;
                   },
                   [](size_t, const std::optional<std::string>&) -> BatchStep {
                     throw std::runtime_error("full disk");
                   }),
               std::runtime_error);
  EXPECT_EQ(running, 0);
}

// Results are printed and counted without locks, which only one thread may do.
TEST(BatchTest, DoneComesOnTheCallersThread) {
  std::set<std::thread::id> threads;
  RunBatch(
      100, 3, [](size_t) {},
      [&](size_t, const std::optional<std::string>&) {
        threads.insert(std::this_thread::get_id());
        return BatchStep::kGoOn;
      });
  EXPECT_THAT(threads, ElementsAre(std::this_thread::get_id()));
}

// The scenarios of one fault and of one finding: many, and of all protocols. Days of simulated time would
// show the thread sanitizer nothing more.
std::vector<Scenario> ShortScenarios() {
  std::vector<Scenario> scenarios;
  for (const auto& file : std::filesystem::directory_iterator(WHORL_SOURCE_DIR "/scenarios")) {
    const std::string name = file.path().filename();
    const bool of_finding = name.find_first_of("svw") == 0 && name.find_first_of("0123456789") == 1;
    if (!name.starts_with("fault_") && !of_finding) continue;
    auto scenario = LoadScenario(file.path());
    EXPECT_TRUE(scenario.ok()) << scenario.status().message();
    if (scenario.ok()) scenarios.push_back(*std::move(scenario));
  }
  return scenarios;
}

// Worlds side by side share the protocols' tables and what the SQL compiler remembers.
TEST(BatchTest, WorldsSideBySideRunAsTheyDoAlone) {
  const std::vector<Scenario> scenarios = ShortScenarios();
  ASSERT_GT(scenarios.size(), 30U);
  ASSERT_LE(scenarios.size(), kBatchWindow);
  std::vector<uint64_t> hashes[2];
  for (const int threads : {1, 2}) {
    std::vector<RunResult> runs(scenarios.size());
    RunBatch(
        scenarios.size(), threads,
        [&](size_t i) { runs[i] = RunScenario(scenarios[i], scenarios[i].seed, nullptr); },
        [&](size_t i, const std::optional<std::string>& error) {
          EXPECT_EQ(error, std::nullopt);
          hashes[threads - 1].push_back(runs[i].hash);
          return BatchStep::kGoOn;
        });
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

}  // namespace
}  // namespace whorl::sim::batch_test
