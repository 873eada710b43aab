// MachineHost, which delivers events and runs timers and transactions for programs and for real
// processes of `whorl replay --on`, with the test's client and clock.
#include "real_client/machine_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "real_client/lock_loop.h"
#include "real_client/loop_timers.h"
#include "real_client/machine_clock.h"
#include "real_client/os.h"

namespace whorl::real_client::machine_host_test {
namespace {

using testing::ElementsAre;

// Begins at 0 when the test begins, and runs at a given part of the true speed.
class SlowClock final : public MachineClock {
 public:
  explicit SlowClock(int64_t slower) : slower_(slower) {}
  LocalTime Local() const override {
    return {.monotonic = FromMonotonic(MonotonicNow()), .wall = kWall};
  }
  LocalInstant ToMonotonic(LocalInstant machine) const override {
    return started_ + Duration{machine.ns * slower_};
  }
  LocalInstant FromMonotonic(LocalInstant monotonic) const override {
    return LocalInstant{(monotonic - started_).ns / slower_};
  }

  static constexpr Timestamp kWall = Timestamp::FromUnixNanos(1'700'000'000'000'000'000);

 private:
  const LocalInstant started_ = MonotonicNow();
  const int64_t slower_;
};

// Holds transactions until the test answers them.
class HeldClient final : public TransactionClient {
 public:
  RunId Run(Transaction transaction, Done done) override {
    const std::lock_guard lock(mutex_);
    runs_.push_back(std::move(transaction));
    done_ = std::move(done);
    return runs_.size();
  }
  void Cancel(RunId run) override {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(run);
  }
  void Shutdown(std::function<void()> done) override { done(); }

  std::vector<Transaction> runs() const {
    const std::lock_guard lock(mutex_);
    return runs_;
  }
  std::vector<RunId> cancelled() const {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }
  void Answer(TransactionResult result) { std::exchange(done_, nullptr)(std::move(result)); }

 private:
  mutable std::mutex mutex_;
  std::vector<Transaction> runs_;
  std::vector<RunId> cancelled_;
  Done done_;
};

class MachineHostTest : public testing::Test, public MachineHost::Owner {
 protected:
  void SetUp() override {
    loop_.PostAndWait([this] {
      host_.Begin(/*blocking_wrapper=*/false);
      host_.Give(Started{});
    });
  }
  void TearDown() override {
    loop_.PostAndWait([this] { host_.End(); });
  }

  std::shared_ptr<void> KeepAlive() override { return nullptr; }
  TransactionClient::RunId Run(RequestId, Transaction transaction,
                               TransactionClient::Done done) override {
    heard_.emplace_back("runs");
    return client_.Run(std::move(transaction), std::move(done));
  }
  void OnTransactionEnded(RequestId, const MachineHost::Flight&,
                          const TransactionResult&) override {
    heard_.emplace_back("ended");
  }
  void OnStep() override { heard_.emplace_back("step"); }
  void OnDrained() override {
    heard_.emplace_back("settled");
    if (on_settled_) on_settled_();
  }
  void OnLeadershipChanged(const LeadershipChanged&) override {}
  void OnAnswer(whorl::Answer) override {
    heard_.emplace_back("answer");
    if (on_answer_) on_answer_();
  }
  void OnNote(Note) override {}
  void OnReleaseToAnnounce() override {}

