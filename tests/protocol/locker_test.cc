// Locker: arguments, the conditions and what is written, AcquireAnyLock, heartbeats in the
// background, and the three kinds of errors. The rules are those of the Go package's documentation.
#include "protocol/lease_lock/locker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/lease_lock/words.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::lease_lock::locker_test {
namespace {

using testing::ElementsAre;

const LeaseTerm kTenSeconds = {.lease_end = std::nullopt, .lease_duration = Seconds(10)};

const Locker& TestLocker() {
  static const Locker locker = NewLocker("locktable");
  return locker;
}

// "acquire job", or how the call ended: "job until 10s", "nothing", "unavailable".
std::string Text(const Next& next) {
  if (const auto* transaction = std::get_if<Transaction>(&next)) {
    const Value& key = transaction->statements.front().statement.parameters.front();
    return std::string(WordOf(transaction->step)) + " " + std::get<std::string>(key);
  }
  const auto& reply = std::get<Reply>(next);
  if (reply.error) {
    switch (reply.error->kind) {
      case ErrorKind::kInvalidArgument:
        return "invalid: " + reply.error->text;
      case ErrorKind::kUnavailable:
        return "unavailable";
      case ErrorKind::kFailed:
        return "failed";
    }
  }
  if (!reply.lock) return "nothing";
  return reply.lock->key + " of " + reply.lock->owner + " until " +
         FormatDuration(reply.lock->leased_until - At(Duration{}));
}

TransactionResult Committed(StatementResult result = {}) {
  return {.outcome = Outcome::kCommitted, .status = {}, .results = {std::move(result)}};
}
// Ended by the test of its first statement.
TransactionResult Refused(StatementResult result) {
  return {.outcome = Outcome::kAborted,
          .status = Error(Code::kFailedPrecondition, "refused"),
          .results = {std::move(result)}};
}
TransactionResult Failed(Outcome outcome = Outcome::kAborted) {
  return {.outcome = outcome, .status = Error(Code::kUnavailable, "lost"), .results = {}};
}
// What the test reads: another owner's row, leased until the given time.
StatementResult RowOf(std::string owner, Timestamp until, Timestamp now) {
  return {.rows = {{std::move(owner), until, now}}};
}

// Calls of a locker, which begin at `now` by the client's clock.
struct Caller {
  Next Acquires(std::string key, std::string owner, const LeaseTerm& term = kTenSeconds) {
    return AcquireLock(TestLocker(),
                       {.key = std::move(key), .owner = std::move(owner), .term = term}, now, call);
  }
  Next AcquiresAny(std::vector<std::string> keys, const LeaseTerm& term = kTenSeconds,
                   bool shuffled = false) {
    return AcquireAnyLock(
        TestLocker(),
        {.keys = std::move(keys), .owner = "a", .randomize_order = shuffled, .term = term}, now,
        entropy, call);
  }
  Next Beats(const Lock& lock, const LeaseTerm& term = kTenSeconds) {
    return HeartbeatLock(TestLocker(), {.original_lock = lock, .term = term}, now, call);
  }
  Next Releases(const Lock& lock) { return ReleaseLock(TestLocker(), lock, now, call); }
  Next Gets(const std::string& key) { return GetCurrentLock(TestLocker(), key, call); }
  // The transaction that the call has asked for ends.
  Next Hears(const TransactionResult& result) { return OnEnded(TestLocker(), call, result, now); }

