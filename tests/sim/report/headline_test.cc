// A reader of a page believes its first sentence. It must tell the worst that happened, and nothing else.
#include "sim/report/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/sim_testing.h"

namespace whorl::sim::headline_test {
namespace {

// Of a protocol that promises neither of two at work or two that believe.
Scenario OfSpindle() {
  return ScenarioOf(R"({"version": 1, "about": "a test", "protocol": "spindle_v2", "lease": "5s",
    "nodes": ["a", "b"], "duration": "40s", "seed": 4})");
}

class HeadlineTest : public testing::Test {
 protected:
  HeadlineTest() {
    for (const Invariant invariant : AllOf<Invariant>()) {
      checks_.invariants.push_back({.invariant = invariant, .unknown_because = {}});
    }
  }
  void Violate(Invariant invariant, Duration at, const std::string& text,
               Promise promise = Promise::kNotPromised) {
    InvariantResult& of = checks_.invariants[static_cast<size_t>(invariant)];
    of.verdict = Verdict::kViolated;
    of.violations = 1;
    of.promise = promise;
    of.first = {.at = Instant{at.ns}, .observation = 7, .text = text};
  }
  static void Write(CountedWrites& of, uint64_t event, Duration at, const std::string& writer,
                    const std::string& owner) {
    of.events.push_back(event);
    if (of.events.size() > 1) return;
    of.at = Instant{at.ns};
    of.writer = writer;
    of.owner = owner;
  }
  Headline Told() const { return HeadlineOf(OfSpindle(), checks_, writes_); }

  CheckReport checks_;
  WriteFates writes_;
};

TEST_F(HeadlineTest, WithoutAViolationItSaysSo) {
  EXPECT_EQ(Told().text, "No invariant was violated.");
  EXPECT_EQ(Told().tone, Tone::kGood);
}

// Unknown is never a pass.
TEST_F(HeadlineTest, WhatIsUnknownIsNoGoodNews) {
  checks_.invariants[static_cast<size_t>(Invariant::kNoWedge)].verdict = Verdict::kUnknown;
  EXPECT_EQ(Told().text,
            "No invariant was violated, as far as can be told: of no_wedge it is unknown.");
  EXPECT_EQ(Told().tone, Tone::kPlain);
}

TEST_F(HeadlineTest, ABrokenPromiseComesBeforeAll) {
  Violate(Invariant::kSingleWorker, Seconds(3), "b began work while a was still at work");
  Violate(Invariant::kOneLiveToken, Seconds(9), "a and b have the token", Promise::kPromised);
  Write(writes_.stale_accepted, 5, Seconds(4), "a", "b");
  EXPECT_EQ(Told().text,
            "At 9.000 s a and b have the token, which spindle_v2 promises never to happen.");
  EXPECT_EQ(Told().event, 7U);
}

TEST_F(HeadlineTest, TheHoldersRefusedWritesComeNext) {
  Violate(Invariant::kSingleWorker, Seconds(3), "b began work while a was still at work");
  Write(writes_.stale_refused, 5, Seconds(4), "a", "b");
  for (uint64_t i = 0; i < 270; ++i) {
    Write(writes_.rightful_refused, 6 + i, Milliseconds(4'500), "b", "b");
  }
  EXPECT_EQ(Told().text,
            "270 writes of the rightful holder were refused, the first at 4.500 s (of b): the "
            "resource had taken a greater token before.");
  EXPECT_EQ(Told().event, 6U);
}

TEST_F(HeadlineTest, AStaleWriteIsToldWithWhatSavedTheDataAndWhatDidNot) {
  Violate(Invariant::kSingleWorker, Seconds(3), "b began work while a was still at work");
  Write(writes_.stale_refused, 5, Seconds(4), "a", "b");
  EXPECT_EQ(
      Told().text,
      "At 4.000 s a wrote although b held the lock: the resource that checks tokens refused it.");
  EXPECT_EQ(Told().tone, Tone::kWarning) << "the data was saved";
  Write(writes_.stale_accepted, 9, Seconds(5), "a", "b");
  Write(writes_.stale_accepted, 10, Seconds(6), "a", "b");
  EXPECT_EQ(Told().text,
            "At 4.000 s a wrote although b held the lock: the resource that checks tokens refused "
            "it, the one that does not check them accepted 2 such writes.");
  EXPECT_EQ(Told().tone, Tone::kBad);
}

TEST_F(HeadlineTest, WithoutTokensNothingRefusesAWrite) {
  checks_.invariants[static_cast<size_t>(Invariant::kTokenMonotonic)].verdict =
      Verdict::kNotApplicable;
  Write(writes_.stale_accepted, 5, Seconds(4), "a", "");
  EXPECT_EQ(Told().text,
            "At 4.000 s a wrote although it held the lock no longer, and nothing refused it. "
            "No invariant was violated.");
}

TEST_F(HeadlineTest, TwoAtWorkAreToldBeforeAnEarlierViolationThatHarmedNobody) {
  Violate(Invariant::kLeaseRespected, Seconds(1), "b took the lock early");
  EXPECT_EQ(Told().text, "At 1.000 s b took the lock early.");
  Violate(Invariant::kSingleWorker, Seconds(3), "b began work while a was still at work");
  checks_.metrics[Metric::kWorkOverlapSum] = Milliseconds(7'800).ns;
  EXPECT_EQ(
      Told().text,
      "At 3.000 s b began work while a was still at work; two were at work at once for 7.800 s "
      "in all.");
}

}  // namespace
}  // namespace whorl::sim::headline_test
