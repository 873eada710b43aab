// Real locks through their public header, against whorl's own server.
#include "real_client/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "real_client/admin_client.h"
#include "real_client/lock_metrics.h"
#include "real_client/os.h"
#include "tests/support/client_waits.h"
#include "tests/support/lock_database.h"

namespace whorl::real_client::lock_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::unique_ptr<LockClient> Open(const LockDatabase& database) {
  std::unique_ptr<LockClient> client;
  EXPECT_EQ(FormatStatus(LockClient::Open(
                {.database = kLockDatabase, .connection = database.Connection()}, client)),
            "OK");
  return client;
}

std::unique_ptr<DistributedLock> Make(LockClient& client, LockOptions options) {
  std::unique_ptr<DistributedLock> lock;
  EXPECT_EQ(FormatStatus(client.Make(std::move(options), lock)), "OK");
  return lock;
}

Status InitNew(LockClient& client, std::string_view protocol, const std::string& name) {
  InitResult made;
  return client.InitLock(protocol, "", name, {.is_new = true}, made);
}

class LockTest : public testing::Test {
 protected:
  explicit LockTest(std::string_view protocol = "fenced_lease")
      : database_(ServeModel(protocol)), client_(Open(*database_)) {}

  // Creates the row, so that no process has to wait for a lease first.
  void Init(const std::string& name) {
    ASSERT_EQ(FormatStatus(InitNew(*client_, "fenced_lease", name)), "OK");
  }
  std::unique_ptr<DistributedLock> Lock(const std::string& name, const std::string& id) {
    return Make(*client_, {.name = name, .id = id});
  }
  std::unique_ptr<DistributedLock> Held(const std::string& name, const std::string& id) {
    Init(name);
    auto lock = Lock(name, id);
    EXPECT_EQ(FormatStatus(lock->Lock()), "OK");
    return lock;
  }
  // lock-0 and so on, all held by a, with a lease so long that a busy machine keeps up with their heartbeats.
  std::vector<std::unique_ptr<DistributedLock>> HeldMany(int count) {
    std::vector<std::unique_ptr<DistributedLock>> locks;
    for (int i = 0; i < count; ++i) {
      const std::string name = "lock-" + std::to_string(i);
      Init(name);
      locks.push_back(Make(*client_, {.name = name, .id = "a", .lease = Seconds(60)}));
      EXPECT_EQ(FormatStatus(locks.back()->Lock()), "OK");
    }
    return locks;
  }
  InitResult Made(const std::string& name, const InitOptions& options) {
    InitResult made;
    EXPECT_EQ(FormatStatus(client_->InitLock("fenced_lease", "", name, options, made)), "OK");
    return made;
  }
  std::vector<Holding> Listed(std::optional<std::string> name = {}) {
    std::vector<Holding> holdings;
    EXPECT_EQ(FormatStatus(client_->List("fenced_lease", "", name, Seconds(10), holdings)), "OK");
    return holdings;
  }
  // No call is answered until the test opens the gate.
  std::shared_ptr<server::Gate> SpannerHangs() {
    const auto gate = std::make_shared<server::Gate>();
    database_->server()->SetFaults(
        [gate](const server::CallInfo&) { return server::HoldRequest{gate}; });
    return gate;
  }

  std::unique_ptr<LockDatabase> database_;
  std::unique_ptr<LockClient> client_;
};

// A follower that wants to talk to the leader needs its address.
TEST_F(LockTest, OthersReadTheHoldersValue) {
  Init("job");
  const auto a = Make(*client_, {.name = "job", .id = "a", .value = "10.0.0.7:8080 \xc3\xa9"});
  const auto b = Make(*client_, {.name = "job", .id = "b"});
  ASSERT_EQ(FormatStatus(a->Lock()), "OK");
  EXPECT_EQ(a->id(), "a");
  EXPECT_TRUE(a->HasLock());
  Holding leader;
  ASSERT_EQ(FormatStatus(b->Leader(leader)), "OK");
  EXPECT_EQ(leader.holder, "a");
  EXPECT_EQ(leader.value, "10.0.0.7:8080 \xc3\xa9");
  EXPECT_TRUE(leader.is_held());
  a->Unlock();
  ASSERT_EQ(FormatStatus(b->Lock()), "OK");
  ASSERT_EQ(FormatStatus(b->Leader(leader)), "OK");
  EXPECT_EQ(leader.holder, "b");
  EXPECT_THAT(leader.value, IsEmpty());
}

