// The pool's sessions: who gets which, and when they are made, kept alive and let go.
#include "protocol/client/session_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/protocol/protocol_testing.h"

namespace whorl::session_pool_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A pool under a test's hands: every verb says what happened, `did` keeps one line for each effect.
class Host {
 public:
  explicit Host(SessionPoolPolicy policy) : policy_(policy) {}

  Host& Opens() { return Does(OpenPool, now); }
  Host& Asks(AskerId asker, std::optional<LocalInstant> give_up_at = {}) {
    return Does(AskForSession, now, asker, give_up_at);
  }
  Host& Returns(const SessionName& name, bool lost = false) {
    return Does(ReturnSession, now, name, lost);
  }
  Host& Creates(int32_t asked, const std::vector<SessionName>& names) {
    return Does(OnSessionsCreated, now, asked, names);
  }
  Host& FailsToCreate(int32_t asked, Code code) {
    entropy.next.clear();
    return Does([&](auto& policy, auto& held, auto& out) {
      OnCreationFailed(policy, held, now, entropy, asked, Error(code, "why"), out);
    });
  }
  Host& Pings(const SessionName& name, Status status = {}) {
    return Does(OnPinged, now, name, status);
  }
  // Time passes up to the next moment at which the pool has something to do.
  Host& WaitsForIt() {
    const std::optional<LocalInstant> next = NextPoolTime(policy_, pool);
    EXPECT_TRUE(next.has_value()) << "nothing to wait for";
    now = std::max(now, next.value_or(now));
    return Does(OnPoolTime, now);
  }
  Host& Later(Duration duration) {
    now += duration;
    return *this;
  }
  Host& Closes() {
    return Does([&](auto& policy, auto& held, auto& out) { ClosePool(policy, held, out); });
  }

  SessionPool pool;
  ScriptedEntropy entropy;
  LocalInstant now = LocalInstant{} + Seconds(1000);
  std::vector<std::string> did;
  std::vector<PoolEffect> effects;  // what the last verb led to

 private:
  template <typename F, typename... Args>
  Host& Does(F verb, const Args&... args) {
    effects.clear();
    verb(policy_, pool, args..., effects);
    for (const PoolEffect& effect : effects) did.push_back(Text(effect));
    return *this;
  }
  static std::string Text(const PoolEffect& effect) {
    if (const auto* create = std::get_if<CreateSessions>(&effect)) {
      return (create->multiplexed ? "create multiplexed " : "create ") +
             std::to_string(create->count);
    }
    if (const auto* ping = std::get_if<PingSession>(&effect)) return "ping " + ping->name;
    if (const auto* let_go = std::get_if<LetGoSession>(&effect)) return "let go " + let_go->name;
    if (const auto* granted = std::get_if<SessionGranted>(&effect)) {
      return std::to_string(granted->asker) + " gets " + granted->session.name;
    }
    const auto& refused = std::get<SessionRefused>(effect);
    return std::to_string(refused.asker) + " hears " + std::string(WordOf(refused.status.code));
  }

  SessionPoolPolicy policy_;
};

SessionPoolPolicy Regular(int32_t min, int32_t max) {
  SessionPoolPolicy policy = RegularSessionPolicy();
  policy.min_sessions = min;
  policy.max_sessions = max;
  policy.batch = 2;
  return policy;
}

Status SessionIsGone() { return Error(Code::kNotFound, "Session not found: s1"); }

// --- regular sessions --------------------------------------------------------------------------

TEST(RegularPoolTest, StartsWithItsLeastNumberInBatches) {
  // The first transaction of a process should not wait for a session.
  Host host(Regular(3, 5));
  EXPECT_THAT(host.Opens().did, ElementsAre("create 2", "create 1"));
}

TEST(RegularPoolTest, GivesASessionToOneUserAtATime) {
  // One transaction at a time is all that a regular session can have; a second one closes the
  // first.
  Host host(Regular(0, 1));
  EXPECT_THAT(host.Asks(1).Creates(1, {"s1"}).Asks(2).did, ElementsAre("create 1", "1 gets s1"));
  EXPECT_EQ(host.Returns("s1").did.back(), "2 gets s1");
}

