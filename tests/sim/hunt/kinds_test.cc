// Kinds of steps: what is counted, and what the counts say of runs to come.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/hunt/run_coverage.h"
#include "sim/report/breakage.h"
#include "tests/sim/hunt/hunt_testing.h"

namespace whorl::sim::hunt_kinds_test {
namespace {

std::vector<uint64_t> KindsOf(const Scenario& scenario) {
  RunCoverage kinds(scenario);
  RunWatched(scenario, nullptr, &kinds);
  std::vector<uint64_t> numbers;
  for (const KindSeen& seen : kinds.Take()) numbers.push_back(seen.kind);
  return numbers;
}

Scenario Parsed(const std::string& faults, const std::string& nodes = R"("a", "b")") {
  auto scenario = ParseScenario(R"({
    "version": 1, "about": "x", "protocol": "fenced_lease", "lease": "5s",
    "nodes": [ )" + nodes + R"( ], "duration": "60s", "faults": [ )" +
                                    faults + " ] }",
                                "test.json");
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return *std::move(scenario);
}

std::vector<KindSeen> Seen(const std::vector<uint64_t>& numbers) {
  std::vector<KindSeen> seen;
  for (const uint64_t number : numbers) seen.push_back({.kind = number, .at = {}});
  return seen;
}

// Worlds that differ in the order of their nodes alone would otherwise look new to a hunt.
TEST(Kinds, DoNotDependOnTheOrderOfNodes) {
  const std::string a = R"("a")";
  const std::string b = R"({ "name": "b", "start_at": "1s" })";
  const std::string fault = R"({ "at": "20s", "do": "pause", "node": "a", "for": "15s" })";
  const std::vector<uint64_t> kinds = KindsOf(Parsed(fault, a + ", " + b));
  EXPECT_GT(kinds.size(), 20u);
  EXPECT_EQ(kinds, KindsOf(Parsed(fault, b + ", " + a)));
}

// Of each part of a kind, one change that shows: otherwise the hunt is blind to it.
TEST(Kinds, SeeFaultsStatesAndSlack) {
  const auto fault = [](const std::string& kind, const std::string& more) {
    return KindsOf(
        Parsed(R"({ "at": "20s", "do": ")" + kind + R"(", "node": "b", )" + more + " }"));
  };
  // Both leave a alone, and do nothing to b that changes its messages.
  const auto only_fault = fault("clock", R"("offset": "1ns")");
  EXPECT_NE(only_fault, fault("slow_resource", R"("add": "1ns", "for": "30s")"));
  const std::string pause = R"({ "at": "20s", "do": "pause", "node": "a", "for": )";
  const auto shorter = KindsOf(Parsed(pause + R"("1s" })"));
  const auto longer = KindsOf(Parsed(pause + R"("15s" })"));
  std::vector<uint64_t> only_longer;
  std::ranges::set_difference(longer, shorter, std::back_inserter(only_longer));
  EXPECT_GT(only_longer.size(), 5u);
}

TEST(Kinds, BucketsAreNarrowNearTheEndOfTheLeaseAndTellTheSidesApart) {
  const auto bucket = [](int64_t ms) { return SlackBucket(Milliseconds(ms), Seconds(16)); };
  EXPECT_EQ(bucket(0), bucket(999));
  EXPECT_NE(bucket(999), bucket(1'001));
  EXPECT_EQ(bucket(1'001), bucket(3'999));
  EXPECT_NE(bucket(3'999), bucket(4'001));
  EXPECT_NE(bucket(63'999), bucket(64'001));
  EXPECT_EQ(bucket(64'001), bucket(1'000'000));
  for (const int64_t ms : {1, 2'000, 5'000, 20'000, 100'000}) EXPECT_NE(bucket(ms), bucket(-ms));
}

// The estimate is what a person stops by: worked out by hand here.
TEST(Kinds, EstimateCountsTheRunsThatShowedSomethingAlone) {
  KnownKinds known;
  known.Add(0, Seen({1, 2, 9}));  // 1 and 9 alone
  known.Add(1, Seen({2, 3}));     // 3 alone
  known.Add(2, Seen({2, 5}));
  known.Add(3, Seen({5}));
  EXPECT_EQ(known.size(), 5);
  EXPECT_EQ(known.RunsAlone(), 2);
  EXPECT_EQ(known.NewSince(1), 2);
  EXPECT_EQ(known.NewSince(3), 0);
  EXPECT_EQ(known.RunsWith(2), 3);
  EXPECT_EQ(known.RunsWith(7), 0);
}

TEST(Kinds, AddUpInAnyOrder) {
  KnownKinds first;
  first.Add(0, Seen({1, 2}));
  first.Add(2, Seen({2, 3}));
  KnownKinds second;
  second.Add(1, Seen({3, 4}));
  KnownKinds whole;
  for (const auto& [run, kinds] :
       {std::pair(uint64_t{0}, Seen({1, 2})), std::pair(uint64_t{1}, Seen({3, 4})),
        std::pair(uint64_t{2}, Seen({2, 3}))}) {
    whole.Add(run, kinds);
  }
  KnownKinds one = first;
  one.Add(second);
  KnownKinds other = second;
  other.Add(first);
  EXPECT_EQ(one, whole);
  EXPECT_EQ(other, whole);
}

}  // namespace
}  // namespace whorl::sim::hunt_kinds_test