TEST_F(LockTest, RefusesAnIdOrAValueThatItsColumnCannotHold) {
  std::unique_ptr<DistributedLock> lock;
  EXPECT_EQ(FormatStatus(client_->Make({.name = "job", .id = "a\x1f"}, lock)),
            "INVALID_ARGUMENT: a process's id contains the character U+001F");
  EXPECT_EQ(FormatStatus(client_->Make({.name = "job", .value = "\xff"}, lock)),
            "INVALID_ARGUMENT: a process's value is no UTF-8");
}

TEST_F(LockTest, ProgramsHaveMetrics) {
  Init("job");
  LockMetrics metrics(/*per_lock=*/true);
  const auto lock = Make(*client_, {.name = "job",
                                    .id = "a",
                                    .lease = Seconds(1),
                                    .observer = metrics.Observe("job", "fenced_lease")});
  ASSERT_EQ(FormatStatus(lock->Lock()), "OK");
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("whorl_locks_led{protocol=\"fenced_lease\"} 1"));
  EXPECT_THAT(text, HasSubstr("whorl_lock_leader{lock=\"job\",protocol=\"fenced_lease\"} 1"));
  EXPECT_THAT(text, HasSubstr("step=\"take\""));
  EXPECT_THAT(text, HasSubstr("whorl_build_info{version=\""));
  lock->Unlock();
  EXPECT_THAT(metrics.Text(), HasSubstr("whorl_locks_led{protocol=\"fenced_lease\"} 0"));
}

// A rule about a metric that nobody exports never fires.
TEST_F(LockTest, AlertRulesAndDashboardNameMetricsThatThereAre) {
  LockMetrics metrics(/*per_lock=*/true);
  const auto lock = Make(*client_, {.name = "job",
                                    .id = "a",
                                    .lease = Seconds(1),
                                    .observer = metrics.Observe("job", "fenced_lease")});
  ASSERT_EQ(FormatStatus(lock->Lock()), "OK");
  const std::string exported = metrics.Text();
  const std::regex name("whorl_locks?[a-z_]*");
  for (const char* file : {"examples/operating/alerts.yml", "examples/operating/dashboard.json"}) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    int count = 0;
    for (std::sregex_iterator found(text.begin(), text.end(), name), end; found != end; ++found) {
      EXPECT_THAT(exported, HasSubstr(found->str())) << file;
      ++count;
    }
    EXPECT_GT(count, 5) << file;
  }
}

TEST_F(LockTest, IsHeldBeyondItsLeaseByHeartbeats) {
  Init("job");
  const auto a = Make(*client_, {.name = "job", .id = "a", .lease = Seconds(1)});
  ASSERT_EQ(FormatStatus(a->Lock()), "OK");
  const uint64_t token = a->Token().value();
  const auto b = Lock("job", "b");
  // While b waits, a has to renew twice.
  EXPECT_EQ(b->LockFor(Milliseconds(1500)).outcome, LockOutcome::kHeld);
  EXPECT_TRUE(a->HasLock());
  EXPECT_EQ(a->Token(), token);
}

TEST_F(LockTest, WhoWaitsIsToldOfAReleaseInTheSameProgram) {
  const auto a = Held("job", "a");
  const auto b = Lock("job", "b");
  ASSERT_EQ(b->TryLock().outcome, LockOutcome::kHeld);  // it has seen the row
  auto waiting = std::async(std::launch::async, [&] { return b->Lock(); });
  a->Unlock();
  EXPECT_EQ(FormatStatus(waiting.get()), "OK");
  EXPECT_TRUE(b->HasLock());
}

