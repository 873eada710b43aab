// LockHost without gRPC, on the model in this process, called from many threads.
#include "real_client/lock_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "real_client/lock.h"
#include "real_client/lock_loop.h"
#include "real_client/os.h"
#include "tests/real_client/model_client.h"

namespace whorl::real_client::lock_host_test {
namespace {

using testing::HasSubstr;

constexpr Duration kLease = Seconds(1);

class LockHostTest : public testing::Test {
 protected:
  std::unique_ptr<DistributedLock> Make(const std::string& id, const std::string& name = "job",
                                        decltype(LockOptions::lead) lead = nullptr) {
    const LockHost::Dependencies around = {
        .loop = loop_, .client = client_, .announce = [](const LockHost&) {}};
    return std::make_unique<DistributedLock>(
        std::make_shared<LockHost>(around, info_,
                                   LockOptions{.name = name,
                                               .id = id,
                                               .lease = kLease,
                                               .table = "fenced_locks",
                                               .lead = std::move(lead)}));
  }

  const ProtocolInfo& info_ = *FindProtocol("fenced_lease");
  LockLoop loop_;
  ModelClient client_{info_.create_table};
};

TransactionResult Refused(Code code) {
  return {.outcome = Outcome::kAborted, .status = Error(code, "refused by the test")};
}

TEST_F(LockHostTest, BeliefEndsByTheClockAndComesBackWithAnotherTerm) {
  const auto a = Make("a");
  ASSERT_EQ(FormatStatus(a->Lock()), "OK");
  const std::optional<uint64_t> token = a->Token();
  std::promise<LocalInstant> stopped;
  const std::stop_callback told(a->Term(), [&] { stopped.set_value(MonotonicNow()); });
  client_.SetFate([](const Transaction&) { return Refused(Code::kUnavailable); });
  const LocalInstant until = a->Now().until;
  EXPECT_GE(stopped.get_future().get(), until);
  EXPECT_FALSE(a->HasLock());
  EXPECT_EQ(a->Token(), std::nullopt);
  EXPECT_TRUE(a->Term().stop_requested());
  client_.SetFate(nullptr);
  ASSERT_EQ(FormatStatus(a->Lock()), "OK");
  EXPECT_GT(a->Token(), token);
}

TEST_F(LockHostTest, AnswersByTheClockWhileItsOwnThreadIsHeldUp) {
  const auto a = Make("a");
  ASSERT_EQ(FormatStatus(a->Lock()), "OK");
  std::promise<void> gate;
  loop_.Post([&] { gate.get_future().wait(); });
  // The loop is blocked and publishes nothing new, so only the clock can end leadership.
  while (a->HasLock()) std::this_thread::yield();
  EXPECT_EQ(a->Token(), std::nullopt);
  gate.set_value();
}

TEST_F(LockHostTest, WhatNoWaitingMendsIsToldAtOnce) {
  client_.SetFate([](const Transaction&) { return Refused(Code::kPermissionDenied); });
  const auto a = Make("a");
  EXPECT_EQ(a->Lock().code, Code::kPermissionDenied);
  EXPECT_EQ(a->LockFor(Seconds(60)).error.code, Code::kPermissionDenied);
}

TEST_F(LockHostTest, ImpatienceSaysWhatIsKnown) {
  client_.SetFate([](const Transaction&) { return Refused(Code::kUnavailable); });
  EXPECT_THAT(FormatResult(Make("a")->LockFor(Milliseconds(100))), HasSubstr("UNAVAILABLE"));
}

TEST_F(LockHostTest, WorkOfOneTermReturnsBeforeThatOfTheNextBegins) {
  std::atomic<int> working = 0;
  std::vector<uint64_t> tokens;
  std::promise<void> second;
  const auto a = Make("a", "job", [&](std::stop_token stop, std::optional<uint64_t> token) {
    EXPECT_EQ(++working, 1);
    tokens.push_back(token.value());
    if (tokens.size() == 2) second.set_value();
    std::promise<void> stopped;
    const std::stop_callback told(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
    --working;
  });
  a->Start();
  while (!a->HasLock()) std::this_thread::yield();
  client_.SetFate([](const Transaction&) { return Refused(Code::kUnavailable); });
  while (a->HasLock()) std::this_thread::yield();
  client_.SetFate(nullptr);
  second.get_future().wait();
  a->Unlock();
  EXPECT_EQ(working, 0);
  EXPECT_LT(tokens[0], tokens[1]);
}

TEST_F(LockHostTest, ManyLocksShareOneThread) {
  constexpr int kLocks = 100;
  std::vector<std::unique_ptr<DistributedLock>> locks;
  for (int i = 0; i < kLocks; ++i) {
    locks.push_back(Make("a", "lock-" + std::to_string(i)));
    locks.back()->Start();
  }
  for (const auto& lock : locks) EXPECT_EQ(FormatStatus(lock->Lock()), "OK");
  std::atomic<int> given_back = 0;
  std::promise<void> all;
  for (const auto& lock : locks) {
    lock->UnlockThen([&] {
      if (++given_back == kLocks) all.set_value();
    });
  }
  all.get_future().wait();
}

TEST_F(LockHostTest, OneObjectMayBeUsedByManyThreads) {
  const auto a = Make("a");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        const LockResult result = a->LockFor(Seconds(60));
        EXPECT_TRUE(result.ok() || result.error.code == Code::kCancelled) << FormatResult(result);
        a->HasLock();
        a->Token();
        a->Term();
        a->Unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(a->HasLock());
}

TEST_F(LockHostTest, ImpatienceDoesNotWaitForAReadThatHangs) {
  // A client whose reads are answered only when they are cancelled.
  class Hanging final : public TransactionClient {
   public:
    RunId Run(Transaction, Done done) override {
      done_ = std::move(done);
      return 1;
    }
    void Cancel(RunId) override { done_(Refused(Code::kCancelled)); }
    void Shutdown(std::function<void()> done) override { done(); }

   private:
    Done done_;
  } hanging;
  const LockHost::Dependencies around = {
      .loop = loop_, .client = hanging, .announce = [](const LockHost&) {}};
  // With a lease of an hour, it would otherwise wait for the maximum of ten seconds.
  DistributedLock lock(std::make_shared<LockHost>(
      around, info_,
      LockOptions{.name = "job", .id = "a", .lease = Seconds(3600), .table = "fenced_locks"}));
  EXPECT_THAT(FormatResult(lock.LockFor(Milliseconds(50))), HasSubstr("no answer from Spanner"));
}

}  // namespace
}  // namespace whorl::real_client::lock_host_test
