// Waiting calls, and what ends their waits: locks, time, faults, shutdown.
#include "tests/spanner_model/server/testing.h"

namespace whorl::server::waits_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr Timestamp kStart = Timestamp::FromUnixNanos(1'800'000'000'000'000'000);

// Time stands still unless a test moves it, but commits are visible at once.
class ServerWaitsTest : public testing::Test {
 protected:
  ServerWaitsTest() { Restart(AtOnce()); }

  static ServerOptions AtOnce() {
    ServerOptions options = TestOptions();
    options.backend.commit_wait = CommitWait::kNone;
    return options;
  }
  void Restart(ServerOptions options) {
    clock_ = std::make_shared<VirtualClock>(kStart);
    options.clock = clock_;
    options.observer = transcript_.Observer();
    server_ = StartOrThrow(std::move(options));
    client_ = std::make_unique<TestClient>(*server_);
  }

  Response Put(const std::string& key, int64_t value) { return client_->Put(key, value); }
  // Reads a row in a new session's transaction, which stays open with its lock.
  Commit BeginWithRead(const std::string& key) { return client_->Begin(SelectValue(key)); }
  // Whether a newcomer's transaction gets to read the row.
  Code BeginsAndReads(const std::string& key) {
    return client_->Execute(client_->OpenSession(), BeginReadWrite{}, SelectValue(key)).status.code;
  }

  Transcript transcript_;  // outlives the server, which writes to it
  std::shared_ptr<VirtualClock> clock_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<TestClient> client_;
};

// --- locks ---------------------------------------------------------------------------------------

// Clients read the pause from it; old ones look in a trailer.
TEST_F(ServerWaitsTest, AbortedSaysWhenToTryAgain) {
  ServerOptions options = AtOnce();
  options.backend.model.retry_delay = Milliseconds(7);
  Restart(std::move(options));
  Commit older = BeginWithRead("b");
  clock_->Advance(Milliseconds(1));
  const Commit younger = BeginWithRead("a");
  older.mutations = {PutRow("a", 2)};
  ASSERT_TRUE(client_->Call(older).status.ok());
  const auto heard = client_->raw().Commit(wire::Encode(younger));
  EXPECT_EQ(wire::DecodeStatus(heard.status).retry_after, Milliseconds(7)) << "in the details";
  EXPECT_TRUE(heard.retry_info.has_value()) << "in the trailer";
}

// Spanner would abort the first one after 10 s; the emulator never does.
TEST_F(ServerWaitsTest, EmulatorLikeServerAbortsWhoComesSecondHoweverIdleTheFirstIs) {
  ServerOptions options = TestOptions();
  const auto databases = options.backend.databases;
  options.backend = EmulatorLike();
  options.backend.databases = databases;
  Restart(std::move(options));
  const Commit first = BeginWithRead("a");
  EXPECT_EQ(BeginsAndReads("b"), Code::kAborted);
  clock_->Advance(Seconds(60));
  EXPECT_EQ(BeginsAndReads("a"), Code::kAborted);
  EXPECT_TRUE(client_->Call(first).status.ok());
}

// A waiting call keeps its statement, however many others the server receives meanwhile.
TEST_F(ServerWaitsTest, ParkedStatementOutlivesTheCache) {
  ServerOptions options = AtOnce();
  options.backend.statements.statements = 2;
  Restart(std::move(options));
  ASSERT_TRUE(Put("a", 1).status.ok());
  // A Commit that waits for an older reader blocks younger readers.
  const Commit oldest = BeginWithRead("a");
  clock_->Advance(Milliseconds(1));
  Commit older = BeginWithRead("b");
  older.mutations = {PutRow("a", 2)};
  InBackground commit([&] { return client_->Call(older); });
  transcript_.Await("Commit", CallPhase::kParked);
  clock_->Advance(Milliseconds(1));
  InBackground read(
      [&] { return client_->Execute(client_->OpenSession(), BeginReadWrite{}, SelectValue("a")); });
  transcript_.Await("ExecuteSql", CallPhase::kParked);
  for (int i = 0; i < 20; ++i) {
    client_->Query(("SELECT v + " + std::to_string(i) + " FROM t").c_str());
  }
  ASSERT_TRUE(client_->Call(oldest).status.ok());
  EXPECT_TRUE(commit.Await().status.ok());
  EXPECT_THAT(read.Await().result.rows, ElementsAre(Row{int64_t{2}}));
}