TEST_F(LockTest, AGuardGivesBackAtTheEndOfItsBlock) {
  Init("job");
  const auto a = Lock("job", "a");
  const auto b = Lock("job", "b");
  {
    LockGuard guard(*a);
    ASSERT_TRUE(guard) << FormatResult(guard.result());
    EXPECT_EQ(guard.token(), a->Token());
    EXPECT_FALSE(guard.stop().stop_requested());
    const LockGuard other(*b, Seconds(2));
    EXPECT_FALSE(other);
    EXPECT_THAT(FormatResult(other.result()), HasSubstr("held by another process"));
  }
  EXPECT_FALSE(a->HasLock());
  EXPECT_TRUE(LockGuard(*b));
}

TEST_F(LockTest, WorkIsToldToStopBeforeTheLockIsGivenBack) {
  Init("job");
  std::promise<uint64_t> began;
  std::promise<void> may_return;
  std::atomic<bool> returned = false;
  const auto a =
      Make(*client_, {.name = "job", .id = "a", .lead = [&](std::stop_token stop, auto token) {
                        began.set_value(token.value());
                        std::promise<void> stopped;
                        const std::stop_callback told(stop, [&] { stopped.set_value(); });
                        stopped.get_future().wait();
                        may_return.get_future().wait();
                        returned = true;
                      }});
  a->Start();
  const uint64_t token = began.get_future().get();
  EXPECT_EQ(token, a->Token());
  std::promise<void> given_back;
  a->UnlockThen([&] {
    EXPECT_TRUE(returned);
    given_back.set_value();
  });
  // The row is still a's, since its work has not returned.
  EXPECT_EQ(Lock("job", "b")->TryLock().outcome, LockOutcome::kHeld);
  may_return.set_value();
  given_back.get_future().wait();
  EXPECT_EQ(FormatResult(Lock("job", "b")->TryLock()), "OK");
}

TEST_F(LockTest, CanBeTakenAgain) {
  Init("job");
  const auto a = Lock("job", "a");
  uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(FormatStatus(a->Lock()), "OK");
    EXPECT_GT(a->Token().value(), last);
    last = a->Token().value();
    a->Unlock();
  }
}

// --- invalid options -----------------------------------------------------------------------------

TEST_F(LockTest, NamesThatCannotBeAreRefusedBeforeAnythingIsSent) {
  // The client opens its session meanwhile, and calls arrive until it is destroyed, after this.
  const auto calls = std::make_shared<std::atomic<int>>(0);
  database_->server()->SetObserver([calls](const server::CallInfo& call, auto, const auto&) {
    if (call.method != "CreateSession") ++*calls;
  });
  std::unique_ptr<DistributedLock> lock;
  const auto refusal = [&](LockOptions options) {
    return FormatStatus(client_->Make(std::move(options), lock));
  };
  EXPECT_THAT(refusal({.name = std::string(9000, 'x')}), HasSubstr("9000 bytes"));
  EXPECT_THAT(refusal({.name = ""}), HasSubstr("empty"));
  EXPECT_THAT(refusal({.name = "\xff"}), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal({.name = "x", .protocol = "fenced"}), HasSubstr("no protocol fenced"));
  EXPECT_THAT(refusal({.name = "x", .table = "a; DROP TABLE b"}), HasSubstr("a; DROP TABLE b"));
  EXPECT_THAT(refusal({.name = "x", .lease = Seconds(7200)}), HasSubstr("too long"));
  EXPECT_EQ(lock, nullptr);
  EXPECT_EQ(*calls, 0);
}

