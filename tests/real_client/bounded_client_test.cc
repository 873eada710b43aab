// The order in which a bounded client sends transactions, and those that it refuses.
#include "real_client/bounded_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/fenced_lease/words.h"
#include "protocol/spanner/sql.h"

namespace whorl::real_client::bounded_client_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Holds its transactions until the test ends them.
class HeldClient final : public TransactionClient {
 public:
  ~HeldClient() override {
    Shutdown([] {});
  }

  RunId Run(Transaction transaction, Done done) override {
    sent.push_back(
        std::get<std::string>(transaction.statements.front().statement.parameters.front()));
    held_[++last_] = std::move(done);
    return last_;
  }
  void Cancel(RunId run) override { End(run, Code::kCancelled); }
  void Shutdown(std::function<void()> done) override {
    while (!held_.empty()) End(held_.begin()->first, Code::kCancelled);
    done();
  }
  void End(RunId run, Code code = Code::kOk) {
    auto held = held_.extract(run);
    held.mapped()({.outcome = code == Code::kOk ? Outcome::kCommitted : Outcome::kAborted,
                   .status = Error(code, "")});
  }
  // Ends the transaction that was sent first.
  void EndFirst() { End(held_.begin()->first); }

  std::vector<std::string> sent;  // the first parameters, in the order of sending

 private:
  RunId last_ = 0;
  std::map<RunId, Done> held_;
};

class BoundedClientTest : public testing::Test {
 protected:
  // `by` is in seconds of the test's clock.
  void Run(StepName step, const std::string& name, int by) {
    Transaction transaction = OneStatement(
        step, Mode::kReadWrite,
        Sql::Intern("UPDATE t SET a=1 WHERE name=@name", {{.name = "name", .type = Type::kString}}),
        {name});
    transaction.give_up_at = LocalInstant{} + Seconds(by);
    runs_[name] =
        client_.Run(std::move(transaction), [this, name](const TransactionResult& result) {
          if (result.status.ok()) return;
          EXPECT_EQ(result.outcome, Outcome::kAborted);
          refused_.push_back(name + " " + FormatStatus(result.status));
        });
  }
  void EndAll(size_t count) {
    while (inner_->sent.size() < count) inner_->EndFirst();
  }

  LocalInstant now_;
  std::map<std::string, TransactionClient::RunId> runs_;
  std::vector<std::string> refused_;
  HeldClient* inner_ = new HeldClient;
  BoundedClient client_{std::unique_ptr<TransactionClient>(inner_), 1, [this] { return now_; }};
};

TEST_F(BoundedClientTest, SendsWhatKeepsLocksFirstAndOfTheseTheMostUrgent) {
  Run(fenced_lease::steps::kRead, "first", 60);
  Run(fenced_lease::steps::kRead, "read", 10);
  Run(fenced_lease::steps::kTake, "take", 9);
  Run(fenced_lease::steps::kBeat, "beat", 30);
  Run(fenced_lease::steps::kBeat, "urgent beat", 20);
  Run(fenced_lease::steps::kRelease, "release", 40);
  EXPECT_THAT(inner_->sent, ElementsAre("first"));
  EndAll(6);
  EXPECT_THAT(inner_->sent, ElementsAre("first", "urgent beat", "beat", "release", "take", "read"));
  EXPECT_THAT(refused_, IsEmpty());
}

TEST_F(BoundedClientTest, DoesNotSendWhatIsTooLate) {
  Run(fenced_lease::steps::kBeat, "first", 60);
  Run(fenced_lease::steps::kBeat, "late beat", 5);
  Run(fenced_lease::steps::kRead, "late read", 5);
  Run(fenced_lease::steps::kRead, "read", 60);
  now_ = LocalInstant{} + Seconds(5);
  EndAll(2);
  EXPECT_THAT(inner_->sent, ElementsAre("first", "read"));
  EXPECT_THAT(refused_, ElementsAre(HasSubstr("late beat DEADLINE_EXCEEDED: too many"),
                                    HasSubstr("late read DEADLINE_EXCEEDED: too many")));
}

// The first transaction took 8 s; the estimate takes a quarter of that, and the margin is twice the
// estimate.
TEST_F(BoundedClientTest, SendsLastWhatWouldComeTooLate) {
  Run(fenced_lease::steps::kBeat, "first", 60);
  Run(fenced_lease::steps::kBeat, "hopeless", 9);
  Run(fenced_lease::steps::kRead, "read", 60);
  Run(fenced_lease::steps::kBeat, "beat", 12);
  now_ = LocalInstant{} + Seconds(8);
  EndAll(4);
  EXPECT_THAT(inner_->sent, ElementsAre("first", "beat", "read", "hopeless"));
}