  static constexpr int64_t kSlower = 4;
  const ProtocolInfo& info_ = *FindProtocol("fenced_lease");
  LockLoop loop_;
  HeldClient client_;
  SlowClock clock_{kSlower};
  MachineHost host_{loop_, client_, clock_, *this,
                    info_.make_config(std::string(info_.table), "job", "a", Seconds(5))};
  // Used on the loop's thread.
  std::vector<std::string> heard_;
  std::function<void()> on_settled_;
  std::function<void()> on_answer_;
};

// A protocol gives up by its own clock, and a client by the machine's: a clock that runs slowly
// must not make a call shorter.
TEST_F(MachineHostTest, TransactionsGiveUpWhenTheMachinesClockSaysSo) {
  const std::vector<Transaction> runs = client_.runs();
  ASSERT_EQ(runs.size(), 1U);
  ASSERT_TRUE(runs[0].give_up_at.has_value());
  // fenced_lease gives its first read a part of the lease, which is 5 s of the machine's clock.
  const LocalInstant by_machine = clock_.FromMonotonic(*runs[0].give_up_at);
  EXPECT_GT(by_machine, LocalInstant{} + Milliseconds(100));
  EXPECT_LE(by_machine, LocalInstant{} + Seconds(6));
}

// An event that the owner queues during an effect must not reach the machine inside of its step.
TEST_F(MachineHostTest, AnEventThatComesOfAnEventIsTakenAfterIt) {
  loop_.PostAndWait([this] {
    heard_.clear();
    on_answer_ = [this] {
      on_answer_ = nullptr;
      host_.Give(Asked{.ask = 2, .question = Question::kHasLock});
      heard_.emplace_back("given");
    };
    host_.Give(Asked{.ask = 1, .question = Question::kHasLock});
  });
  EXPECT_THAT(heard_, ElementsAre("step", "answer", "given", "step", "answer"));
}

// The owner sees a result before the machine does, and its consequences afterwards.
TEST_F(MachineHostTest, TheOwnerHearsOfATransactionBeforeTheMachineAndAfterIt) {
  std::promise<std::vector<std::string>> settled;
  loop_.PostAndWait([&] {
    heard_.clear();
    on_settled_ = [&] {
      on_settled_ = nullptr;
      settled.set_value(heard_);
    };
  });
  client_.Answer(
      {.outcome = Outcome::kAborted, .status = Error(Code::kUnavailable, "by the test")});
  EXPECT_THAT(settled.get_future().get(), ElementsAre("ended", "step", "settled"));
}

TEST_F(MachineHostTest, CancelsWhatIsUnderWay) {
  loop_.PostAndWait([this] { host_.CancelReads(); });
  EXPECT_THAT(client_.cancelled(), ElementsAre(1U));
}

// --- timers --------------------------------------------------------------------------------------

class LoopTimersTest : public testing::Test {
 protected:
  // Sets timers by `set`, waits until timer 0 has fired, and returns all that have fired by then.
  template <typename Set>
  std::vector<int> FiredUntilTheLast(Set set) {
    std::promise<void> last;
    std::vector<int> fired;
    loop_.PostAndWait([&] {
      timers_.emplace(loop_, clock_, [&](int name) {
        fired.push_back(name);
        if (name == 0) last.set_value();
      });
      set(*timers_);
    });
    last.get_future().wait();
    loop_.PostAndWait([&] { timers_.reset(); });
    return fired;
  }
  LocalInstant In(int64_t ms) const { return clock_.Local().monotonic + Milliseconds(ms); }

  LockLoop loop_;
  SlowClock clock_{4};
  std::optional<LoopTimers<int>> timers_;
};

TEST_F(LoopTimersTest, FireInTheOrderOfTheirTimes) {
  EXPECT_THAT(FiredUntilTheLast([this](LoopTimers<int>& timers) {
                timers.Set(0, In(6));
                timers.Set(1, In(3));
                timers.Set(2, In(1));
              }),
              ElementsAre(2, 1, 0));
}

// A time of the machine's clock that is mistaken for one of MonotonicNow() would fire at once.
TEST_F(LoopTimersTest, FireByTheMachinesClock) {
  const LocalInstant began = MonotonicNow();
  FiredUntilTheLast([this](LoopTimers<int>& timers) { timers.Set(0, In(5)); });
  EXPECT_GE(MonotonicNow() - began, Milliseconds(20));
}

TEST_F(LoopTimersTest, WhatWasReplacedOrCancelledDoesNotFire) {
  EXPECT_THAT(FiredUntilTheLast([this](LoopTimers<int>& timers) {
                timers.Set(1, In(1));
                timers.Cancel(1);
                timers.Set(2, In(1));
                timers.Set(2, In(3));
                timers.Set(0, In(6));
              }),
              ElementsAre(2, 0));
}

}  // namespace
}  // namespace whorl::real_client::machine_host_test