TEST_F(LockTest, ATableThatIsMissingIsToldAtOnce) {
  const auto a = Make(*client_, {.name = "job", .table = "nowhere"});
  const Status status = a->Lock();
  EXPECT_EQ(status.code, Code::kInvalidArgument) << FormatStatus(status);
  EXPECT_THAT(status.message, HasSubstr("nowhere"));
  EXPECT_THAT(FormatStatus(client_->Check("fenced_lease", "nowhere", Seconds(5))),
              HasSubstr("nowhere"));
  EXPECT_EQ(FormatStatus(client_->Check("fenced_lease", "", Seconds(5))), "OK");
}

TEST_F(LockTest, UnlockEndsALockThatWaits) {
  const auto a = Held("job", "a");
  const auto b = Lock("job", "b");
  auto waiting = std::async(std::launch::async, [&] { return b->Lock(); });
  while (waiting.wait_for(std::chrono::seconds(0)) != std::future_status::ready) b->Unlock();
  EXPECT_EQ(waiting.get().code, Code::kCancelled);
}

TEST_F(LockTest, LockEndsWhenAStopIsRequested) {
  const auto a = Held("job", "a");
  const auto b = Lock("job", "b");
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] { return b->Lock(stop.get_token()); });
  stop.request_stop();
  EXPECT_EQ(waiting.get().code, Code::kCancelled);
  EXPECT_EQ(b->Lock(stop.get_token()).code, Code::kCancelled);
  EXPECT_TRUE(a->HasLock());
}

TEST_F(LockTest, LockThenDoesNotBlock) {
  Init("job");
  const auto a = Lock("job", "a");
  Answered<Status> led;
  a->LockThen(led.Callback());
  EXPECT_EQ(FormatStatus(led.Wait()), "OK");
  EXPECT_TRUE(a->HasLock());
}

TEST_F(LockTest, AFollowerHearsWhoLeads) {
  const auto a = Held("job", "a");
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> heard;
  const auto b = Make(
      *client_,
      {.name = "job", .id = "b", .lease = Seconds(1), .on_leader = [&](const Holding& holding) {
         const std::lock_guard lock(mutex);
         heard.push_back(holding.holder);
         changed.notify_all();
       }});
  b->Start();
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !heard.empty(); });
    EXPECT_EQ(heard, std::vector<std::string>{"a"});
  }
  a->Unlock();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return heard.back() == "b"; });
}

// --- threads and processes -----------------------------------------------------------------------

TEST_F(LockTest, ExcludesTheThreadsOfThisProcessToo) {
  Init("job");
  const auto lock = Lock("job", "a");
  std::atomic<int> inside = 0;
  std::atomic<int> rounds = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        const LockGuard guard(*lock);
        EXPECT_EQ(FormatResult(guard.result()), "OK");
        EXPECT_EQ(++inside, 1);
        std::this_thread::yield();
        --inside;
        ++rounds;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(rounds, 20);
}

TEST_F(LockTest, AThreadDoesNotGetALockThatAnotherOneHas) {
  const auto lock = Held("job", "a");
  std::jthread([&] {
    for (const LockResult& result : {lock->TryLock(), lock->LockFor(Milliseconds(1))}) {
      EXPECT_EQ(result.outcome, LockOutcome::kHeld);
      EXPECT_THAT(FormatResult(result), HasSubstr("another thread of this process"));
    }
    // A guard that did not get the lock does not give it back.
    const LockGuard guard(*lock, Milliseconds(1));
    EXPECT_FALSE(guard.result().ok());
  }).join();
  EXPECT_TRUE(lock->HasLock());
  EXPECT_EQ(FormatStatus(lock->Lock()), "OK");  // the thread that has it
  lock->Unlock();
  std::jthread([&] { EXPECT_EQ(FormatResult(lock->TryLock()), "OK"); }).join();
}