TEST(RegularPoolTest, ServesInTheOrderOfAskingAndNotMoreThanOnce) {
  // Nobody starves, and a session for which nobody waits stays idle.
  Host host(Regular(0, 2));
  host.Asks(1).Asks(2).Asks(3).Creates(1, {"s1"}).Creates(1, {"s2"}).Returns("s1").Returns("s1");
  EXPECT_THAT(host.did, ElementsAre("create 1", "create 1", "1 gets s1", "2 gets s2", "3 gets s1"));
}

TEST(RegularPoolTest, AsksAgainForWhatABatchDidNotBring) {
  // Spanner may create fewer sessions than asked for.
  Host host(Regular(2, 2));
  EXPECT_THAT(host.Opens().Creates(2, {"s1"}).did, ElementsAre("create 2", "create 1"));
}

TEST(RegularPoolTest, ReplacesALostSession) {
  // It is never handed out again: every transaction on it would fail.
  Host host(Regular(1, 1));
  host.Opens().Creates(1, {"s1"}).Asks(1).Returns("s1", /*lost=*/true).Asks(2).Creates(1, {"s2"});
  EXPECT_THAT(host.did, ElementsAre("create 1", "1 gets s1", "create 1", "2 gets s2"));
}

TEST(RegularPoolTest, KeepsIdleSessionsAliveBeforeTheHourIsOver) {
  // Spanner deletes a session that was idle for an hour. A pinged one is not handed out.
  Host host(Regular(1, 1));
  host.Opens().Creates(1, {"s1"}).WaitsForIt();
  EXPECT_EQ(host.now, LocalInstant{} + Seconds(1000 + 50 * 60));
  EXPECT_THAT(host.Asks(1).did, ElementsAre("create 1", "ping s1"));
  EXPECT_EQ(host.Pings("s1").did.back(), "1 gets s1");
}

TEST(RegularPoolTest, ReplacesASessionThatAPingDidNotFind) {
  // It is better found by the ping than by the next transaction.
  Host host(Regular(1, 1));
  host.Opens().Creates(1, {"s1"}).WaitsForIt().Pings("s1", SessionIsGone());
  EXPECT_THAT(host.did, ElementsAre("create 1", "ping s1", "create 1"));
}

TEST(RegularPoolTest, PingsAgainSoonWhenAPingToldNothing) {
  // The hour is still running.
  Host host(Regular(1, 1));
  host.Opens().Creates(1, {"s1"}).WaitsForIt();
  const LocalInstant pinged = host.now;
  host.Pings("s1", Error(Code::kUnavailable, "")).WaitsForIt();
  EXPECT_EQ(host.now, pinged + Seconds(60));
  EXPECT_EQ(host.did.back(), "ping s1");
}

TEST(RegularPoolTest, LetsIdleSessionsGoThatAreMoreThanTheLeast) {
  // They served a burst that is over.
  Host host(Regular(1, 2));
  host.Opens().Creates(1, {"s1"}).Asks(1).Asks(2).Creates(1, {"s2"});
  host.Returns("s1").Later(Seconds(1)).Returns("s2").WaitsForIt();
  EXPECT_EQ(host.did.back(), "let go s1");
}

TEST(RegularPoolTest, ReplacesSessionsOf28Days) {
  // Spanner may delete them then; an idle one at once, one in use when it comes back.
  Host host(Regular(1, 2));
  host.Opens().Creates(1, {"s1"}).Asks(1).Later(Seconds(28 * 24 * 3600)).Returns("s1");
  EXPECT_THAT(host.did, ElementsAre("create 1", "1 gets s1", "let go s1", "create 1"));
}