// --- time ----------------------------------------------------------------------------------------

// A commit is not acknowledged before its timestamp has passed on every clock.
TEST_F(ServerWaitsTest, CommitWaitsUntilItsTimestampIsSurelyPast) {
  ServerOptions options = TestOptions();
  options.backend.epsilon = Milliseconds(4);
  Restart(std::move(options));
  InBackground commit([&] { return Put("a", 1); });
  transcript_.Await("Commit", CallPhase::kParked);
  clock_->Advance(Milliseconds(8));
  EXPECT_THAT(client_->Query(SelectValue("a")), IsEmpty()) << "visible before TT.after holds";
  clock_->Advance(Nanoseconds(1));
  ASSERT_TRUE(commit.Await().status.ok());
  EXPECT_EQ(commit.Await().commit_timestamp, kStart + Milliseconds(4));
}

TEST_F(ServerWaitsTest, ReplicationTakesItsTime) {
  ServerOptions options = AtOnce();
  options.backend.replication_latency = Milliseconds(10);
  Restart(std::move(options));
  InBackground commit([&] { return Put("a", 1); });
  transcript_.Await("Commit", CallPhase::kParked);
  clock_->Advance(Milliseconds(10));
  EXPECT_TRUE(commit.Await().status.ok());
}

// --- faults --------------------------------------------------------------------------------------

TEST_F(ServerWaitsTest, FailsACallBeforeItIsServed) {
  server_->SetFaults([](const CallInfo& call) -> FaultAction {
    if (call.method != "Commit" || call.nth != 2) return LetPass{};
    return FailBefore{Error(Code::kUnavailable, "try again")};
  });
  EXPECT_TRUE(Put("a", 1).status.ok());
  EXPECT_EQ(Put("b", 1).status.message, "try again");
  EXPECT_TRUE(Put("c", 1).status.ok());
  EXPECT_THAT(client_->Query("SELECT k FROM t ORDER BY k"), ElementsAre(Row{"a"}, Row{"c"}));
}

// The case that a lock protocol has to survive: committed, but the reply is lost.
TEST_F(ServerWaitsTest, LosesTheReplyOfACommitThatHasHappened) {
  server_->SetFaults([](const CallInfo& call) -> FaultAction {
    if (call.method != "Commit" || call.nth != 1) return LetPass{};
    return LoseReply{Error(Code::kUnavailable, "connection lost")};
  });
  const Commit commit = client_->Begin(InsertRow("a", 1));
  EXPECT_EQ(client_->Call(commit).status.code, Code::kUnavailable);
  EXPECT_THAT(client_->Query(SelectValue("a")), ElementsAre(Row{int64_t{1}}));
  EXPECT_TRUE(client_->Call(commit).status.ok()) << "a Commit that comes again is answered";
}

TEST_F(ServerWaitsTest, HoldsRequestsAndRepliesBackUntilTold) {
  const auto request_gate = std::make_shared<Gate>();
  const auto reply_gate = std::make_shared<Gate>();
  server_->SetFaults([&](const CallInfo& call) -> FaultAction {
    if (call.method != "Commit") return LetPass{};
    if (call.nth == 1) return HoldRequest{request_gate};
    return HoldReply{reply_gate};
  });
  InBackground first([&] { return Put("a", 1); });
  transcript_.Await("Commit", CallPhase::kArrived, 1);
  InBackground second([&] { return Put("b", 2); });
  transcript_.Await("Commit", CallPhase::kArrived, 2);
  // The second call is served and its reply held back; the first is not served.
  while (client_->Query(SelectValue("b")).empty()) std::this_thread::yield();
  EXPECT_THAT(client_->Query(SelectValue("a")), IsEmpty());
  EXPECT_EQ(transcript_.Count("Commit", CallPhase::kAnswered), 0);
  reply_gate->Open();
  EXPECT_TRUE(second.Await().status.ok());
  request_gate->Open();
  EXPECT_TRUE(first.Await().status.ok());
}