TEST_F(LockTest, AChildOfAForkNeverLeads) {
  auto lock = Held("job", "a");
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a child that waits for threads that it does not have
    bool right = !lock->Now().leads && !lock->HasLock() && !lock->Token();
    right = right && lock->Term().stop_requested();
    right = right && lock->TryLock().error.code == Code::kFailedPrecondition;
    lock.reset();
    client_.reset();
    _exit(right ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(lock->HasLock());
}

TEST(LockDeathTest, UnlockInsideOfLeadEndsTheProgramWithAMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const auto database = ServeModel("fenced_lease");
        const auto client = Open(*database);
        DistributedLock* raw = nullptr;
        const auto lock = Make(
            *client,
            {.name = "job", .lease = Seconds(1), .lead = [&raw](auto, auto) { raw->Unlock(); }});
        raw = lock.get();
        lock->Start();
        std::promise<void>().get_future().wait_for(std::chrono::minutes(1));
      },
      "Unlock\\(\\) waits for `lead` to return, and was called in it");
}

// --- names ---------------------------------------------------------------------------------------

class LockNameTest : public LockTest, public testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Names, LockNameTest,
                         testing::Values("plain", "it's", "\"quoted\"", "back\\slash",
                                         "a; DROP TABLE fenced_locks",
                                         "\xC3\xBC\xE2\x82\xAC\xF0\x9F\x94\x92", "line\nbreak",
                                         std::string(8000, 'n')));

TEST_P(LockNameTest, IsALockLikeAnyOther) {
  const auto a = Held(GetParam(), "a");
  const std::vector<Holding> holdings = Listed(GetParam());
  ASSERT_THAT(holdings, SizeIs(1));
  EXPECT_EQ(holdings[0].lock, GetParam());
  EXPECT_EQ(holdings[0].holder, "a");
}

// --- operators -----------------------------------------------------------------------------------

TEST_F(LockTest, AnOperatorSeesWhoHoldsWhatAndCanEndIt) {
  Init("job");
  Init("idle");
  const auto a = Held("job", "a");  // again: the row exists
  const std::vector<Holding> holdings = Listed();
  ASSERT_THAT(holdings, SizeIs(2));
  EXPECT_EQ(holdings[0].lock, "idle");
  EXPECT_THAT(holdings[0].holder, IsEmpty());
  EXPECT_EQ(holdings[0].left, std::nullopt);
  EXPECT_EQ(holdings[1].holder, "a");
  EXPECT_EQ(holdings[1].token.value().Number(), a->Token());
  EXPECT_GT(holdings[1].left.value(), Duration());
  EXPECT_LE(holdings[1].left.value(), Seconds(10));
  ASSERT_EQ(FormatStatus(client_->ForceRelease("fenced_lease", "", "job")), "OK");
  EXPECT_EQ(FormatResult(Lock("job", "b")->TryLock()), "OK");
  EXPECT_EQ(client_->ForceRelease("fenced_lease", "", "none").code, Code::kNotFound);
}

// Between an operator's look and the release another process may have taken the lock.
TEST_F(LockTest, AnOperatorsReleaseFreesOnlyWhoItIsMeantFor) {
  auto a = Held("job", "a");
  const uint64_t token = a->Token().value();
  const auto release = [&](const ReleaseTarget& only) {
    return client_->ForceRelease("fenced_lease", "", "job", only);
  };
  EXPECT_EQ(FormatStatus(release({.holder = "b", .token = {}})),
            "FAILED_PRECONDITION: the lock job is held by a, with token " + std::to_string(token));
  EXPECT_EQ(release({.holder = {}, .token = token + 1}).code, Code::kFailedPrecondition);
  EXPECT_EQ(release({.holder = "b", .token = token}).code, Code::kFailedPrecondition);
  EXPECT_EQ(Listed("job")[0].holder, "a");
  EXPECT_EQ(FormatStatus(release({.holder = "a", .token = token})), "OK");
  EXPECT_THAT(Listed("job")[0].holder, IsEmpty());
  EXPECT_EQ(FormatStatus(release({.holder = "a", .token = {}})),
            "FAILED_PRECONDITION: nobody holds the lock job");
  EXPECT_EQ(client_->ForceRelease("lease_lock", "", "job", {.holder = {}, .token = 1}).code,
            Code::kInvalidArgument);
}

