// The proxy between nodes and Spanner, here whorl's own server: what passes comes through as it
// was, and each fault does what it says to the call, the connection and the node it is meant for.
#include "live/proxy/fault_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "real_client/os.h"
#include "real_client/spanner_client.h"
#include "tests/spanner_model/server/testing.h"
#include "tests/support/client_waits.h"
#include "tests/support/transactions.h"

namespace whorl::live::fault_proxy_test {
namespace {

using real_client::SpannerClient;
using real_client::TransactionClient;
using server::CallPhase;
using server::InBackground;
using server::InsertRow;
using server::SelectValue;
using server::TestClient;
using sim::Direction;
using sim::LinkState;
using test_transactions::Query;
using test_transactions::ReadWrite;
using test_transactions::RunIn;
using testing::Contains;
using testing::Pair;

constexpr int16_t kNode = 0;
constexpr int16_t kOther = 1;

Interception Drop() { return {.action = Interception::Action::kDrop}; }
Interception AnswerWith(Status status) {
  return {.action = Interception::Action::kAnswer, .status = std::move(status)};
}

// Does what a test says, and tells what it has seen.
class TestInterceptor final : public CallInterceptor {
 public:
  using OfRequest = std::function<Interception(const ProxiedCall&)>;
  using OfReply = std::function<Interception(const ProxiedCall&, const Status&)>;

  void OnRequests(OfRequest interceptor) {
    const std::lock_guard lock(mutex_);
    of_request_ = std::move(interceptor);
  }
  void OnReplies(OfReply interceptor) {
    const std::lock_guard lock(mutex_);
    of_reply_ = std::move(interceptor);
  }
  // Until a request, or a reply, of the method has been intercepted.
  ProxiedCall AwaitRequest(const std::string& method) { return Await(requests_, method); }
  struct Intercepted {
    Status status;
    size_t messages = 0;
  };
  Intercepted AwaitIntercepted(const std::string& method) { return Await(replies_, method); }
  Status AwaitReply(const std::string& method) { return AwaitIntercepted(method).status; }
  size_t requests() {
    const std::lock_guard lock(mutex_);
    return requests_.size();
  }

  Interception OnRequest(const ProxiedCall& call, const std::string&) override {
    OfRequest interceptor;
    {
      const std::lock_guard lock(mutex_);
      requests_.emplace(call.method, call);
      interceptor = of_request_;
      changed_.notify_all();
    }
    return interceptor ? interceptor(call) : Interception{};
  }
  Interception OnReply(const ProxiedCall& call, const Status& status,
                       const std::vector<std::string>& messages) override {
    OfReply interceptor;
    {
      const std::lock_guard lock(mutex_);
      replies_.emplace(call.method, Intercepted{.status = status, .messages = messages.size()});
      interceptor = of_reply_;
      changed_.notify_all();
    }
    return interceptor ? interceptor(call, status) : Interception{};
  }
  void OnDelivery(const ProxiedCall& call, Delivery delivery) override {
    const std::lock_guard lock(mutex_);
    deliveries_.emplace(call.method, delivery);
    changed_.notify_all();
  }
  Delivery AwaitDelivery(const std::string& method) { return Await(deliveries_, method); }

 private:
  template <typename T>
  T Await(std::multimap<std::string, T>& seen, const std::string& method) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen.contains(method); });
    return seen.find(method)->second;
  }

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  OfRequest of_request_;
  OfReply of_reply_;
  std::multimap<std::string, ProxiedCall> requests_;
  std::multimap<std::string, Intercepted> replies_;
  std::multimap<std::string, Delivery> deliveries_;
};

// Applies the interception to the calls of one method.
TestInterceptor::OfRequest Of(std::string method, Interception interception) {
  return [=](const ProxiedCall& call) {
    return call.method == method ? interception : Interception{};
  };
}
TestInterceptor::OfReply OfReplyTo(std::string method, Interception interception) {
  return [=](const ProxiedCall& call, const Status&) {
    return call.method == method ? interception : Interception{};
  };
}

constexpr size_t kPartBytes = 64;

server::ServerOptions InParts() {
  server::ServerOptions options = server::TestOptions();
  options.backend.stream_part_bytes = kPartBytes;
  return options;
}

