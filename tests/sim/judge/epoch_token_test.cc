// Tokens that are no timestamps: a protocol whose rows count their grants is judged as one whose
// rows keep commit timestamps, and so are its mistakes. In a program of its own, because protocols
// that are added are there for all tests of a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "sim/report/trace.h"
#include "sim/scenario/names.h"
#include "tests/support/epoch_lease.h"
#include "tests/support/sim_testing.h"

namespace whorl::sim::epoch_token_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class EpochToken : public testing::Test {
 protected:
  static void SetUpTestSuite() { epoch_lease::AddBoth(); }

  static Scenario TwoNodes(std::string_view protocol, const std::string& faults) {
    return ScenarioOf(R"({"version": 1, "about": "a test", "protocol": ")" + std::string(protocol) +
                      R"(", "lease": "5s",
      "nodes": [{"name": "a", "id": "a"}, {"name": "b", "id": "b", "start_at": "2s"}],
      "duration": "60s", "seed": 1, "faults": [)" +
                      faults + "]}");
  }
  static constexpr const char* kPause =
      R"({"at": "20s", "do": "pause", "node": "a", "for": "15s"})";
};

TEST_F(EpochToken, IsJudgedLikeATimestamp) {
  // A pause beyond the lease: b takes over with the next epoch, and nothing is violated.
  const Witness run = Watch(TwoNodes(epoch_lease::kName, kPause));
  for (const Invariant invariant : AllOf<Invariant>()) {
    EXPECT_EQ(run.result.checks[invariant].verdict, Verdict::kHolds) << WordOf(invariant);
  }
  EXPECT_EQ(run.result.checks.metrics[Metric::kGrants], 2);
  EXPECT_EQ(run.result.checks.metrics[Metric::kTakeovers], 1);
}

TEST_F(EpochToken, OfTwoHoldersIsOneTooMany) {
  // A takeover that does not raise the epoch leaves the paused leader with a token that fences
  // nobody.
  const Witness run = Watch(TwoNodes(epoch_lease::kForgetfulName, kPause));
  const InvariantResult& broken = run.result.checks[Invariant::kOneLiveToken];
  ASSERT_EQ(broken.verdict, Verdict::kViolated);
  EXPECT_THAT(broken.first->text,
              HasSubstr("take the live token 1 of lock \"lock\" for their own"));
}

TEST_F(EpochToken, MayNotComeAgainWithARowThatWasDeleted) {
  // A row that is made anew counts from 1, which an epoch must not: old writes pass the fence.
  const Witness run = Watch(
      TwoNodes(epoch_lease::kName, std::string(kPause) + R"(, {"at": "50s", "do": "delete_row"})"));
  const InvariantResult& broken = run.result.checks[Invariant::kTokenMonotonic];
  ASSERT_EQ(broken.verdict, Verdict::kViolated);
  EXPECT_THAT(broken.first->text,
              HasSubstr("committed the token 1 of lock \"lock\", which had already had 2"));
}

TEST_F(EpochToken, IsWrittenAsANumber) {
  // In the trace like every INT64: as a string, which no reader takes for a double.
  const Scenario scenario = TwoNodes(epoch_lease::kName, "");
  const JsonPrinter printer(NamesOf(scenario));
  std::vector<std::string> lines;
  for (const Observation& observation : Watch(scenario).observations) {
    lines.push_back(TraceLine(printer, observation, 1, 0));
  }
  EXPECT_THAT(lines, Contains(HasSubstr(R"("own_token":"1")")));
  EXPECT_EQ(FormatToken(Token(int64_t{42})), "42");
  EXPECT_EQ(FormatToken(Token(kStartTime)), FormatRfc3339(kStartTime));
}

TEST(Token, IsOrderedWithinItsType) {
  // What token_monotonic compares.
  EXPECT_LT(Token(int64_t{2}), Token(int64_t{10}));
  EXPECT_LT(Token(kStartTime), Token(kStartTime + Nanoseconds(1)));
  EXPECT_EQ(Token::In(Value(int64_t{7})), Token(int64_t{7}));
  EXPECT_EQ(Token::In(Value(std::string("7"))), std::nullopt);
  EXPECT_EQ(Token(int64_t{7}).Number(), 7U);
}

}  // namespace
}  // namespace whorl::sim::epoch_token_test