  Timestamp now = At(Duration{});
  Call call;
  ScriptedEntropy entropy;
};

// --- arguments ---------------------------------------------------------------------------------

TEST(LockerTest, NeedsAKeyAndAnOwner) {
  Caller caller;
  EXPECT_EQ(Text(caller.Acquires("", "a")), "invalid: the key is required");
  EXPECT_EQ(Text(caller.Acquires("job", "")), "invalid: the owner is required");
  EXPECT_EQ(Text(caller.Beats({})), "invalid: the key is required");
  EXPECT_EQ(Text(caller.Releases({.key = "job", .owner = ""})), "invalid: the owner is required");
  EXPECT_EQ(Text(caller.Gets("")), "invalid: the key is required");
  EXPECT_EQ(Text(caller.AcquiresAny({})), "invalid: at least one key is required");
  EXPECT_EQ(Text(caller.AcquiresAny({"x", ""})), "invalid: the key is required");
}

TEST(LockerTest, NeedsExactlyOneOfLeaseEndAndLeaseDuration) {
  const LeaseTerm both = {.lease_end = At(Seconds(9)), .lease_duration = Seconds(9)};
  const std::string error = "invalid: exactly one of lease_end and lease_duration has to be given";
  for (const LeaseTerm& term : {LeaseTerm{}, both}) {
    Caller caller;
    EXPECT_EQ(Text(caller.Acquires("job", "a", term)), error);
    EXPECT_EQ(Text(caller.AcquiresAny({"job"}, term)), error);
    EXPECT_EQ(Text(caller.Beats({.key = "job", .owner = "a"}, term)), error);
  }
}

TEST(LockerTest, ALeaseDurationCountsFromTheCall) {
  Caller caller{.now = At(Seconds(3))};
  caller.Acquires("job", "a");
  EXPECT_EQ(caller.call.lock.leased_until, At(Seconds(13)));
  EXPECT_EQ(caller.call.lock.created_at, At(Seconds(3)));
  EXPECT_EQ(caller.call.lock.ttl, At(Seconds(13 + 48 * 3'600)));
  caller.Acquires("job", "a", {.lease_end = At(Seconds(99)), .lease_duration = std::nullopt});
  EXPECT_EQ(caller.call.lock.leased_until, At(Seconds(99)));
}

// --- acquiring ---------------------------------------------------------------------------------

struct Acquiring : Caller {
  explicit Acquiring(Timestamp at = At(Seconds(100))) : Caller{.now = at} {
    transaction = std::get<Transaction>(Acquires("job", "a"));
  }
  // Whether the transaction goes on after it has read such a row.
  bool Passes(StatementResult read) const {
    const std::vector<StatementResult> heard = {std::move(read)};
    return std::holds_alternative<SayCommit>(Continue(transaction, heard));
  }
  Transaction transaction;
};

TEST(LockerTest, AcquiresWhatIsAbsentOrItsOwnOrExpiredForLongerThanTheGrace) {
  // leased_until < now - 5 s, and not a nanosecond earlier.
  const Acquiring acquiring;
  const Timestamp now = At(Seconds(100));
  EXPECT_TRUE(acquiring.Passes({}));
  EXPECT_TRUE(acquiring.Passes(RowOf("a", now + Seconds(8), now))) << "a re-acquire";
  EXPECT_FALSE(acquiring.Passes(RowOf("b", now + Seconds(8), now)));
  EXPECT_FALSE(acquiring.Passes(RowOf("b", now - Seconds(1), now))) << "within the grace";
  EXPECT_FALSE(acquiring.Passes(RowOf("b", now - Seconds(5), now)));
  EXPECT_TRUE(acquiring.Passes(RowOf("b", now - Seconds(5) - Nanoseconds(1), now)));
}

TEST(LockerTest, JudgesAndWritesByTheClientsClock) {
  const Acquiring acquiring(At(Seconds(7)));
  EXPECT_EQ(acquiring.transaction.statements.front().statement.parameters,
            (std::vector<Value>{"job", At(Seconds(7))}));
  ASSERT_EQ(acquiring.transaction.mutations.size(), 1U);
  const Mutation& write = acquiring.transaction.mutations.front();
  EXPECT_EQ(write.kind, MutationKind::kInsertOrUpdate);
  EXPECT_THAT(write.columns, ElementsAre("key", "owner", "leased_until", "created_at", "ttl"));
  EXPECT_EQ(write.rows.front(),
            (Row{"job", "a", At(Seconds(17)), At(Seconds(7)), At(Seconds(17 + 48 * 3'600))}));
}

TEST(LockerTest, TellsAnotherOwnersLockFromAnyOtherError) {
  // Unavailable says for certain that another has it; anything else says nothing.
  const Timestamp now = At(Seconds(100));
  const auto outcome = [&](const TransactionResult& result) {
    return Text(Acquiring().Hears(result));
  };
  EXPECT_EQ(outcome(Committed()), "job of a until 110s");
  EXPECT_EQ(outcome(Refused(RowOf("b", now, now))), "unavailable");
  EXPECT_EQ(outcome(Failed()), "failed");
  EXPECT_EQ(outcome(Failed(Outcome::kUnknown)), "failed");
  EXPECT_EQ(outcome(Refused({.rows = {}})), "failed") << "it had read that nobody has it";
}

// --- any of several ----------------------------------------------------------------------------

struct AcquiringAny : Caller {
  explicit AcquiringAny(bool shuffled = false, std::deque<int64_t> draws = {}) {
    entropy.next = std::move(draws);
    next = AcquiresAny({"x", "y", "z"}, kTenSeconds, shuffled);
  }
  void Ends(const TransactionResult& result, Timestamp at) {
    now = at;
    next = Hears(result);
  }
  void IsTaken(Timestamp at) { Ends(Refused(RowOf("b", at, at)), at); }
  Next next;
};

TEST(LockerTest, TriesTheKeysOneAfterTheOther) {
  AcquiringAny any;
  EXPECT_EQ(Text(any.next), "acquire x");
  any.IsTaken(At(Seconds(1)));
  EXPECT_EQ(Text(any.next), "acquire y");
  any.Ends(Committed(), At(Seconds(2)));
  EXPECT_EQ(Text(any.next), "y of a until 11s") << "a lease counts from the attempt";
}

TEST(LockerTest, IsUnavailableOnlyWhenEveryKeyWas) {
  AcquiringAny any;
  any.IsTaken(At(Seconds(1)));
  any.IsTaken(At(Seconds(2)));
  EXPECT_EQ(Text(any.next), "acquire z");
  any.IsTaken(At(Seconds(3)));
  EXPECT_EQ(Text(any.next), "unavailable");
}

TEST(LockerTest, AnotherErrorEndsTheSearch) {
  AcquiringAny any;
  any.IsTaken(At(Seconds(1)));
  any.Ends(Failed(), At(Seconds(2)));
  EXPECT_EQ(Text(any.next), "failed");
}

TEST(LockerTest, ShufflesTheKeysIfAskedTo) {
  // So that many clients do not all begin with the same key.
  AcquiringAny any(true, {0, 0});  // z stands where x stood, and then y where z stands now
  EXPECT_THAT(any.entropy.draws,
              ElementsAre(ScriptedEntropy::Draw{.purpose = purposes::kKeyOrder, .lo = 0, .hi = 2},
                          ScriptedEntropy::Draw{.purpose = purposes::kKeyOrder, .lo = 0, .hi = 1}));
  EXPECT_EQ(Text(any.next), "acquire y");
  EXPECT_THAT(any.call.keys_left, ElementsAre("z", "x"));
  EXPECT_TRUE(AcquiringAny().entropy.draws.empty());
}

// --- heartbeats --------------------------------------------------------------------------------

const Lock kHeld = {.key = "job",
                    .owner = "a",
                    .leased_until = At(Seconds(10)),
                    .created_at = At(Duration{}),
                    .ttl = {}};

TEST(LockerTest, AHeartbeatRenewsWhatIsStillTheOwnersWhateverItsLease) {
  // The row's owner is all that counts: leased_until of the lock that is passed in is ignored.
  Caller caller{.now = At(Seconds(60))};
  const auto transaction = std::get<Transaction>(caller.Beats(kHeld));
  const Statement& update = transaction.statements.front().statement;
  EXPECT_EQ(update.parameters, (std::vector<Value>{"job", "a", At(Seconds(70)), At(Seconds(60)),
                                                   At(Seconds(70 + 48 * 3'600))}));
  EXPECT_TRUE(update.sql.text().ends_with("WHERE key = @key AND owner = @owner"));
  EXPECT_EQ(transaction.body, Body{IfRowChanged{}});
  EXPECT_EQ(Text(caller.Hears(Committed({.row_count = 1}))), "job of a until 70s");
}

TEST(LockerTest, AHeartbeatFailsWhenAnotherHasHadTheLock) {
  // Also when that one has released it: then there is no row.
  const auto outcome = [](const TransactionResult& result) {
    Caller caller;
    caller.Beats(kHeld);
    return Text(caller.Hears(result));
  };
  EXPECT_EQ(outcome(Refused({.row_count = 0})), "unavailable");
  EXPECT_EQ(outcome(Failed()), "failed");
  TransactionResult lost_commit = Failed(Outcome::kUnknown);
  lost_commit.results = {{.row_count = 1}};
  EXPECT_EQ(outcome(lost_commit), "failed");
}

TEST(LockerTest, BackgroundHeartbeatsGoOnUntilOneFails) {
  Background beats;
  ASSERT_FALSE(
      StartBackgroundHeartbeats(kHeld, Seconds(3), Seconds(10), ShownAfter(Seconds(1)), beats));
  EXPECT_EQ(beats.tick_at, ShownAfter(Seconds(4)));
  Call call;
  const LocalTime at4 = {.monotonic = ShownAfter(Seconds(4)), .wall = At(Seconds(4))};
  EXPECT_EQ(Text(OnTick(TestLocker(), beats, at4, call)), "heartbeat job");
  EXPECT_TRUE(beats.beating);
  EXPECT_EQ(beats.tick_at, ShownAfter(Seconds(7)));
  OnBeatEnded(beats, {.lock = call.lock, .error = std::nullopt});
  EXPECT_FALSE(beats.beating);
  EXPECT_EQ(beats.lock.leased_until, At(Seconds(14))) << "the caller's lock is updated";
  OnTick(TestLocker(), beats, {.monotonic = ShownAfter(Seconds(7)), .wall = At(Seconds(7))}, call);
  OnBeatEnded(beats, {.lock = std::nullopt,
                      .error = LockerError{.kind = ErrorKind::kUnavailable, .text = "taken"}});
  ASSERT_TRUE(beats.error.has_value());
  EXPECT_EQ(beats.error->kind, ErrorKind::kUnavailable);
  EXPECT_EQ(beats.lock.leased_until, At(Seconds(14)));
}

TEST(LockerTest, OfTicksThatWereMissedOneIsKept) {
  // As with Go's ticker: a heartbeat that took three intervals is followed by one at once.
  Background beats;
  StartBackgroundHeartbeats(kHeld, Seconds(3), Seconds(10), LocalInstant{}, beats);
  Call call;
  OnTick(TestLocker(), beats, {.monotonic = ShownAfter(Seconds(3)), .wall = {}}, call);
  OnBeatEnded(beats, {.lock = call.lock, .error = std::nullopt});
  EXPECT_EQ(beats.tick_at, ShownAfter(Seconds(6)));
  OnTick(TestLocker(), beats, {.monotonic = ShownAfter(Milliseconds(12'500)), .wall = {}}, call);
  EXPECT_EQ(beats.tick_at, ShownAfter(Seconds(15)));
}

TEST(LockerTest, BackgroundHeartbeatsNeedAnIntervalAndALease) {
  Background beats;
  for (const auto& [interval, lease] :
       {std::pair(Duration{}, Seconds(1)), std::pair(Seconds(1), Duration{})}) {
    const auto error = StartBackgroundHeartbeats(kHeld, interval, lease, LocalInstant{}, beats);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind, ErrorKind::kInvalidArgument);
  }
}

// --- releasing and looking ---------------------------------------------------------------------

TEST(LockerTest, ReleasesUnderTheConditionOfAcquiring) {
  // So a clock that is ahead deletes another owner's live lease: finding L2.
  Caller caller{.now = At(Seconds(100))};
  const auto release = std::get<Transaction>(caller.Releases(kHeld));
  const Acquiring acquiring;
  EXPECT_EQ(release.statements.front().statement,
            acquiring.transaction.statements.front().statement);
  EXPECT_EQ(release.body, acquiring.transaction.body);
  ASSERT_EQ(release.mutations.size(), 1U);
  EXPECT_EQ(release.mutations.front().kind, MutationKind::kDelete);
  EXPECT_EQ(release.mutations.front().keys.keys, (std::vector<Row>{{"job"}}));
}

TEST(LockerTest, IsNoErrorToReleaseWhatNobodyHas) {
  const auto outcome = [](const TransactionResult& result) {
    Caller caller{.now = At(Seconds(100))};
    caller.Releases(kHeld);
    return Text(caller.Hears(result));
  };
  EXPECT_EQ(outcome(Committed({.rows = {}})), "nothing");
  EXPECT_EQ(outcome(Refused(RowOf("b", At(Seconds(99)), At(Seconds(100))))), "unavailable");
  EXPECT_EQ(outcome(Failed()), "failed");
}

TEST(LockerTest, GetCurrentLockReadsTheRowAsItStands) {
  const auto outcome = [](std::vector<Row> rows) {
    Caller caller;
    EXPECT_EQ(std::get<Transaction>(caller.Gets("job")).mode, Mode::kStrongRead);
    return Text(caller.Hears(Committed({.rows = std::move(rows)})));
  };
  EXPECT_EQ(outcome({}), "nothing");
  EXPECT_EQ(outcome({{"job", "b", At(Seconds(3)), At(Duration{}), At(Duration{})}}),
            "job of b until 3s");
}

}  // namespace
}  // namespace whorl::lease_lock::locker_test