TEST(RegularPoolTest, TriesACreationAgainThatMaySucceedLater) {
  // Spanner was out of reach; who waits goes on waiting.
  Host host(Regular(0, 1));
  EXPECT_THAT(host.Asks(1).FailsToCreate(1, Code::kUnavailable).did, ElementsAre("create 1"));
  host.WaitsForIt();
  EXPECT_EQ(host.now, LocalInstant{} + Seconds(1000) + Milliseconds(250));
  EXPECT_THAT(host.Creates(1, {"s1"}).did, ElementsAre("create 1", "create 1", "1 gets s1"));
}

TEST(RegularPoolTest, TellsEverybodyOfARefusalAndTriesAgainOnlyWhenAsked) {
  // A database that is not there does not come by asking every second.
  Host host(Regular(1, 4));
  host.Opens().Asks(1).Asks(2).FailsToCreate(1, Code::kPermissionDenied);
  EXPECT_THAT(host.did, ElementsAre("create 1", "create 1", "1 hears PERMISSION_DENIED",
                                    "2 hears PERMISSION_DENIED"));
  host.FailsToCreate(1, Code::kPermissionDenied);
  EXPECT_THAT(host.effects, IsEmpty());
  EXPECT_EQ(NextPoolTime(Regular(1, 4), host.pool), std::nullopt);
  EXPECT_EQ(host.Asks(3).did.back(), "create 1");
}

TEST(RegularPoolTest, TellsWhoHasWaitedTooLongWhy) {
  // All sessions are in use by transactions that hang; to wait for ever would hide it.
  Host host(Regular(0, 1));
  host.Asks(1).FailsToCreate(1, Code::kUnavailable);
  while (!host.pool.askers.empty()) {
    host.WaitsForIt();
    if (!host.effects.empty() && std::holds_alternative<CreateSessions>(host.effects.back())) {
      host.FailsToCreate(1, Code::kUnavailable);
    }
  }
  EXPECT_EQ(host.now, LocalInstant{} + Seconds(1060));
  EXPECT_THAT(host.did, testing::Contains("1 hears DEADLINE_EXCEEDED"));
}

// A transaction that has to end by then must not wait on for a session.
TEST(RegularPoolTest, RefusesAnAskerWhenItGivesUpAndTheOthersLater) {
  Host host(Regular(0, 1));
  host.Asks(1).Asks(2, host.now + Seconds(5));
  const LocalInstant began = host.now;
  host.WaitsForIt();
  EXPECT_EQ(host.now, began + Seconds(5));
  EXPECT_THAT(host.did, ElementsAre("create 1", "2 hears DEADLINE_EXCEEDED"));
  EXPECT_THAT(host.Creates(1, {"s1"}).did, testing::Contains("1 gets s1"));
}

TEST(RegularPoolTest, ForgetsWhoStopsAsking) {
  // A cancelled transaction must not take a session with it.
  Host host(Regular(0, 1));
  host.Asks(1).Asks(2);
  StopAsking(host.pool, 1);
  EXPECT_THAT(host.Creates(1, {"s1"}).did, ElementsAre("create 1", "2 gets s1"));
}

TEST(RegularPoolTest, ClosedItRefusesAndLetsEverySessionGo) {
  // Whether idle, in use, or still being created.
  Host host(Regular(2, 3));
  host.Opens().Creates(2, {"s1", "s2"}).Asks(1).Asks(2).Asks(3).Asks(4).Closes();
  EXPECT_THAT(host.effects, testing::SizeIs(2));
  EXPECT_THAT(
      host.Returns("s1").Returns("s2").Creates(1, {"s3"}).Asks(5).did,
      ElementsAre("create 2", "1 gets s1", "2 gets s2", "create 1", "3 hears CANCELLED",
                  "4 hears CANCELLED", "let go s1", "let go s2", "let go s3", "5 hears CANCELLED"));
}

TEST(MultiplexedPoolTest, SharesOneSession) {
  // It may have any number of transactions, so that one is enough.
  Host host(MultiplexedSessionPolicy());
  host.Opens().Asks(1).Asks(2).Creates(1, {"m1"}).Asks(3).Returns("m1");
  EXPECT_THAT(host.did, ElementsAre("create multiplexed 1", "1 gets m1", "2 gets m1", "3 gets m1"));
}

