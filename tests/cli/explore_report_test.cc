// What a search says of a violation that the exact replay does not confirm: it is neither found nor held.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/explore/report.h"

namespace whorl::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class UnconfirmedTest : public testing::Test {
 protected:
  UnconfirmedTest() {
    report_.result.violations.push_back(
        {.property = static_cast<int>(Invariant::kIsolation), .kind = 0, .faults = 1, .path = {}});
    report_.result.ending = explore::Ending::kComplete;
    report_.findings.push_back({.invariant = Invariant::kIsolation,
                                .violation = report_.result.violations.data(),
                                .states = 3,
                                .promised = true,
                                .decides = true,
                                .found = {},
                                .saved = {}});
  }

  std::string Printed() const {
    testing::internal::CaptureStdout();
    PrintExplored(report_, 3);
    return testing::internal::GetCapturedStdout();
  }

  static ExploreRequest Request() {
    ExploreRequest request;
    request.world.protocol = "fenced_lease";
    request.world.lease = Seconds(4);
    request.bounds.grid = Seconds(1);
    return request;
  }

  ExploreRequest request_ = Request();
  const sim::LockModel model_{request_.world, request_.bounds};
  ExploreReport report_ = {.request = request_,
                           .model = model_,
                           .watched = BitOf(Invariant::kIsolation) | BitOf(Invariant::kNoWedge),
                           .result = {},
                           .findings = {}};
};

TEST_F(UnconfirmedTest, HasALineOfItsOwnAndDoesNotHold) {
  const std::string text = Printed();
  EXPECT_THAT(text, AllOf(HasSubstr("\nnot confirmed: isolation (promised), 1 fault"),
                          HasSubstr("neither found nor held"), Not(HasSubstr("violated: ")),
                          HasSubstr(", since it is not promised: no_wedge\n")));
  const sim::Json document = ExploredDocument(report_);
  EXPECT_EQ(document["invariants"]["isolation"]["verdict"], "unknown");
  EXPECT_EQ(document["invariants"]["isolation"]["counterexamples"][0]["confirmed"], false);
  EXPECT_EQ(document["invariants"]["no_wedge"]["verdict"], "holds");
}

// Which entry of its schedule the replay could not take is of no use to a reader. Fewer coincidences are.
TEST_F(UnconfirmedTest, SaysInOneSentenceWhatHappenedAndWhatToDo) {
  report_.findings.front().found.run.schedule_problem = "the entry /schedule/28 cannot happen: {}";
  EXPECT_THAT(Printed(),
              AllOf(HasSubstr("\n  neither found nor held: the search came to a violation, "
                              "and the exact replay of its steps, in which events within "
                              "one millisecond keep their order, does not; try another "
                              "--grid, or --start-within\n"),
                    Not(HasSubstr("/schedule/"))));
  request_.world.grid_constants = true;
  EXPECT_THAT(Printed(), HasSubstr("; explore with the shipped constants (--constants shipped)\n"));
}

TEST_F(UnconfirmedTest, IsAnErrorOfAJunitReport) {
  const std::vector<JunitTest> tests = JunitTestsOf(report_);
  ASSERT_EQ(tests.size(), 2U);
  EXPECT_EQ(tests[0].outcome, JunitOutcome::kError);
  EXPECT_THAT(tests[0].text, StartsWith("neither found nor held"));
  EXPECT_EQ(tests[1].outcome, JunitOutcome::kPassed);
}

// One that is confirmed beside it is found.
TEST_F(UnconfirmedTest, AConfirmedOneBesideItIsFound) {
  report_.findings.push_back(report_.findings.front());
  report_.findings.back().found.is_confirmed = true;
  auto& invariants = report_.findings.back().found.run.checks.invariants;
  invariants.resize(kCountOf<Invariant>);
  invariants[static_cast<size_t>(Invariant::kIsolation)].first = {.text = "b wrote a's row"};
  EXPECT_THAT(Printed(), AllOf(HasSubstr("not confirmed: isolation"),
                               HasSubstr("violated: isolation"), HasSubstr("b wrote a's row")));
  EXPECT_EQ(ExploredDocument(report_)["invariants"]["isolation"]["verdict"], "violated");
  EXPECT_EQ(JunitTestsOf(report_)[0].outcome, JunitOutcome::kFailed);
}

}  // namespace
}  // namespace whorl::cli