// --- ends ----------------------------------------------------------------------------------------

TEST_F(ServerWaitsTest, ServesOnWhenTheClientHasGone) {
  const Commit older = BeginWithRead("a");
  clock_->Advance(Milliseconds(1));
  const v1::CommitRequest request = wire::Encode(Commit{.session = client_->OpenSession(),
                                                        .transaction = SingleUseWrite{},
                                                        .mutations = {PutRow("a", 2)}});
  grpc::ClientContext context;
  InBackground gone([&] {
    v1::CommitResponse reply;
    Response response;
    response.status = wire::DecodeStatus(client_->raw().api().Commit(&context, request, &reply));
    return response;
  });
  transcript_.Await("Commit", CallPhase::kParked);
  context.TryCancel();
  EXPECT_EQ(gone.Await().status.code, Code::kCancelled);
  EXPECT_TRUE(client_->Call(older).status.ok());
  transcript_.Await("Commit", CallPhase::kAnswered, 2);
  EXPECT_THAT(client_->Query(SelectValue("a")), ElementsAre(Row{int64_t{2}}));
}

TEST_F(ServerWaitsTest, AnswersWhatIsUnderWayWhenItEnds) {
  const auto gate = std::make_shared<Gate>();
  server_->SetFaults([&](const CallInfo& call) -> FaultAction {
    if (call.method == "BeginTransaction") return HoldRequest{gate};
    if (call.method == "Rollback") return HoldReply{gate};
    return LetPass{};
  });
  const SessionName session = client_->OpenSession();
  const Commit older = BeginWithRead("a");
  clock_->Advance(Milliseconds(1));
  InBackground parked([&] { return Put("a", 2); });
  InBackground held([&] {
    return client_->Call(BeginTransaction{.session = session, .options = BeginReadWrite{}});
  });
  InBackground kept(
      [&] { return client_->Call(Rollback{.session = session, .transaction = "x"}); });
  transcript_.Await("Commit", CallPhase::kParked);
  transcript_.Await("BeginTransaction", CallPhase::kArrived);
  transcript_.Await("Rollback", CallPhase::kArrived);
  server_.reset();
  EXPECT_EQ(parked.Await().status.code, Code::kUnavailable);
  EXPECT_EQ(held.Await().status.code, Code::kUnavailable);
  EXPECT_EQ(kept.Await().status.code, Code::kUnavailable);
  gate->Open();  // no call is left
}

// Transcripts can be compared, since a call is reported as answered before its client receives it.
TEST_F(ServerWaitsTest, ObserverSeesEachCallWithItsOutcome) {
  const SessionName session = client_->OpenSession();
  const TransactionId id(std::string(14, 'x'));
  ASSERT_EQ(client_->Call(Commit{.session = session, .transaction = id}).status.code,
            Code::kNotFound);
  const std::vector<Transcript::Entry> entries = transcript_.entries();
  ASSERT_THAT(entries, Not(IsEmpty()));
  const Transcript::Entry& last = entries.back();
  EXPECT_EQ(last.method, "Commit");
  EXPECT_EQ(last.phase, CallPhase::kAnswered);
  EXPECT_EQ(last.session, session);
  EXPECT_EQ(last.transaction, id);
  EXPECT_EQ(last.code, Code::kNotFound);
}

}  // namespace
}  // namespace whorl::server::waits_test