TEST(MultiplexedPoolTest, ReplacesALostSessionOnce) {
  // All its users hear at the same time that it is gone.
  Host host(MultiplexedSessionPolicy());
  host.Opens().Creates(1, {"m1"}).Asks(1).Asks(2);
  host.Returns("m1", /*lost=*/true).Asks(1).Returns("m1", /*lost=*/true).Asks(2);
  EXPECT_THAT(host.Creates(1, {"m2"}).Returns("m1", /*lost=*/true).Asks(3).did,
              ElementsAre("create multiplexed 1", "1 gets m1", "2 gets m1", "create multiplexed 1",
                          "1 gets m2", "2 gets m2", "3 gets m2"));
}

TEST(MultiplexedPoolTest, IsRefreshedAfterSevenDaysWithoutAGap) {
  // The old one serves until the new one is there.
  Host host(MultiplexedSessionPolicy());
  host.Opens().Creates(1, {"m1"}).WaitsForIt();
  EXPECT_EQ(host.now, LocalInstant{} + Seconds(1000 + 7 * 24 * 3600));
  EXPECT_THAT(
      host.Asks(1).Creates(1, {"m2"}).Asks(2).did,
      ElementsAre("create multiplexed 1", "create multiplexed 1", "1 gets m1", "2 gets m2"));
}

TEST(MultiplexedPoolTest, ARefusedRefreshIsTriedAgainWhileTheOldOneServes) {
  // It lives for three weeks more.
  Host host(MultiplexedSessionPolicy());
  host.Opens().Creates(1, {"m1"}).WaitsForIt().FailsToCreate(1, Code::kPermissionDenied).Asks(1);
  EXPECT_EQ(host.did.back(), "1 gets m1");
  EXPECT_EQ(host.WaitsForIt().did.back(), "create multiplexed 1");
}

// --- whatever happens --------------------------------------------------------------------------

// Plays Spanner and the users against the pool, and keeps count of what it said.
class AnyHost {
 public:
  AnyHost(SessionPoolPolicy policy) : policy_(policy) { Hear(OpenPool, now_); }

  void Do(int32_t what, size_t which) {
    now_ += Seconds(static_cast<int64_t>(which % 7) * 600);
    switch (what) {
      case 0:
        waiting_.insert(next_asker_);
        return Hear(AskForSession, now_, next_asker_++, std::optional<LocalInstant>());
      case 1:
      case 2:
        return ReturnOne(which, /*lost=*/what == 2);
      case 3:
        return CreateOne(which);
      case 4:
        return FailOne(which);
      case 5:
        return PingOne(which);
      default:
        return Hear(OnPoolTime, now_);
    }
  }

  // Spanner answers everything and users return what they have, until nobody waits.
  void ComeToRest() {
    for (int32_t round = 0; round < 10'000 && !waiting_.empty(); ++round) {
      if (!creating_.empty()) {
        CreateOne(0);
      } else if (!pinged_.empty()) {
        Ping({});
      } else if (!users_.empty()) {
        ReturnOne(0, /*lost=*/false);
      } else {
        const std::optional<LocalInstant> next = NextPoolTime(policy_, pool_);
        RC_ASSERT(next.has_value());
        now_ = std::max(now_, *next);
        Hear(OnPoolTime, now_);
      }
    }
    RC_ASSERT(waiting_.empty());
  }

 private:
  template <typename F, typename... Args>
  void Hear(F verb, const Args&... args) {
    std::vector<PoolEffect> out;
    verb(policy_, pool_, args..., out);
    for (const PoolEffect& effect : out) std::visit([&](const auto& e) { On(e); }, effect);
    const auto sessions = static_cast<int32_t>(pool_.sessions.size());
    RC_ASSERT(sessions + pool_.creating <= std::max(2, policy_.max_sessions));
  }

