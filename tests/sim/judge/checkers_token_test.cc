// one_live_token, token_monotonic, handed_token_monotonic: the violations that each must catch, and
// near misses.
#include "tests/sim/judge/checkers_testing.h"

namespace whorl::sim::checkers_token_test {
namespace {

constexpr Invariant kOneLive = Invariant::kOneLiveToken;
constexpr Invariant kMonotonic = Invariant::kTokenMonotonic;
constexpr Invariant kHanded = Invariant::kHandedTokenMonotonic;

// --- one_live_token ----------------------------------------------------------------------------

TEST(OneLiveTokenTest, CatchesASecondProcessThatLearnsTheLiveToken) {
  // Two holders of a live token would both be answered that they have the lock.
  Trace trace = HeldByA();
  trace.At(Seconds(2)).Knows("b", Seconds(1));
  ExpectViolated(trace.EndsAt(Seconds(3)), kOneLive, Seconds(2), 5, {"a, b", "lock"});
}

TEST(OneLiveTokenTest, CatchesATokenThatBecomesLiveWhenTwoAlreadyKeepIt) {
  // The row may change last: both take the token for their own before it is stored.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Knows("a", Seconds(5)).Knows("b", Seconds(5));
  trace.At(Seconds(5)).Grants("a", Seconds(5));
  ExpectViolated(trace.EndsAt(Seconds(6)), kOneLive, Seconds(5), 5);
}

TEST(OneLiveTokenTest, CountsHowOftenItIsBrokenAndKeepsTheFirst) {
  // A report shows where it began, and a sweep compares how often.
  Trace trace{"a", "b", "c"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Starts("c");
  trace.Grants("a", Seconds(1)).Knows("a", Seconds(1));
  trace.At(Seconds(2)).Knows("b", Seconds(1));
  trace.At(Seconds(3)).Heartbeats("a").Knows("c", Seconds(1));
  const CheckReport report = trace.EndsAt(Seconds(4));
  ExpectViolated(report, kOneLive, Seconds(2));
  EXPECT_EQ(report[kOneLive].violations, 2);
}

TEST(OneLiveTokenTest, AllowsAnOldHolderThatKeepsADeadToken) {
  // spindle never clears its own token; only the newest version's counts.
  Trace trace = HeldByA();
  trace.At(Seconds(20)).Grants("b", Seconds(20)).Knows("b", Seconds(20));
  trace.At(Seconds(21)).Knows("a", Seconds(1), /*answers=*/false);
  ExpectHolds(trace.EndsAt(Seconds(22)), kOneLive);
}

TEST(OneLiveTokenTest, AllowsTwoThatKeepTheSameDeadToken) {
  // Equal tokens matter only while one of them is live.
  Trace trace{"a", "b", "c"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Starts("c");
  trace.Grants("c", Seconds(9)).Knows("a", Seconds(1)).Knows("b", Seconds(1));
  ExpectHolds(trace.EndsAt(Seconds(2)), kOneLive);
}

TEST(OneLiveTokenTest, ForgetsTheTokenOfAProcessThatIsGone) {
  // A crashed process answers nobody, so it may have known the token.
  Trace trace = HeldByA();
  trace.At(Seconds(2)).Crashes("a");
  trace.At(Seconds(3)).Knows("b", Seconds(1));
  trace.At(Seconds(4)).Starts("a").Knows("a", std::nullopt);
  ExpectHolds(trace.EndsAt(Seconds(5)), kOneLive);
}

TEST(OneLiveTokenTest, CountsAStoppedProcessThatIsNotGone) {
  // A stopped process that still runs may take the lock in a round under way.
  Trace trace = HeldByA();
  trace.At(Seconds(2)).Stops("a");
  trace.At(Seconds(3)).Knows("b", Seconds(1));
  ExpectViolated(trace.EndsAt(Seconds(4)), kOneLive, Seconds(3));
}

TEST(OneLiveTokenTest, KeepsLocksApart) {
  // The same commit timestamp may be the token of two locks.
  Trace trace(MakeScenario({"a", "b"}, {"x", "y"}));
  trace.At(Seconds(1)).Starts("a").Starts("b");
  trace.Lock("x").Grants("a", Seconds(1)).Knows("a", Seconds(1));
  trace.Lock("y").Grants("b", Seconds(1)).Knows("b", Seconds(1));
  ExpectHolds(trace.EndsAt(Seconds(2)), kOneLive);
}

TEST(OneLiveTokenTest, AllowsTwoThatKeepADeletedRowsToken) {
  // Without a row no token is live.
  Trace trace = HeldByA();
  trace.At(Seconds(2)).OperatorDeletes("lock").Knows("b", Seconds(1));
  ExpectHolds(trace.EndsAt(Seconds(3)), kOneLive);
}

// --- token_monotonic ---------------------------------------------------------------------------

TEST(TokenMonotonicTest, CatchesATokenThatGoesBack) {
  // S4: a late UPDATE writes an older takeover row's timestamp over a newer token.
  Trace trace = TakenByA();
  trace.At(Seconds(30)).Grants("a", Seconds(30));
  trace.At(Seconds(31)).Grants("b", Seconds(29));
  ExpectViolated(trace.EndsAt(Seconds(32)), kMonotonic, Seconds(31), 5, {"b", "lock", "00:00:29Z"});
}

TEST(TokenMonotonicTest, RemembersTokensOfDeletedRows) {
  // A row that was deleted and comes back must not start over.
  Trace trace{"a", "b"};
  trace.At(Seconds(5)).Starts("a").Starts("b").Grants("a", Seconds(5));
  trace.At(Seconds(6)).OperatorDeletes("lock");
  trace.At(Seconds(7)).Grants("b", Seconds(4));
  ExpectViolated(trace.EndsAt(Seconds(8)), kMonotonic, Seconds(7));
}

TEST(TokenMonotonicTest, ComparesWithTheGreatestAndNotWithTheLast) {
  // After a step back, a token between the two is below what was stored before.
  Trace trace{"a", "b"};
  trace.At(Seconds(30)).Starts("a").Starts("b").Grants("a", Seconds(30));
  trace.At(Seconds(31)).Grants("b", Seconds(20));
  trace.At(Seconds(32)).Grants("a", Seconds(25));
  EXPECT_EQ(trace.EndsAt(Seconds(33))[kMonotonic].violations, 2);
}

TEST(TokenMonotonicTest, CatchesAnEqualTokenOfAnotherOwner) {
  // An equal token would let two terms pass the same fence.
  Trace trace{"a", "b"};
  trace.At(Seconds(5)).Starts("a").Starts("b").Grants("a", Seconds(5));
  trace.At(Seconds(6)).OperatorDeletes("lock");
  trace.At(Seconds(7)).Grants("b", Seconds(5));
  ExpectViolated(trace.EndsAt(Seconds(8)), kMonotonic, Seconds(7));
}

TEST(TokenMonotonicTest, AllowsAnEqualTokenOfTheSameOwner) {
  // The boundary: only a change of owner needs a greater token.
  Trace trace{"a"};
  trace.At(Seconds(5)).Starts("a").Grants("a", Seconds(5));
  trace.At(Seconds(6)).OperatorDeletes("lock");
  trace.At(Seconds(7)).Grants("a", Seconds(5));
  ExpectHolds(trace.EndsAt(Seconds(8)), kMonotonic);
}

TEST(TokenMonotonicTest, ComparesWithRowsOfTheStart) {
  // The row of the start may hold a token that is greater than the next commit's.
  Trace trace{"a"};
  trace.RowIsThere("lock", Seconds(9), Seconds(-20));
  trace.At(Seconds(1)).Starts("a").Grants("a", Seconds(8));
  ExpectViolated(trace.EndsAt(Seconds(2)), kMonotonic, Seconds(1));
}

TEST(TokenMonotonicTest, LeavesHeartbeatsAlone) {
  // A heartbeat commits no token, not even after the token had gone back.
  Trace trace{"a", "b"};
  trace.At(Seconds(5)).Starts("a").Starts("b").Grants("a", Seconds(5)).Grants("b", Seconds(4));
  trace.At(Seconds(6)).Heartbeats("b").Heartbeats("a");
  EXPECT_EQ(trace.EndsAt(Seconds(7))[kMonotonic].violations, 1);
}

TEST(TokenMonotonicTest, IgnoresTakeoverRowsAndKeepsLocksApart) {
  // Takeover rows carry no tokens, and every lock's tokens grow on their own.
  Trace trace(MakeScenario({"a"}, {"x", "y"}));
  trace.At(Seconds(5)).Starts("a").Lock("x").Grants("a", Seconds(5)).Inserts("a", "x_123");
  trace.Lock("y").Grants("a", Seconds(3)).Deletes("a", "x_123");
  ExpectHolds(trace.EndsAt(Seconds(6)), kMonotonic);
}

// --- handed_token_monotonic --------------------------------------------------------------------

TEST(HandedTokenMonotonicTest, CatchesASmallerTokenInAnotherTerm) {
  // S12: half of all successive hashes go down, and a fence refuses the rightful leader.
  Trace trace = HeldByA();
  trace.At(Seconds(2)).IsAnsweredYes("a", Seconds(2), 900);
  trace.At(Seconds(20)).Grants("b", Seconds(20)).Knows("b", Seconds(20));
  trace.At(Seconds(21)).IsAnsweredYes("b", Seconds(21), 899);
  ExpectViolated(trace.EndsAt(Seconds(22)), kHanded, Seconds(21), 8, {"a", "b", "900", "899"});
}

TEST(HandedTokenMonotonicTest, CatchesAnEqualTokenInAnotherTerm) {
  // "Greater than": an equal token does not tell the terms apart.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Knows("a", Seconds(1)).Knows("b", Seconds(2));
  trace.At(Seconds(2)).IsAnsweredYes("a", Seconds(2), 900);
  trace.At(Seconds(3)).IsAnsweredYes("b", Seconds(3), 900, Question::kHasLock2);
  ExpectViolated(trace.EndsAt(Seconds(4)), kHanded, Seconds(3));
}

TEST(HandedTokenMonotonicTest, AllowsOneTermToBeHandedItsTokenAgain) {
  // HasLock hands the same token out at every call.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Knows("a", Seconds(1)).Knows("b", Seconds(2));
  trace.At(Seconds(2)).IsAnsweredYes("a", Seconds(2), 900).IsAnsweredYes("a", Seconds(2), 900);
  trace.At(Seconds(3)).IsAnsweredYes("b", Seconds(3), 901).IsAnsweredYes("b", Seconds(3), 901);
  ExpectHolds(trace.EndsAt(Seconds(4)), kHanded);
}

TEST(HandedTokenMonotonicTest, TakesANewTokenOfTheSameProcessForANewTerm) {
  // A process that lost the lock and won it again is fenced like any other.
  Trace trace{"a"};
  trace.At(Seconds(1)).Starts("a").Knows("a", Seconds(1)).IsAnsweredYes("a", Seconds(1), 900);
  trace.At(Seconds(2)).Knows("a", Seconds(2)).IsAnsweredYes("a", Seconds(2), 500);
  ExpectViolated(trace.EndsAt(Seconds(3)), kHanded, Seconds(2));
}

TEST(HandedTokenMonotonicTest, ComparesWithAllOtherTermsNotOnlyTheLast) {
  // 700 is above the last one, 600, but not above 800 of the term before.
  Trace trace{"a", "b", "c"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Starts("c");
  trace.Knows("a", Seconds(1)).Knows("b", Seconds(2)).Knows("c", Seconds(3));
  trace.At(Seconds(1)).IsAnsweredYes("a", Seconds(1), 800);
  trace.At(Seconds(2)).IsAnsweredYes("b", Seconds(2), 600);
  trace.At(Seconds(3)).IsAnsweredYes("c", Seconds(3), 700);
  // The first term again: its own 800 does not count, but 700 of the others does.
  trace.At(Seconds(4)).IsAnsweredYes("a", Seconds(4), 750);
  trace.At(Seconds(5)).IsAnsweredYes("a", Seconds(5), 650);
  const CheckReport report = trace.EndsAt(Seconds(6));
  ExpectViolated(report, kHanded, Seconds(2));
  EXPECT_EQ(report[kHanded].violations, 3);
}

TEST(HandedTokenMonotonicTest, IgnoresAnswersThatHandNothingOut) {
  // "No" carries the reader's view of the row, and Leader() hands out a name.
  Trace trace{"a", "b"};
  trace.At(Seconds(1)).Starts("a").Starts("b").Knows("a", Seconds(1)).Knows("b", Seconds(2));
  trace.IsAnsweredYes("a", Seconds(1), 900);
  trace.IsTold("b", false, Seconds(1), 5).IsAnsweredYes("b", Seconds(1), 5, Question::kLeader);
  trace.IsAnsweredYes("b", Seconds(1), std::nullopt);
  ExpectHolds(trace.EndsAt(Seconds(2)), kHanded);
}

TEST(HandedTokenMonotonicTest, KeepsLocksApart) {
  // Each lock has its own resource and its own terms.
  Trace trace(MakeScenario({"a", "b"}, {"x", "y"}));
  trace.At(Seconds(1)).Starts("a").Starts("b").Lock("x").IsAnsweredYes("a", Seconds(1), 900);
  trace.Lock("y").IsAnsweredYes("b", Seconds(1), 5);
  ExpectHolds(trace.EndsAt(Seconds(2)), kHanded);
}

}  // namespace
}  // namespace whorl::sim::checkers_token_test