// The value is stored behind the id.
TEST_F(LockTest, AnOperatorsReleaseKnowsAHolderWithAValue) {
  Init("job");
  const auto a = Make(*client_, {.name = "job", .id = "a", .value = "address"});
  ASSERT_EQ(FormatStatus(a->Lock()), "OK");
  const ReleaseTarget ab = {.holder = "ab", .token = {}};
  EXPECT_EQ(client_->ForceRelease("fenced_lease", "", "job", ab).code, Code::kFailedPrecondition);
  const ReleaseTarget only_a = {.holder = "a", .token = {}};
  EXPECT_EQ(FormatStatus(client_->ForceRelease("fenced_lease", "", "job", only_a)), "OK");
}

// Its row may have been lost under a leader, who goes on believing for a lease.
TEST_F(LockTest, ARowThatIsMadeWaitsForALeaseUnlessTheLockIsNew) {
  InitResult made = Made("job", {.lease = Seconds(3)});
  EXPECT_TRUE(made.made);
  const Timestamp free_at = made.free_at.value();
  EXPECT_LE(free_at - SystemNow(), Seconds(3));
  EXPECT_GT(free_at - SystemNow(), Seconds(1));
  const std::vector<Holding> holdings = Listed("job");
  ASSERT_THAT(holdings, SizeIs(1));
  EXPECT_FALSE(holdings[0].is_held());
  EXPECT_EQ(holdings[0].free_at, free_at);
  // A user's shorter lease does not count.
  const auto a = Make(*client_, {.name = "job", .id = "a", .lease = Seconds(1)});
  EXPECT_FALSE(a->TryLock().ok());
  EXPECT_FALSE(a->LockFor(Milliseconds(1500)).ok());
  // The row does not change for who makes it again.
  made = Made("job", {});
  EXPECT_FALSE(made.made);
  EXPECT_EQ(made.free_at, free_at);
  // Who comes when that time is over takes it at once.
  while (SystemNow() < free_at) {
  }
  const auto b = Make(*client_, {.name = "job", .id = "b"});
  EXPECT_EQ(FormatResult(b->TryLock()), "OK");

  EXPECT_EQ(Made("new", {.is_new = true}).free_at, std::nullopt);
  EXPECT_EQ(FormatResult(Lock("new", "c")->TryLock()), "OK");
}

// What `whorl lock init` prints of a row that waits is how to free it.
TEST_F(LockTest, ARowThatWaitsIsFreedForWhoSaysThatTheLockIsNew) {
  Made("job", {});
  EXPECT_TRUE(Made("job", {.is_new = true}).made);
  const auto a = Lock("job", "a");
  EXPECT_EQ(FormatResult(a->TryLock()), "OK");
  // The holder keeps the lock.
  EXPECT_FALSE(Made("job", {.is_new = true}).made);
  EXPECT_EQ(Listed("job")[0].holder, "a");
}

TEST_F(LockTest, DestructorsDoNotAddUpWhenSpannerDoesNotAnswer) {
  std::vector<std::unique_ptr<DistributedLock>> locks;
  for (int i = 0; i < 30; ++i) {
    Init("lock-" + std::to_string(i));
    locks.push_back(Make(*client_, {.name = "lock-" + std::to_string(i), .lease = Seconds(4)}));
    ASSERT_EQ(FormatStatus(locks.back()->Lock()), "OK");
  }
  const auto gate = SpannerHangs();
  const LocalInstant from = MonotonicNow();
  locks.clear();
  // Each by itself waits for a lease: 120 s.
  EXPECT_LT(MonotonicNow() - from, Seconds(60));
  client_.reset();
  gate->Open();
}

// --- tables of other protocols -------------------------------------------------------------------

