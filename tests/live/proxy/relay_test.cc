// A node's connections in the fault proxy, without gRPC: which bytes pass, which wait, and which
// reset their connection. And the threads of its calls.
#include "live/proxy/relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <latch>
#include <memory>
#include <string>

#include "live/proxy/workers.h"

namespace whorl::live::relay_test {
namespace {

using sim::Direction;
using sim::LinkState;

// One end of a connection, which blocks.
class End {
 public:
  explicit End(int socket) : socket_(socket) {}
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() { close(socket_); }

  void Send(const std::string& bytes) const {
    EXPECT_EQ(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
  }
  // That many, or fewer at the end.
  std::string Receive(size_t size) const {
    std::string bytes(size, '\0');
    const ssize_t received = recv(socket_, bytes.data(), size, MSG_WAITALL);
    bytes.resize(received < 0 ? 0 : static_cast<size_t>(received));
    return bytes;
  }
  bool HasBytes() const {
    char byte = 0;
    return recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
  }
  // Waits for the end of the connection: a reset, or an orderly one.
  bool IsReset() const {
    char byte = 0;
    return recv(socket_, &byte, 1, 0) < 0 && errno == ECONNRESET;
  }

 private:
  const int socket_;
};

class RelayTest : public testing::Test {
 protected:
  explicit RelayTest(Duration connection_timeout = Seconds(20))
      : relay_(std::make_shared<Relay>(loop_, connection_timeout, [this](int socket) {
          EXPECT_EQ(fcntl(socket, F_SETFL, 0), 0);  // to block
          served_.set_value(socket);
        })) {
    loop_.PostAndWait([this] { relay_->Start(); });
    Open();
  }
  ~RelayTest() override {
    loop_.PostAndWait([this] { relay_->Close(); });
  }