std::string Local(uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// Holds Commits until `open` is answered.
TestInterceptor::OfRequest Hold(Answered<bool>& open, Interception then = {}) {
  return [=, &open](const ProxiedCall& call) {
    if (call.method != "Commit") return Interception{};
    open.Wait();
    return then;
  };
}

class FaultProxyTest : public testing::Test {
 protected:
  explicit FaultProxyTest(ProxyOptions options = {})
      : proxy_(server_->address(), interceptor_, options), address_(Local(proxy_.Open(kNode))) {
    server_->SetObserver(transcript_.Observer());
  }

  // In a transaction of its own, by one call.
  static Response Put(TestClient& client, const SessionName& session, const std::string& key) {
    return client.Call(Commit{.session = session,
                              .transaction = SingleUseWrite{},
                              .mutations = {server::PutRow(key, 1)}});
  }
  // Past the proxy.
  bool IsThere(const std::string& key) {
    TestClient direct(*server_);
    const Response heard =
        direct.Call(ExecuteSql{.session = direct.OpenSession(), .statement = SelectValue(key)});
    EXPECT_EQ(FormatStatus(heard.status), "OK");
    return heard.result.rows.size() == 1;
  }
  std::unique_ptr<SpannerClient> Connect(const std::string& address) {
    std::unique_ptr<SpannerClient> client;
    EXPECT_EQ(FormatStatus(SpannerClient::Create(
                  {.database = server::TestDatabase(),
                   .connection = {.endpoint = address, .credentials = real_client::Plaintext{}}},
                  client)),
              "OK");
    return client;
  }
  // The client's Commit has reached the proxy, and its answer is not there.
  TransactionClient::RunId BeginsToPut(SpannerClient& client,
                                       Answered<TransactionResult>& answered) {
    const auto run = client.Run(ReadWrite({InsertRow("a", 1)}), answered.Callback());
    interceptor_.AwaitRequest("Commit");
    return run;
  }

  server::Transcript transcript_;
  TestInterceptor interceptor_;
  const std::unique_ptr<server::Server> server_ = server::StartOrThrow(InParts());
  FaultProxy proxy_;
  const std::string address_;
};

// --- what passes ---------------------------------------------------------------------------------

TEST_F(FaultProxyTest, PassesQueriesAndTransactions) {
  // By the client that ships, with its sessions, streams and tokens.
  const auto client = Connect(address_);
  EXPECT_EQ(RunIn(*client, ReadWrite({InsertRow("a", 7)})).outcome, Outcome::kCommitted);
  const TransactionResult read = RunIn(*client, Query(SelectValue("a")));
  ASSERT_EQ(FormatStatus(read.status), "OK");
  EXPECT_EQ(read.results[0].rows, std::vector<Row>({{int64_t{7}}}));
  EXPECT_GT(transcript_.Count("ExecuteStreamingSql", CallPhase::kAnswered), 0);
}

TEST_F(FaultProxyTest, PassesManyAtATime) {
  // Readers that become writers of one row: they wait for each other, are ABORTED and come again.
  const auto client = Connect(address_);
  ASSERT_EQ(RunIn(*client, ReadWrite({InsertRow("a", 1)})).outcome, Outcome::kCommitted);
  std::vector<Answered<TransactionResult>> runs(50);
  for (auto& run : runs) {
    client->Run(ReadWrite({SelectValue("a"), server::UpdateRow("a", 2)}), run.Callback());
  }
  for (auto& run : runs) EXPECT_EQ(run.Wait().outcome, Outcome::kCommitted);
}

TEST_F(FaultProxyTest, PassesStreamsOfManyParts) {
  // The whole reply is intercepted at once, and comes in the order in which it was sent.
  TestClient client(address_);
  const SessionName session = client.OpenSession();
  const std::string long_key(kPartBytes, 'x');
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_EQ(FormatStatus(Put(client, session, key + long_key).status), "OK");
  }
  const Response heard = client.Stream(ExecuteSql{
      .session = session, .statement = {.sql = Sql::Intern("SELECT k FROM t ORDER BY k", {})}});
  EXPECT_EQ(heard.result.rows,
            std::vector<Row>({{"a" + long_key}, {"b" + long_key}, {"c" + long_key}}));
  EXPECT_GE(interceptor_.AwaitIntercepted("ExecuteStreamingSql").messages, 3);
}