TEST_F(BoundedClientTest, SendsOneOfEqualOnes) {
  Run(fenced_lease::steps::kRead, "first", 60);
  Run(fenced_lease::steps::kBeat, "beat", 20);
  Run(fenced_lease::steps::kBeat, "other", 20);
  Run(fenced_lease::steps::kBeat, "beat", 20);
  EXPECT_THAT(refused_, ElementsAre(HasSubstr("beat CANCELLED: an equal one")));
  EndAll(3);
  EXPECT_THAT(inner_->sent, ElementsAre("first", "other", "beat"));
  // A transaction that is under way does not replace a later one.
  Run(fenced_lease::steps::kBeat, "beat", 20);
  EndAll(4);
  EXPECT_EQ(refused_.size(), 1u);
}

TEST_F(BoundedClientTest, CancelsWhatWaitsAndWhatIsUnderWay) {
  Run(fenced_lease::steps::kRead, "first", 60);
  Run(fenced_lease::steps::kRead, "waiting", 60);
  Run(fenced_lease::steps::kRead, "last", 60);
  client_.Cancel(runs_["waiting"]);
  EXPECT_THAT(refused_, ElementsAre("waiting CANCELLED: the caller gave up"));
  client_.Cancel(runs_["first"]);
  EXPECT_THAT(inner_->sent, ElementsAre("first", "last"));
}

TEST_F(BoundedClientTest, AShutdownAnswersAll) {
  Run(fenced_lease::steps::kRead, "first", 60);
  Run(fenced_lease::steps::kBeat, "waiting", 60);
  bool done = false;
  client_.Shutdown([&] { done = true; });
  EXPECT_TRUE(done);
  Run(fenced_lease::steps::kRead, "after", 60);
  EXPECT_THAT(inner_->sent, ElementsAre("first"));
  EXPECT_THAT(refused_, ElementsAre(HasSubstr("waiting CANCELLED"), HasSubstr("first CANCELLED"),
                                    HasSubstr("after CANCELLED")));
}

// A Spanner that serves one kind well may be overloaded with the other.
TEST(BoundedClientLanes, ReadsDoNotWaitForReadWriteTransactions) {
  LocalInstant now;
  auto* inner = new HeldClient;
  BoundedClient client(std::unique_ptr<TransactionClient>(inner), 100, [&now] { return now; });
  const auto run = [&client](Mode mode, const std::string& name) {
    client.Run(OneStatement(fenced_lease::steps::kTake, mode,
                            Sql::Intern("SELECT @name", {{.name = "name", .type = Type::kString}}),
                            {name}),
               [](const TransactionResult&) {});
  };
  for (const char* name : {"w1", "w2", "w3", "w4", "w5", "w6"}) run(Mode::kReadWrite, name);
  EXPECT_THAT(inner->sent, ElementsAre("w1", "w2", "w3", "w4"));
  run(Mode::kStrongRead, "r1");
  EXPECT_THAT(inner->sent, ElementsAre("w1", "w2", "w3", "w4", "r1"));
  // Spanner refuses one: two at a time are enough now.
  inner->End(1, Code::kAborted);
  inner->End(2);
  EXPECT_THAT(inner->sent, ElementsAre("w1", "w2", "w3", "w4", "r1"));
  inner->End(3);
  EXPECT_THAT(inner->sent, ElementsAre("w1", "w2", "w3", "w4", "r1", "w5"));
}

// Many threads send and one answers: at most two transactions are under way, and all are answered.
TEST(BoundedClientThreads, AnswerEverythingOnce) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  class Answering final : public TransactionClient {
   public:
    explicit Answering() : thread_([this] { Work(); }) {}
    ~Answering() override {
      ended_ = true;
      thread_.join();
    }
    RunId Run(Transaction, Done done) override {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(done));
      EXPECT_LE(held_.size(), 2u);
      return 0;
    }
    void Cancel(RunId) override {}
    void Shutdown(std::function<void()> done) override { done(); }

   private:
    void Work() {
      while (!ended_) {
        Done done;
        {
          const std::lock_guard lock(mutex_);
          if (!held_.empty()) done = std::move(held_.front());
          if (done) held_.erase(held_.begin());
        }
        if (done) done({.outcome = Outcome::kCommitted, .status = {}});
        std::this_thread::yield();
      }
    }
    std::mutex mutex_;
    std::vector<Done> held_;
    std::atomic<bool> ended_ = false;
    std::thread thread_;
  };
  std::atomic<int> answered = 0;
  BoundedClient client(std::make_unique<Answering>(), 2);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&client, &answered] {
      for (int j = 0; j < kEach; ++j) {
        Transaction read = OneStatement(fenced_lease::steps::kRead, Mode::kStrongRead,
                                        Sql::Intern("SELECT name FROM t", {}), {});
        client.Run(std::move(read), [&answered](const TransactionResult&) { ++answered; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (answered < kThreads * kEach) std::this_thread::yield();
  EXPECT_EQ(answered, kThreads * kEach);
}

}  // namespace
}  // namespace whorl::real_client::bounded_client_test