  void On(const CreateSessions& create) { creating_.push_back(create.count); }
  void On(const PingSession& ping) {
    RC_ASSERT(!gone_.contains(ping.name));
    pinged_.push_back(ping.name);
  }
  void On(const LetGoSession& let_go) {
    RC_ASSERT(!std::ranges::count(users_, let_go.name));
    RC_ASSERT(gone_.insert(let_go.name).second);
  }
  void On(const SessionGranted& granted) {
    RC_ASSERT(waiting_.erase(granted.asker) == 1U);
    RC_ASSERT(!gone_.contains(granted.session.name));
    if (policy_.kind == SessionKind::kRegular) {
      RC_ASSERT(!std::ranges::count(users_, granted.session.name));
      RC_ASSERT(!std::ranges::count(pinged_, granted.session.name));
    }
    users_.push_back(granted.session.name);
  }
  void On(const SessionRefused& refused) {
    RC_ASSERT(waiting_.erase(refused.asker) == 1U);
    RC_ASSERT(!refused.status.ok());
  }

  void ReturnOne(size_t which, bool lost) {
    if (users_.empty()) return;
    const auto at = users_.begin() + static_cast<std::ptrdiff_t>(which % users_.size());
    const SessionName name = *at;
    users_.erase(at);
    if (lost) gone_.insert(name);
    // A shared session that another user has lost is gone for this one too.
    Hear(ReturnSession, now_, name, lost);
  }
  void CreateOne(size_t which) {
    if (creating_.empty()) return;
    const int32_t asked = creating_.front();
    creating_.erase(creating_.begin());
    std::vector<SessionName> names;
    for (int32_t i = 0; i <= static_cast<int32_t>(which) % asked; ++i) {
      names.push_back("s" + std::to_string(next_session_++));
    }
    Hear(OnSessionsCreated, now_, asked, names);
  }
  void FailOne(size_t which) {
    if (creating_.empty()) return;
    const int32_t asked = creating_.front();
    creating_.erase(creating_.begin());
    const Code code = which % 2 == 0 ? Code::kUnavailable : Code::kPermissionDenied;
    Hear([&](auto& policy, auto& pool, auto& out) {
      OnCreationFailed(policy, pool, now_, entropy_, asked, Error(code, "why"), out);
    });
  }
  void PingOne(size_t which) {
    if (pinged_.empty()) return;
    if (which % 3 == 0) return Ping({});
    if (which % 3 == 1) return Ping(Error(Code::kUnavailable, ""));
    gone_.insert(pinged_.front());
    Ping(SessionIsGone());
  }
  void Ping(const Status& status) {
    const SessionName name = pinged_.front();
    pinged_.erase(pinged_.begin());
    Hear(OnPinged, now_, name, status);
  }

  SessionPoolPolicy policy_;
  SessionPool pool_;
  ScriptedEntropy entropy_;
  LocalInstant now_;
  AskerId next_asker_ = 1;
  int64_t next_session_ = 1;
  std::set<AskerId> waiting_;
  std::vector<int32_t> creating_;
  std::vector<SessionName> pinged_;
  std::vector<SessionName> users_;  // with repetitions, of the shared one
  std::set<SessionName> gone_;
};

void PlayAnyCourse(const SessionPoolPolicy& policy) {
  AnyHost host(policy);
  const auto steps = *rc::gen::container<std::vector<std::pair<int32_t, size_t>>>(
      rc::gen::pair(rc::gen::inRange(0, 7), rc::gen::inRange(size_t{0}, size_t{1000})));
  for (const auto& [what, which] : steps) host.Do(what, which);
  host.ComeToRest();
}

// Two users of one session close each other's transactions; an asker without an answer hangs.
RC_GTEST_PROP(SessionPoolPropertyTest, ARegularSessionHasOneUserAndEveryAskerIsAnswered, ()) {
  const int32_t max = *rc::gen::inRange(1, 5);
  PlayAnyCourse(Regular(*rc::gen::inRange(0, max + 1), max));
}

RC_GTEST_PROP(SessionPoolPropertyTest, ALostSharedSessionIsNotHandedOutAndEveryAskerIsAnswered,
              ()) {
  PlayAnyCourse(MultiplexedSessionPolicy());
}

}  // namespace
}  // namespace whorl::session_pool_test