TEST_F(FaultProxyTest, PassesDetailsAndTrailersOfAStatus) {
  // How long to wait before the next attempt, which newer clients read in the details and older
  // ones in a trailer.
  server_->SetFaults([](const server::CallInfo& call) -> server::FaultAction {
    if (call.method != "Commit") return server::LetPass{};
    return server::FailBefore{
        {.code = Code::kAborted, .retry_after = Milliseconds(1234), .message = "again"}};
  });
  TestClient client(address_);
  const auto heard = client.raw().Commit(
      wire::Encode(Commit{.session = client.OpenSession(), .transaction = SingleUseWrite{}}));
  const Status told = {
      .code = Code::kAborted, .retry_after = Milliseconds(1234), .message = "again"};
  EXPECT_EQ(wire::DecodeStatus(heard.status), told);
  EXPECT_EQ(heard.retry_info, wire::EncodeRetryInfoTrailer(told));
  EXPECT_EQ(interceptor_.AwaitReply("Commit"), told);
}

TEST_F(FaultProxyTest, PassesMetadataOfTheNode) {
  // By which Spanner routes, counts attempts and finds the database. A second proxy sees what is
  // behind the first.
  TestInterceptor outer_interceptor;
  FaultProxy outer(address_, outer_interceptor);
  const auto client = Connect(Local(outer.Open(kNode)));
  EXPECT_EQ(RunIn(*client, ReadWrite({InsertRow("a", 1)})).outcome, Outcome::kCommitted);
  const ProxiedCall sent = outer_interceptor.AwaitRequest("Commit");
  const ProxiedCall arrived = interceptor_.AwaitRequest("Commit");
  EXPECT_THAT(sent.metadata,
              Contains(Pair("google-cloud-resource-prefix", server::TestDatabase())));
  EXPECT_EQ(arrived.metadata.contains("x-goog-spanner-request-id"), true);
  EXPECT_EQ(arrived.metadata, sent.metadata);
  EXPECT_EQ(arrived.path, "/google.spanner.v1.Spanner/Commit");
}

