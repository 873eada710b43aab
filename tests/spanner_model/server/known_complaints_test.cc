// Known complaints about the official emulator (issues of GoogleCloudPlatform/cloud-spanner-emulator),
// which whorl's server does not give cause for. That it does not slow down over a million calls (159,
// 277) is measured by `build/bench/whorl_wire_bench --benchmark_filter=MillionCalls`, and shown by
// DatabaseSnapshot.AHundredThousandCallsLeaveNoMoreBehindThanTenThousand.
#include <atomic>
#include <thread>

#include "tests/spanner_model/server/testing.h"

namespace whorl::server::known_complaints_test {
namespace {

class KnownComplaintsTest : public testing::Test {
 protected:
  KnownComplaintsTest() {
    ServerOptions options = TestOptions();
    options.backend.commit_wait = CommitWait::kNone;
    options.clock = clock_;
    options.observer = transcript_.Observer();
    server_ = StartOrThrow(std::move(options));
    client_ = std::make_unique<TestClient>(*server_);
  }

  Transcript transcript_;  // outlives the server, which writes to it
  std::shared_ptr<VirtualClock> clock_ =
      std::make_shared<VirtualClock>(Timestamp::FromUnixNanos(1'800'000'000'000'000'000));
  std::unique_ptr<Server> server_;
  std::unique_ptr<TestClient> client_;
};

// Issue 281: a transaction that is aborted before its client commits it leaves nothing behind that
// the next one, of the same session, would wait for.
TEST_F(KnownComplaintsTest, AnAbortBeforeCommitDoesNotWedgeTheNextTransaction) {
  ASSERT_TRUE(client_->Put("a", 1).status.ok());
  for (int round = 0; round < 20; ++round) {
    Commit older = client_->Begin(SelectValue("b"));
    clock_->Advance(Milliseconds(1));
    const Commit younger = client_->Begin(UpdateRow("a", 2));
    older.mutations = {PutRow("a", 3)};
    ASSERT_TRUE(client_->Call(older).status.ok());  // and so aborts the younger one
    ASSERT_EQ(client_->Call(younger).status.code, Code::kAborted);
    const Response next = client_->Execute(younger.session, BeginReadWrite{}, UpdateRow("a", 4), 2);
    ASSERT_TRUE(next.status.ok()) << FormatStatus(next.status);
    ASSERT_TRUE(client_->Call(Commit{.session = younger.session, .transaction = next.transaction})
                    .status.ok());
    clock_->Advance(Milliseconds(1));
  }
  EXPECT_EQ(transcript_.Count("ExecuteSql", CallPhase::kParked), 0);
}

// Issue 282: with many databases at once, each acknowledged write is there afterwards.
TEST_F(KnownComplaintsTest, NoAcknowledgedWriteOfParallelDatabasesIsMissing) {
  constexpr int kDatabases = 300;
  constexpr int kThreads = 30;
  constexpr int kWrites = 10;
  std::atomic<int> missing = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      RawSpanner raw(MakeChannel(server_->address()));
      for (int i = thread; i < kDatabases; i += kThreads) {
        const std::string id = "db-" + std::to_string(i);
        if (!raw.CreateDatabase(id, {kTestTable}).ok()) {
          ++missing;
          continue;
        }
        const std::string session = raw.CreateSession(RawSpanner::DatabaseName(id)).reply.name();
        for (int write = 0; write < kWrites; ++write) {
          v1::CommitRequest commit =
              wire::Encode(Commit{.session = session,
                                  .transaction = SingleUseWrite{},
                                  .mutations = {PutRow(std::to_string(write), write)}});
          if (!raw.Commit(commit).ok()) ++missing;
        }
        v1::ExecuteSqlRequest count;
        count.set_session(session);
        count.set_sql("SELECT COUNT(*) FROM t");
        const auto heard = raw.ExecuteSql(count);
        if (!heard.ok() ||
            heard.reply.rows(0).values(0).string_value() != std::to_string(kWrites)) {
          ++missing;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missing, 0);
}

// Issue 137: the locks of a client that died are free when its transaction has been idle for 10 s.
TEST_F(KnownComplaintsTest, TheLocksOfAClientThatDiedAreFreeAfterTenSeconds) {
  ASSERT_TRUE(client_->Put("a", 1).status.ok());
  client_->Begin(UpdateRow("a", 2));  // and its client dies
  clock_->Advance(Milliseconds(1));
  Commit other = client_->Begin(SelectValue("b"));
  other.mutations = {PutRow("a", 3)};
  InBackground commit([&] { return client_->Call(other); });
  transcript_.Await("Commit", CallPhase::kParked);
  clock_->Advance(Seconds(10) + Milliseconds(1));
  EXPECT_TRUE(commit.Await().status.ok()) << FormatStatus(commit.Await().status);
}

}  // namespace
}  // namespace whorl::server::known_complaints_test