  // 0, or the error.
  int Connect() {
    const int node = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = {.sin_family = AF_INET,
                                 .sin_port = htons(relay_->port()),
                                 .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const int result = connect(node, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    const int error = result == 0 ? 0 : errno;
    node_ = std::make_unique<End>(node);
    return error;
  }
  void Open() {
    std::promise<int> served;
    std::future<int> inner = served.get_future();
    loop_.PostAndWait([&] { served_ = std::move(served); });
    EXPECT_EQ(Connect(), 0);
    inner_ = std::make_unique<End>(inner.get());
  }
  void SetLink(Direction direction, LinkState state) {
    loop_.PostAndWait([&] { relay_->SetLink(direction, state); });
  }
  // The loop has seen what was sent before: it looks at its sockets between two tasks.
  void LetLoopLook() {
    for (int turn = 0; turn < 3; ++turn) loop_.PostAndWait([] {});
  }

  real_client::LockLoop loop_;
  std::promise<int> served_;  // gets the next inner end; of the loop's thread
  const std::shared_ptr<Relay> relay_;
  std::unique_ptr<End> node_;
  std::unique_ptr<End> inner_;
};

TEST_F(RelayTest, PassesBytesBothWaysUntilOneEndCloses) {
  node_->Send("request");
  EXPECT_EQ(inner_->Receive(7), "request");
  inner_->Send("reply");
  EXPECT_EQ(node_->Receive(5), "reply");
  node_.reset();
  EXPECT_EQ(inner_->Receive(1), "");
}

TEST_F(RelayTest, PassesMoreThanAnyBufferHolds) {
  const std::string many(16 << 20, 'x');
  const auto sender = std::async(std::launch::async, [&] { node_->Send(many); });
  EXPECT_EQ(inner_->Receive(many.size()), many);
}

TEST_F(RelayTest, EachWayIsHeldBackForItself) {
  SetLink(Direction::kTo, LinkState::kBlackHoled);
  node_->Send("a");
  LetLoopLook();
  EXPECT_FALSE(inner_->HasBytes());
  inner_->Send("b");
  EXPECT_EQ(node_->Receive(1), "b");
  SetLink(Direction::kBoth, LinkState::kBlackHoled);
  SetLink(Direction::kTo, LinkState::kUp);
  EXPECT_EQ(inner_->Receive(1), "a");
  inner_->Send("c");
  LetLoopLook();
  EXPECT_FALSE(node_->HasBytes());
  SetLink(Direction::kFrom, LinkState::kUp);
  EXPECT_EQ(node_->Receive(1), "c");
}

TEST_F(RelayTest, WhatWaitsKeepsItsOrderAndItsEnd) {
  // Also the end of a node that was killed meanwhile.
  SetLink(Direction::kTo, LinkState::kBlackHoled);
  node_->Send("a");
  LetLoopLook();
  node_->Send("b");
  node_.reset();
  LetLoopLook();
  EXPECT_FALSE(inner_->HasBytes());
  SetLink(Direction::kTo, LinkState::kUp);
  EXPECT_EQ(inner_->Receive(3), "ab");
}

TEST_F(RelayTest, ARefusedByteResetsItsConnection) {
  SetLink(Direction::kBoth, LinkState::kRefused);
  inner_->Send("b");  // which is the server's to refuse, by its answer
  EXPECT_EQ(node_->Receive(1), "b");
  node_->Send("a");
  EXPECT_TRUE(node_->IsReset());
  EXPECT_EQ(inner_->Receive(1), "");
  Open();
  node_->Send("a");
  EXPECT_TRUE(node_->IsReset());
  SetLink(Direction::kBoth, LinkState::kUp);
  Open();
  node_->Send("a");
  EXPECT_EQ(inner_->Receive(1), "a");
}

TEST_F(RelayTest, WhatWaitedIsRefusedWhenTheLinkIs) {
  SetLink(Direction::kTo, LinkState::kBlackHoled);
  node_->Send("a");
  LetLoopLook();
  SetLink(Direction::kTo, LinkState::kRefused);
  EXPECT_TRUE(node_->IsReset());
}

TEST_F(RelayTest, CloseResetsConnectionsAndTakesNoMore) {
  loop_.PostAndWait([this] { relay_->Close(); });
  EXPECT_TRUE(node_->IsReset());
  EXPECT_EQ(Connect(), ECONNREFUSED);
}

class RelayTimeoutTest : public RelayTest {
 protected:
  RelayTimeoutTest() : RelayTest(Milliseconds(20)) {}
};

TEST_F(RelayTimeoutTest, UnacknowledgedBytesResetTheirConnection) {
  for (const Direction direction : {Direction::kTo, Direction::kFrom, Direction::kBoth}) {
    SetLink(direction, LinkState::kBlackHoled);
    node_->Send("a");
    EXPECT_TRUE(node_->IsReset());
    EXPECT_EQ(inner_->Receive(2), direction == Direction::kFrom ? "a" : "");
    SetLink(direction, LinkState::kUp);
    Open();
  }
}

class RelayHealedTest : public RelayTest {
 protected:
  RelayHealedTest() : RelayTest(Seconds(1)) {}
};

TEST_F(RelayHealedTest, ABlackHoleThatEndsInTimeCostsNoConnection) {
  SetLink(Direction::kTo, LinkState::kBlackHoled);
  node_->Send("a");
  LetLoopLook();
  SetLink(Direction::kTo, LinkState::kUp);
  EXPECT_EQ(inner_->Receive(1), "a");
  const auto node = std::move(node_);
  const auto inner = std::move(inner_);
  // Another one is lost later, when the time of the first would have been up.
  Open();
  SetLink(Direction::kTo, LinkState::kBlackHoled);
  node_->Send("b");
  EXPECT_TRUE(node_->IsReset());
  SetLink(Direction::kTo, LinkState::kUp);
  node->Send("c");
  EXPECT_EQ(inner->Receive(1), "c");
}

TEST(WorkersTest, RunsAllTasksAtATimeAndWaitsForThem) {
  // Each waits for all others, so fewer threads than tasks would wait for ever.
  constexpr int kTasks = 20;
  std::latch all(kTasks);
  std::atomic<int> done = 0;
  Workers workers;
  for (int i = 0; i < kTasks; ++i) {
    ASSERT_TRUE(workers.Run([&] {
      all.arrive_and_wait();
      ++done;
    }));
  }
  workers.Stop();
  EXPECT_EQ(done, kTasks);
  EXPECT_FALSE(workers.Run([&] { ++done; }));
}

}  // namespace
}  // namespace whorl::live::relay_test