TEST_F(FaultProxyTest, PassesOnThatSpannerIsNotThere) {
  server_->Shutdown();
  TestClient client(address_);
  EXPECT_EQ(client.raw().CreateSession(server::TestDatabase()).status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

// --- calls ---------------------------------------------------------------------------------------

TEST_F(FaultProxyTest, ADroppedRequestNeverComesAndIsNeverAnswered) {
  interceptor_.OnRequests(Of("Commit", Drop()));
  const auto client = Connect(address_);
  Answered<TransactionResult> answered;
  client->Cancel(BeginsToPut(*client, answered));
  EXPECT_EQ(answered.Wait().outcome, Outcome::kUnknown);
  EXPECT_EQ(transcript_.Count("Commit", CallPhase::kArrived), 0);
  EXPECT_FALSE(IsThere("a"));
}

TEST_F(FaultProxyTest, ADroppedReplyIsOfWorkThatWasDone) {
  interceptor_.OnReplies(OfReplyTo("Commit", Drop()));
  const auto client = Connect(address_);
  Answered<TransactionResult> answered;
  const auto run = client->Run(ReadWrite({InsertRow("a", 1)}), answered.Callback());
  EXPECT_EQ(FormatStatus(interceptor_.AwaitReply("Commit")), "OK");
  client->Cancel(run);
  EXPECT_EQ(answered.Wait().outcome, Outcome::kUnknown);
  EXPECT_TRUE(IsThere("a"));
}

TEST_F(FaultProxyTest, AnAnsweredRequestNeverComes) {
  const Status given = {
      .code = Code::kUnavailable, .retry_after = Seconds(3), .message = "the split has no leader"};
  interceptor_.OnRequests(Of("Commit", AnswerWith(given)));
  TestClient client(address_);
  EXPECT_EQ(Put(client, client.OpenSession(), "a").status, given);
  EXPECT_EQ(transcript_.Count("Commit", CallPhase::kArrived), 0);
  EXPECT_FALSE(IsThere("a"));
}

TEST_F(FaultProxyTest, AnAnsweredReplyIsOfWorkThatWasDone) {
  interceptor_.OnReplies(OfReplyTo("Commit", AnswerWith(Error(Code::kUnavailable, "lost"))));
  TestClient client(address_);
  const Response heard = Put(client, client.OpenSession(), "a");
  EXPECT_EQ(FormatStatus(heard.status), "UNAVAILABLE: lost");
  EXPECT_TRUE(IsThere("a"));
}

TEST_F(FaultProxyTest, DelaysLastAsLongAsTheySay) {
  constexpr Duration kEach = Milliseconds(30);
  interceptor_.OnRequests(Of("Commit", {.delay = kEach}));
  interceptor_.OnReplies(OfReplyTo("Commit", {.delay = kEach}));
  TestClient client(address_);
  const SessionName session = client.OpenSession();
  const LocalInstant began = real_client::MonotonicNow();
  EXPECT_EQ(FormatStatus(Put(client, session, "a").status), "OK");
  EXPECT_GE(real_client::MonotonicNow() - began, kEach * 2);
}

TEST_F(FaultProxyTest, AnInterceptorThatBlocksDelaysNoOtherCall) {
  // It waits, say, until a process has been stopped: the same node's other calls, and those of
  // other nodes, go on.
  Answered<bool> open;
  interceptor_.OnRequests(Hold(open));
  TestClient client(address_);
  TestClient other(Local(proxy_.Open(kOther)));
  const SessionName session = client.OpenSession();
  InBackground put([&] { return Put(client, session, "a"); });
  interceptor_.AwaitRequest("Commit");
  EXPECT_EQ(FormatStatus(client.Call(GetSession{.session = session}).status), "OK");
  EXPECT_EQ(FormatStatus(other.Call(GetSession{.session = session}).status), "OK");
  EXPECT_FALSE(IsThere("a"));
  open.Callback()(true);
  EXPECT_EQ(FormatStatus(put.Await().status), "OK");
}

TEST_F(FaultProxyTest, WhatANodeAskedForIsDoneWhenItHasGone) {
  // It is killed while its Commit is on its way: Spanner gets it nevertheless, and the interceptor
  // hears what became of it.
  Answered<bool> open;
  interceptor_.OnRequests(Hold(open));
  auto client = Connect(address_);
  Answered<TransactionResult> answered;
  BeginsToPut(*client, answered);
  client.reset();
  EXPECT_EQ(answered.Wait().outcome, Outcome::kUnknown);
  open.Callback()(true);
  EXPECT_EQ(FormatStatus(interceptor_.AwaitReply("Commit")), "OK");
  EXPECT_TRUE(IsThere("a"));
}

// Who writes down what a node has heard must not write down what it could not hear.
TEST_F(FaultProxyTest, AnAnswerIsLostWhereTheWayBackIsRefused) {
  TestClient client(address_);
  const SessionName session = client.OpenSession();
  EXPECT_EQ(interceptor_.AwaitDelivery("CreateSession"), Delivery::kSent);
  proxy_.SetLink(kNode, Direction::kFrom, LinkState::kRefused);
  EXPECT_EQ(Put(client, session, "a").status.code, Code::kUnavailable);
  EXPECT_EQ(interceptor_.AwaitDelivery("Commit"), Delivery::kLost);
  EXPECT_TRUE(IsThere("a"));
}

TEST_F(FaultProxyTest, AnAnswerIsLostIfItsNodeHasGone) {
  Answered<bool> open;
  interceptor_.OnRequests(Hold(open));
  auto client = Connect(address_);
  Answered<TransactionResult> answered;
  BeginsToPut(*client, answered);
  client.reset();
  // The end of its connections came before this one's call.
  TestClient next(address_);
  next.OpenSession();
  open.Callback()(true);
  EXPECT_EQ(interceptor_.AwaitDelivery("Commit"), Delivery::kLost);
}

TEST_F(FaultProxyTest, ACallWhoseNodeHasGoneCanBeDropped) {
  // And is over then, or the proxy could not shut down.
  Answered<bool> open;
  interceptor_.OnRequests(Hold(open, Drop()));
  auto client = Connect(address_);
  Answered<TransactionResult> answered;
  BeginsToPut(*client, answered);
  client.reset();
  // The end of its connections came before this one's call.
  TestClient next(address_);
  next.OpenSession();
  open.Callback()(true);
  proxy_.Shutdown();
  EXPECT_FALSE(IsThere("a"));
}

// --- connections ---------------------------------------------------------------------------------

TEST_F(FaultProxyTest, ABlackHoleHoldsRequestsBackUntilItEnds) {
  TestClient client(address_);
  TestClient other(Local(proxy_.Open(kOther)));
  const SessionName session = client.OpenSession();
  for (const Direction direction : {Direction::kTo, Direction::kBoth}) {
    const size_t before = interceptor_.requests();
    proxy_.SetLink(kNode, direction, LinkState::kBlackHoled);
    InBackground put([&] { return Put(client, session, "a"); });
    // Another node notices nothing.
    EXPECT_EQ(FormatStatus(other.Call(GetSession{.session = session}).status), "OK");
    EXPECT_EQ(interceptor_.requests(), before + 1);
    proxy_.SetLink(kNode, direction, LinkState::kUp);
    EXPECT_EQ(FormatStatus(put.Await().status), "OK");
  }
}

TEST_F(FaultProxyTest, ABlackHoleOnTheWayBackHoldsRepliesBackUntilItEnds) {
  TestClient client(address_);
  const SessionName session = client.OpenSession();
  proxy_.SetLink(kNode, Direction::kFrom, LinkState::kBlackHoled);
  Answered<bool> heard;
  InBackground put([&, tell = heard.Callback()] {
    Response response = Put(client, session, "a");
    tell(true);
    return response;
  });
  EXPECT_EQ(FormatStatus(interceptor_.AwaitReply("Commit")), "OK");
  EXPECT_TRUE(IsThere("a"));
  EXPECT_FALSE(heard.IsThere());
  proxy_.SetLink(kNode, Direction::kFrom, LinkState::kUp);
  EXPECT_EQ(FormatStatus(put.Await().status), "OK");
}

TEST_F(FaultProxyTest, ANodeThatConnectsInABlackHoleGetsThroughWhenItEnds) {
  proxy_.SetLink(kNode, Direction::kBoth, LinkState::kBlackHoled);
  TestClient client(address_);
  InBackground open([&] {
    client.OpenSession();
    return Response{};
  });
  proxy_.SetLink(kNode, Direction::kBoth, LinkState::kUp);
  open.Await();
  EXPECT_EQ(transcript_.Count("CreateSession", CallPhase::kAnswered), 1);
}

class FaultProxyTimeoutTest : public FaultProxyTest {
 protected:
  FaultProxyTimeoutTest() : FaultProxyTest({.connection_timeout = Milliseconds(50)}) {}
};

TEST_F(FaultProxyTimeoutTest, WhatABlackHoleSwallowsTooLongIsLostWithItsConnection) {
  // As a kernel gives up what nobody acknowledges.
  TestClient client(address_);
  const SessionName session = client.OpenSession();
  proxy_.SetLink(kNode, Direction::kTo, LinkState::kBlackHoled);
  EXPECT_EQ(Put(client, session, "a").status.code, Code::kUnavailable);
  proxy_.SetLink(kNode, Direction::kTo, LinkState::kUp);
  EXPECT_FALSE(IsThere("a"));
  EXPECT_EQ(transcript_.Count("Commit", CallPhase::kArrived), 0);
}

TEST_F(FaultProxyTimeoutTest, WithoutAcknowledgementsAConnectionIsLostToo) {
  // The bytes of the node arrive, but the node gets no acknowledgement.
  TestClient client(address_);
  const SessionName session = client.OpenSession();
  proxy_.SetLink(kNode, Direction::kFrom, LinkState::kBlackHoled);
  EXPECT_EQ(Put(client, session, "a").status.code, Code::kUnavailable);
  EXPECT_EQ(FormatStatus(interceptor_.AwaitReply("Commit")), "OK");
  EXPECT_TRUE(IsThere("a"));
}

TEST_F(FaultProxyTest, ARefusedWayToSpannerResetsConnections) {
  TestClient client(address_);
  const SessionName session = client.OpenSession();
  for (const Direction direction : {Direction::kTo, Direction::kBoth}) {
    proxy_.SetLink(kNode, direction, LinkState::kRefused);
    EXPECT_EQ(Put(client, session, "a").status.code, Code::kUnavailable);
    TestClient newcomer(address_);
    EXPECT_EQ(newcomer.raw().GetSession(session.str()).status.error_code(),
              grpc::StatusCode::UNAVAILABLE);
    EXPECT_EQ(transcript_.Count("Commit", CallPhase::kArrived), 0);
    proxy_.SetLink(kNode, direction, LinkState::kUp);
    TestClient again(address_);
    EXPECT_EQ(FormatStatus(again.Call(GetSession{.session = session}).status), "OK");
  }
}

TEST_F(FaultProxyTest, ARefusedWayBackIsOfWorkThatWasDone) {
  TestClient client(address_);
  const SessionName session = client.OpenSession();
  proxy_.SetLink(kNode, Direction::kFrom, LinkState::kRefused);
  EXPECT_EQ(Put(client, session, "a").status.code, Code::kUnavailable);
  EXPECT_EQ(FormatStatus(interceptor_.AwaitReply("Commit")), "OK");
  EXPECT_TRUE(IsThere("a"));
  proxy_.SetLink(kNode, Direction::kFrom, LinkState::kUp);
  EXPECT_EQ(FormatStatus(Put(client, session, "b").status), "OK");
}

TEST_F(FaultProxyTest, OneNodesPartitionIsNotAnothers) {
  TestClient client(address_);
  TestClient other(Local(proxy_.Open(kOther)));
  const SessionName session = client.OpenSession();
  proxy_.SetLink(kNode, Direction::kBoth, LinkState::kRefused);
  EXPECT_EQ(FormatStatus(Put(other, session, "b").status), "OK");
  EXPECT_EQ(Put(client, session, "a").status.code, Code::kUnavailable);
}

// --- the end -------------------------------------------------------------------------------------

TEST_F(FaultProxyTest, ShutdownEndsWhateverIsUnderWay) {
  // Dropped, delayed, held back in a black hole, and waiting at the server.
  const auto gate = std::make_shared<server::Gate>();
  server_->SetFaults([gate](const server::CallInfo& call) -> server::FaultAction {
    if (call.method != "BeginTransaction") return server::LetPass{};
    return server::HoldReply{gate};
  });
  interceptor_.OnRequests([](const ProxiedCall& call) -> Interception {
    if (call.method == "Commit") return Drop();
    if (call.method == "Rollback") return {.delay = Seconds(3600)};
    return {};
  });
  TestClient client(address_);
  TestClient other(Local(proxy_.Open(kOther)));
  const SessionName session = client.OpenSession();
  ASSERT_EQ(FormatStatus(other.Call(GetSession{.session = session}).status), "OK");
  InBackground dropped([&] { return Put(client, session, "a"); });
  InBackground delayed([&] { return client.Call(Rollback{.session = session}); });
  InBackground waiting([&] { return client.Call(BeginTransaction{.session = session}); });
  proxy_.SetLink(kOther, Direction::kBoth, LinkState::kBlackHoled);
  InBackground held([&] { return other.Call(GetSession{.session = session}); });
  interceptor_.AwaitRequest("Commit");
  interceptor_.AwaitRequest("Rollback");
  transcript_.Await("BeginTransaction", CallPhase::kArrived);
  proxy_.Shutdown();
  for (InBackground* call : {&dropped, &delayed, &waiting, &held}) {
    EXPECT_EQ(call->Await().status.code, Code::kUnavailable);
  }
  TestClient late(address_);
  EXPECT_EQ(late.raw().GetSession(session.str()).status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  gate->Open();
}

TEST_F(FaultProxyTest, AnInterceptorMayCutTheLinkOfItsCall) {
  // Also when the proxy shuts down meanwhile.
  interceptor_.OnReplies([this](const ProxiedCall& call, const Status&) -> Interception {
    if (call.method == "Commit") proxy_.SetLink(call.node, Direction::kBoth, LinkState::kRefused);
    return {};
  });
  TestClient client(address_);
  EXPECT_EQ(Put(client, client.OpenSession(), "a").status.code, Code::kUnavailable);
  EXPECT_TRUE(IsThere("a"));
}

}  // namespace
}  // namespace whorl::live::fault_proxy_test
