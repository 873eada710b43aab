// `whorl explore` as people and scripts use it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/cli_testing.h"

namespace whorl::cli_explore_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using CliExploreTest = CliTest;

TEST_F(CliExploreTest, HelpHasExamplesAndExitCodes) {
  const Ended ended = Whorl("explore --help");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("Examples:"), HasSubstr("Exit codes:"), HasSubstr("--horizon")));
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST_F(CliExploreTest, BadUsageNamesTheOptionAndTheRemedy) {
  ExpectUsageError("explore", "explore needs --protocol; `whorl protocols` lists them");
  ExpectUsageError("explore --protocol spindle_v1", "did you mean \"spindle_v2\"?");
  ExpectUsageError("explore --protocol fenced_lease --grid 3s",
                   "--grid 3s does not divide the lease (4s); 1s would divide the lease");
  ExpectUsageError("explore --protocol fenced_lease --horizon 0s", "--horizon wants more than 0s");
  ExpectUsageError("explore --protocol spindle_v3 --lease 2s", "leases of at least 5s, and got 2s");
  ExpectUsageError("explore --protocol semaphore --locks 2", "has room for one lock");
  ExpectUsageError("explore --protocol lease_lock --constants grid",
                   "lease_lock has none but those that ship");
  ExpectUsageError("explore --protocol fenced_lease --constants gird", "did you mean \"grid\"?");
  ExpectUsageError("explore --protocol fenced_lease --crashes=-1",
                   "--crashes wants a whole number");
  ExpectUsageError("explore --protocol fenced_lease --epsilon=-1ms",
                   "--epsilon wants TrueTime's uncertainty");
  ExpectUsageError("explore --protocol fenced_lease --invariant no_wedge",
                   "`whorl hunt --invariant no_wedge` looks for it");
}

// The claim is one sentence that names all of its bounds.
TEST_F(CliExploreTest, ACompleteSearchNamesItsBoundsAndWhatHolds) {
  const Ended ended = Whorl("explore --protocol fenced_lease --constants grid --aborts 1");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out,
              AllOf(StartsWith("complete: fenced_lease, 2 processes, at most 1 abort, grid "
                               "constants, lease 4s, grid 1s, messages on time, no horizon: "),
                    HasSubstr("\nholds: one_live_token, "), Not(HasSubstr("violated"))));
}

TEST_F(CliExploreTest, AViolationIsShownInExactTimeAndEndsWithOne) {
  const Ended ended = Whorl(
      "explore --protocol spindle_v3 --pauses 1 --horizon 10s --invariant "
      "single_leader_belief --first --timeline");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("violated: single_leader_belief (not promised), 1 fault and "),
                    HasSubstr("a began to believe that it leads lock lock while b believed so"),
                    HasSubstr("!! single_leader_belief violated"), HasSubstr("fault pause\n")));
}

TEST_F(CliExploreTest, WhatIsPromisedCanBeAskedForAlone) {
  const Ended ended = Whorl("explore --protocol spindle_v3 --pauses 1 --horizon 10s --promised");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, Not(HasSubstr("single_leader_belief")));
}

// S5 of protocol/spindle_v2/README.md: the clock that CURRENT_TIMESTAMP reads is behind.
TEST_F(CliExploreTest, ClocksOfSpannerMayBeOff) {
  const Ended ended =
      Whorl("explore --protocol spindle_v2 --current-timestamp-error=-6ms --horizon 4s --first");
  EXPECT_THAT(ended.out, HasSubstr("CURRENT_TIMESTAMP off by -6ms"));
  ExpectUsageError("explore --protocol spindle_v2 --current-timestamp-error 6",
                   "--current-timestamp-error: \"6\" has no unit");
}

// How far it got is an answer, too.
TEST_F(CliExploreTest, TooLittleMemoryIsSaid) {
  const Ended ended = Whorl("explore --protocol fenced_lease --crashes 2 --losses 2 --memory 3");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, AllOf(StartsWith("out of memory (--memory): fenced_lease, "),
                               HasSubstr("all runs with"), HasSubstr("no violation so far: ")));
}

TEST_F(CliExploreTest, JsonHasAVerdictForEachInvariant) {
  const Ended ended =
      Whorl("explore --protocol spindle_v3 --pauses 1 --horizon 10s --json --out report.json");
  EXPECT_EQ(ended.code, 1);
  const json document = json::parse(ended.out);
  EXPECT_EQ(document, json::parse(ReadText(folder_ / "report.json")));
  EXPECT_EQ(document["ending"], "complete");
  EXPECT_EQ(document["invariants"]["one_live_token"]["verdict"], "holds");
  EXPECT_EQ(document["invariants"]["no_wedge"]["verdict"], "not_judged");
  const json& belief = document["invariants"]["single_leader_belief"];
  EXPECT_EQ(belief["verdict"], "violated");
  EXPECT_EQ(belief["confirmed"], true);
  EXPECT_EQ(belief["promised"], false);
}

}  // namespace
}  // namespace whorl::cli_explore_test