// fenced_lease's table has all columns that spindle_v2 needs, so its statements would run there, and
// both protocols would have a leader.
TEST_F(LockTest, AProtocolRefusesATableOfAnother) {
  const auto a = Held("job", "a");
  const auto b =
      Make(*client_, {.name = "job", .protocol = "spindle_v2", .id = "b", .table = "fenced_locks"});
  for (const Status& status : {b->TryLock().error, b->LockFor(Seconds(30)).error, b->Lock(),
                               client_->Check("spindle_v2", "fenced_locks", Seconds(5))}) {
    EXPECT_EQ(status.code, Code::kInvalidArgument);
    EXPECT_THAT(status.message, HasSubstr("the table fenced_locks is fenced_lease's"));
    EXPECT_THAT(status.message, HasSubstr("name another table"));
  }
  EXPECT_TRUE(a->HasLock());
}

TEST(LockTableTest, EveryProtocolHasATableOfItsOwn) {
  std::set<std::string_view> tables;
  for (const ProtocolInfo& info : Protocols()) {
    EXPECT_TRUE(tables.insert(info.table).second) << info.name << " shares " << info.table;
  }
}

// --- deleting ------------------------------------------------------------------------------------

// An operator's list is old when a process takes the lock.
TEST_F(LockTest, ALockThatWasTakenMeanwhileIsNotDeleted) {
  Init("job");
  std::vector<Holding> listed = Listed("job");
  ASSERT_THAT(listed, SizeIs(1));
  const auto a = Lock("job", "a");
  ASSERT_EQ(FormatStatus(a->Lock()), "OK");
  const Status status = client_->DeleteLock("fenced_lease", "", listed[0]);
  EXPECT_EQ(status.code, Code::kFailedPrecondition) << FormatStatus(status);
  EXPECT_TRUE(a->HasLock());
  const uint64_t token = a->Token().value();
  a->Unlock();
  listed = Listed("job");
  EXPECT_EQ(FormatStatus(client_->DeleteLock("fenced_lease", "", listed[0])), "OK");
  const auto b = Make(*client_, {.name = "job", .id = "b", .lease = Seconds(1)});
  ASSERT_EQ(FormatStatus(b->Lock()), "OK");
  EXPECT_GT(b->Token().value(), token);
}

// --- giving back all -----------------------------------------------------------------------------

TEST_F(LockTest, ReleaseAllGivesAllLocksBack) {
  const auto locks = HeldMany(200);
  ASSERT_EQ(FormatStatus(client_->ReleaseAll(Seconds(60))), "OK");
  for (const auto& lock : locks) EXPECT_FALSE(lock->Now().leads);
  const std::vector<Holding> holdings = Listed();
  ASSERT_THAT(holdings, SizeIs(200));
  for (const Holding& holding : holdings) EXPECT_THAT(holding.holder, IsEmpty());
  // They can be used again.
  EXPECT_EQ(FormatStatus(locks.front()->Lock()), "OK");
}

// One after the other, 200 locks would wait half an hour for a Spanner that does not answer.
TEST_F(LockTest, ReleaseAllDoesNotWaitForASpannerThatDoesNotAnswer) {
  auto locks = HeldMany(200);
  const auto gate = SpannerHangs();
  const Status status = client_->ReleaseAll(Milliseconds(100));
  EXPECT_EQ(status.code, Code::kDeadlineExceeded);
  EXPECT_THAT(status.message, HasSubstr("200 locks were not given back within 100ms"));
  for (const auto& lock : locks) EXPECT_FALSE(lock->Now().leads);
  locks.clear();
  client_.reset();
  gate->Open();
}

