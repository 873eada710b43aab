// What TryLock() and LockFor() say: that another holds the lock only if its row shows that, and
// otherwise the last error. `lock exec` ends with --conflict-exit-code by the same outcome.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/protocols.h"
#include "protocol/spanner/words.h"
#include "real_client/lock.h"
#include "real_client/lock_host.h"
#include "real_client/lock_loop.h"
#include "real_client/lock_table.h"
#include "tests/real_client/model_client.h"

namespace whorl::real_client::lock_outcome_test {
namespace {

using testing::HasSubstr;

// A connection that can be cut.
class CutClient final : public TransactionClient {
 public:
  explicit CutClient(TransactionClient& client) : client_(client) {}
  void Cut() { is_cut_ = true; }
  RunId Run(Transaction transaction, Done done) override {
    if (!is_cut_) return client_.Run(std::move(transaction), std::move(done));
    done({.outcome = Outcome::kAborted, .status = Error(Code::kUnavailable, "cut")});
    return 0;
  }
  void Cancel(RunId run) override { client_.Cancel(run); }
  void Shutdown(std::function<void()> done) override { done(); }

 private:
  TransactionClient& client_;
  std::atomic<bool> is_cut_ = false;
};

// What happens to every transaction of the process that wants the lock.
enum class Call : uint8_t {
  kRead,         // a read by itself fails
  kTake,         // the statement of a write fails: certainly without effect
  kCommit,       // its Commit is refused or lost: of unknown outcome, and without effect
  kCommitReply,  // the reply to its Commit is lost: of unknown outcome, and with effect
};
constexpr auto WordTableOf(Call) {
  return MakeWordTable<Call>({
      {Call::kRead, "read"},
      {Call::kTake, "take"},
      {Call::kCommit, "commit"},
      {Call::kCommitReply, "commit reply"},
  });
}

// One lock "job" of a protocol, free and ready to be taken.
struct Table {
  explicit Table(const ProtocolInfo& protocol, Duration lease_used = Seconds(10))
      : info(protocol), lease(lease_used) {
    if (auto init = InitTransaction(info, std::string(info.table), "job")) Run(*std::move(init));
  }
  std::unique_ptr<DistributedLock> Make(TransactionClient& over, const std::string& id) {
    const LockHost::Dependencies around = {
        .loop = loop, .client = over, .announce = [](const LockHost&) {}};
    return std::make_unique<DistributedLock>(std::make_shared<LockHost>(
        around, info,
        LockOptions{.name = "job", .id = id, .lease = lease, .table = std::string(info.table)}));
  }
  TransactionResult Run(Transaction transaction) {
    std::promise<TransactionResult> ended;
    client.Run(std::move(transaction),
               [&](TransactionResult result) { ended.set_value(std::move(result)); });
    TransactionResult result = ended.get_future().get();
    EXPECT_EQ(FormatStatus(result.status), "OK");
    return result;
  }
  bool IsHeld() {
    const TransactionResult read = Run(ReadHoldings(info, std::string(info.table), "job"));
    const std::vector<Row>& rows = read.results.at(0).rows;
    const Holding holding = CurrentHolding(HoldingsIn(info, rows, lease), "job");
    // spindle_v2 takes a lease that is no millisecond old (S5).
    return holding.is_held() && holding.age.value_or(Seconds(1)) > Milliseconds(5);
  }
  // Another process takes the lock, and is not heard of again while its lease runs.
  void TakeByAnother(const std::string& id) {
    CutClient connection(client);
    const auto holder = Make(connection, id);
    holder->Start();
    while (!IsHeld()) std::this_thread::yield();
    connection.Cut();
  }
  // From now on every such call fails. Nothing fails if the code is OK.
  void Fail(Call call, Code code) {
    if (code == Code::kOk) return;
    auto fate = [this, call, code](const Transaction& transaction) {
      std::optional<TransactionResult> result;
      const bool is_read = transaction.mode == Mode::kStrongRead;
      if (is_read != (call == Call::kRead)) return result;
      has_failed = true;
      const bool unknown = call == Call::kCommit || call == Call::kCommitReply;
      result = {.outcome = unknown ? Outcome::kUnknown : Outcome::kAborted,
                .status = Error(code, "said by the test")};
      return result;
    };
    call == Call::kCommitReply ? client.SetLoss(fate) : client.SetFate(fate);
  }
  // By TryLock(), and by LockFor().
  std::vector<LockResult> TryBothWays() {
    const auto lock = Make(client, "a");
    std::vector<LockResult> results = {lock->TryLock()};
    lock->Unlock();
    results.push_back(lock->LockFor(Milliseconds(50)));
    lock->Unlock();
    // A machine that is busy answers nothing in that time.
    if (FormatResult(results.back()).ends_with("no answer from Spanner in time")) {
      EXPECT_EQ(results.back().outcome, LockOutcome::kFailed);
      results.pop_back();
    }
    return results;
  }