// By itself a lock gives a release up after ten seconds.
TEST_F(LockTest, ReleaseAllSaysWhatIsNotGivenBackAlsoAfterTheUsualPatience) {
  const auto locks = HeldMany(1);
  const auto gate = SpannerHangs();
  const Status status = client_->ReleaseAll(Milliseconds(10'500));
  EXPECT_EQ(status.code, Code::kDeadlineExceeded) << FormatStatus(status);
  EXPECT_THAT(status.message, HasSubstr("1 lock was not given back within 10.5s"));
  gate->Open();
}

// --- a table of spindle --------------------------------------------------------------------------

// Runs the statements of real_client/README.md on the emulator, which can alter a table.
TEST(LockMigrationTest, ATableOfSpindleBecomesOneOfFencedLease) {
  const auto database = StartEmulator("spindle_v2");
  if (database == nullptr) GTEST_SKIP() << kNoEmulator;
  const auto client = Open(*database);
  {
    const auto old =
        Make(*client, {.name = "job", .protocol = "spindle_v2", .id = "old", .lease = Seconds(1)});
    ASSERT_EQ(FormatStatus(old->Lock()), "OK");
  }
  const auto lock =
      Make(*client, {.name = "job", .id = "new", .lease = Seconds(1), .table = "locktable"});
  EXPECT_EQ(lock->TryLock().error.code, Code::kInvalidArgument);  // two columns are missing
  AdminClient admin(database->Connection());
  Answered<Status> altered;
  admin.UpdateDdl(kLockDatabase,
                  {"ALTER TABLE locktable ADD COLUMN lease_ms INT64",
                   "ALTER TABLE locktable ADD COLUMN attempt STRING(MAX)"},
                  altered.Callback());
  ASSERT_EQ(FormatStatus(altered.Wait()), "OK");
  // Spindle does not release its lock, so this waits for its last lease.
  ASSERT_EQ(FormatResult(lock->LockFor(Seconds(30))), "OK");
  EXPECT_TRUE(lock->HasLock());
}

// --- every protocol ------------------------------------------------------------------------------

class EveryProtocolTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Protocols, EveryProtocolTest,
                         testing::Values("spindle_v2", "spindle_v3", "semaphore", "lease_lock",
                                         "fenced_lease"),
                         [](const auto& protocol) { return protocol.param; });

TEST_P(EveryProtocolTest, IsTakenKeptGivenBackAndTakenByAnother) {
  const auto database = ServeModel(GetParam());
  const auto client = Open(*database);
  const ProtocolInfo& info = *FindProtocol(GetParam());
  ASSERT_EQ(FormatStatus(InitNew(*client, GetParam(), "job")), "OK");
  LockOptions options = {.name = "job", .protocol = GetParam(), .id = "a", .lease = info.lease_min};
  const auto a = Make(*client, options);
  options.id = "b";
  const auto b = Make(*client, options);
  ASSERT_EQ(FormatStatus(a->Lock()), "OK");
  EXPECT_TRUE(a->HasLock());
  EXPECT_EQ(a->Token().has_value(), info.has_tokens);
  std::vector<Holding> holdings;
  ASSERT_EQ(FormatStatus(client->List(GetParam(), "", "job", info.lease_min, holdings)), "OK");
  ASSERT_THAT(holdings, SizeIs(1));
  EXPECT_EQ(holdings[0].holder, "a");
  EXPECT_GT(holdings[0].left.value(), Duration());
  EXPECT_EQ(b->TryLock().outcome, LockOutcome::kHeld);
  EXPECT_FALSE(b->HasLock());
  EXPECT_EQ(b->Token(), std::nullopt);
  a->Unlock();
  EXPECT_FALSE(a->HasLock());
  EXPECT_EQ(FormatStatus(b->Lock()), "OK");
  EXPECT_TRUE(b->HasLock());
}

TEST_P(EveryProtocolTest, ItsOperatorsWritesAreWhatItsTableTakes) {
  const auto database = ServeModel(GetParam());
  const auto client = Open(*database);
  EXPECT_EQ(FormatStatus(InitNew(*client, GetParam(), "job")), "OK");
  const Status released = client->ForceRelease(GetParam(), "", "job");
  EXPECT_TRUE(released.ok() || released.code == Code::kNotFound) << FormatStatus(released);
}

}  // namespace
}  // namespace whorl::real_client::lock_test