  const ProtocolInfo& info;
  const Duration lease;
  std::atomic<bool> has_failed = false;
  LockLoop loop;
  ModelClient client{info.create_table};
};

class LockOutcomeTest : public testing::TestWithParam<std::string> {
 protected:
  static const ProtocolInfo& Info() { return *FindProtocol(GetParam()); }
  // Runs `check` with a new table for each call and code.
  static void ForEach(Duration lease, const std::function<void(Table&, Call, Code)>& check) {
    for (const Call call : AllOf<Call>()) {
      for (const Code code : AllOf<Code>()) {
        // It makes no difference what is said in place of a reply that was lost, and takes long.
        if (call == Call::kCommitReply && code != Code::kUnavailable) continue;
        SCOPED_TRACE(std::string(WordOf(call)) + " " + std::string(WordOf(code)));
        Table table(Info(), lease);
        check(table, call, code);
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Protocols, LockOutcomeTest,
                         testing::Values("spindle_v2", "spindle_v3", "semaphore", "lease_lock",
                                         "fenced_lease"),
                         [](const auto& protocol) { return protocol.param; });

// A free lock has no holder, whatever Spanner answers: "held" would mean that another did tonight's job.
TEST_P(LockOutcomeTest, AFreeLockIsNeverSaidToBeHeld) {
  // spindle_v2 leads a lease after it has won.
  ForEach(std::max(Info().lease_min, Seconds(1)), [](Table& table, Call call, Code code) {
    table.Fail(call, code);
    for (const LockResult& result : table.TryBothWays()) {
      EXPECT_NE(result.outcome, LockOutcome::kHeld) << FormatResult(result);
      // It may find its own row, or lead; spindle_v2 may have won, and lead a lease later.
      if (call == Call::kCommitReply || !table.has_failed) continue;
      EXPECT_EQ(result.outcome, LockOutcome::kFailed);
      EXPECT_EQ(result.error.code, code) << FormatResult(result);
      EXPECT_THAT(FormatResult(result), HasSubstr("said by the test"));
    }
  });
}

TEST_P(LockOutcomeTest, AHeldLockIsSaidToBeHeldIfThatWasSeenLast) {
  ForEach(Seconds(10), [](Table& table, Call call, Code code) {
    table.TakeByAnother("b");
    table.Fail(call, code);
    for (const LockResult& result : table.TryBothWays()) {
      if (result.outcome == LockOutcome::kHeld) {
        EXPECT_EQ(result.holder, "b");
        EXPECT_FALSE(call == Call::kRead && table.has_failed);
        continue;
      }
      // Where the write that failed was not followed by a look, that is what was heard last.
      EXPECT_EQ(result.outcome, LockOutcome::kFailed);
      EXPECT_TRUE(table.has_failed) << FormatResult(result);
      EXPECT_EQ(result.error.code, code) << FormatResult(result);
    }
  });
}

// Two machines may share an id, such as a host's name. (To the other protocols they are one.)
TEST(LockOfSharedIdTest, IsHeldByTheOtherProcess) {
  Table table(*FindProtocol("fenced_lease"));
  table.TakeByAnother("a");
  for (const LockResult& result : table.TryBothWays()) {
    EXPECT_EQ(result.outcome, LockOutcome::kHeld) << FormatResult(result);
  }
}

// A process that died: its lease has run out, and no other has taken the lock yet.
TEST(LockOfADeadHolderTest, IsNotHeld) {
  Table table(*FindProtocol("fenced_lease"));
  table.TakeByAnother("b");
  Transaction earlier = OneStatement(
      steps::kWrite, Mode::kReadWrite,
      Sql::Intern("UPDATE fenced_locks SET heartbeat = TIMESTAMP_SUB(heartbeat, INTERVAL 11 "
                  "SECOND) WHERE name = 'job'",
                  {}),
      {});
  table.Run(std::move(earlier));
  for (const LockResult& result : table.TryBothWays()) {
    EXPECT_EQ(result.outcome, LockOutcome::kFailed) << FormatResult(result);
    EXPECT_THAT(FormatResult(result), HasSubstr("the lease of its last holder, b, has ended"));
  }
}

// While Spanner refuses every claim, no thread of this process holds what all of them wait for.
TEST_P(LockOutcomeTest, AThreadThatOnlyCompetesHoldsNothing) {
  Table table(Info());
  std::promise<void> refused;
  std::atomic<bool> first = true;
  table.client.SetFate([&](const Transaction& transaction) -> std::optional<TransactionResult> {
    if (transaction.mode == Mode::kStrongRead) return std::nullopt;
    if (first.exchange(false)) refused.set_value();
    return TransactionResult{.outcome = Outcome::kAborted,
                             .status = Error(Code::kUnavailable, "said by the test")};
  });
  const auto lock = table.Make(table.client, "a");
  auto competes = std::async(std::launch::async, [&] { return lock->Lock(); });
  refused.get_future().wait();
  const LockResult result = lock->TryLock();
  EXPECT_EQ(result.outcome, LockOutcome::kFailed) << FormatResult(result);
  lock->Unlock();
  EXPECT_EQ(competes.get().code, Code::kCancelled);
}

}  // namespace
}  // namespace whorl::real_client::lock_outcome_test
