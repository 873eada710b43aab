// The threaded part of the server, without gRPC: many callers, the timer thread, gates and
// shutdown, all at once.
#include "spanner_model/server/frontend.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace whorl::server::frontend_test {
namespace {

namespace v1 = ::google::spanner::v1;

constexpr const char* kDatabase = "projects/p/instances/in/databases/db";

BackendOptions WithCounter() {
  BackendOptions options;
  options.databases = {
      {.name = kDatabase,
       .statements = {"CREATE TABLE counter (id INT64 NOT NULL, n INT64) PRIMARY KEY (id)"}}};
  return options;
}

const Method& MethodNamed(const std::string& name) {
  return *FindMethod("/google.spanner.v1.Spanner/" + name);
}

// Waits for one answer.
class Waiter {
 public:
  Frontend::AnswerFunction Done() {
    return [this](Answer answer) {
      const std::lock_guard lock(mutex_);
      ASSERT_FALSE(answer_.has_value()) << "answered twice";
      answer_ = std::move(answer);
      changed_.notify_all();
    };
  }
  Answer Await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return answer_.has_value(); });
    return *answer_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Answer> answer_;
};

class ServerFrontendThreadsTest : public testing::Test {
 protected:
  void Start(BackendOptions options) {
    frontend_ = std::make_shared<Frontend>(std::move(options), std::make_shared<RealClock>());
    ASSERT_TRUE(frontend_->Start().ok());
  }
  template <typename Reply, typename Request>
  Status Call(const std::string& method, const Request& request, Reply* reply) {
    Waiter waiter;
    frontend_->Handle(MethodNamed(method), std::make_shared<const Request>(request), waiter.Done());
    const Answer answer = waiter.Await();
    if (answer.status.ok()) *reply = static_cast<const Reply&>(*answer.messages.at(0));
    return answer.status;
  }
  std::string OpenSession() {
    v1::CreateSessionRequest request;
    request.set_database(kDatabase);
    v1::Session session;
    EXPECT_TRUE(Call("CreateSession", request, &session).ok());
    return session.name();
  }
  Status Execute(const std::string& session, const std::string& sql, std::string* transaction,
                 int64_t sequence_number) {
    v1::ExecuteSqlRequest request;
    request.set_session(session);
    request.set_sql(sql);
    request.set_seqno(sequence_number);
    if (transaction->empty()) {
      request.mutable_transaction()->mutable_begin()->mutable_read_write();
    } else {
      request.mutable_transaction()->set_id(*transaction);
    }
    v1::ResultSet result;
    Status status = Call("ExecuteSql", request, &result);
    if (status.ok() && transaction->empty()) *transaction = result.metadata().transaction().id();
    return status;
  }
  Status CommitOf(const std::string& session, const std::string& transaction) {
    v1::CommitRequest request;
    request.set_session(session);
    request.set_transaction_id(transaction);
    v1::CommitResponse response;
    return Call("Commit", request, &response);
  }
  // Adds one to the counter, with as many retries as necessary.
  Status Increment(const std::string& session) {
    Status status = Error(Code::kAborted, "");
    while (status.code == Code::kAborted) {
      std::string transaction;
      status = Execute(session, "UPDATE counter SET n = n + 1 WHERE id = 1", &transaction, 1);
      if (status.ok()) status = CommitOf(session, transaction);
    }
    return status;
  }

  std::shared_ptr<Frontend> frontend_;
};

// No increment is lost, and wound-wait lets every thread finish.
TEST_F(ServerFrontendThreadsTest, CountsEveryIncrementOfManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 25;
  ASSERT_NO_FATAL_FAILURE(Start(WithCounter()));
  const std::string session = OpenSession();
  std::string transaction;
  ASSERT_TRUE(Execute(session, "INSERT INTO counter (id, n) VALUES (1, 0)", &transaction, 1).ok());
  ASSERT_TRUE(CommitOf(session, transaction).ok());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this] {
      const std::string own = OpenSession();
      for (int i = 0; i < kEach; ++i) {
        const Status status = Increment(own);
        EXPECT_TRUE(status.ok()) << FormatStatus(status);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  v1::ExecuteSqlRequest request;
  request.set_session(session);
  request.set_sql("SELECT n FROM counter");
  v1::ResultSet result;
  ASSERT_TRUE(Call("ExecuteSql", request, &result).ok());
  EXPECT_EQ(result.rows(0).values(0).string_value(), std::to_string(kThreads * kEach));
}

// Long texts are planned outside of the lock, for a schema that changes meanwhile.
TEST_F(ServerFrontendThreadsTest, PlansLongTextsWhileTheSchemaChanges) {
  constexpr int kEach = 20;
  ASSERT_NO_FATAL_FAILURE(Start(WithCounter()));
  std::atomic<int> planning = 2;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([this, &planning] {
      v1::ExecuteSqlRequest request;
      request.set_session(OpenSession());
      for (int i = 0; i < kEach; ++i) {
        request.set_sql("/*" + std::string(kLongRequest, 'x') + "*/ SELECT " + std::to_string(i) +
                        " FROM counter WHERE id = @id");
        (*request.mutable_params()->mutable_fields())["id"].set_string_value("1");
        v1::ResultSet result;
        const Status status = Call("ExecuteSql", request, &result);
        // A schema change aborts what is under way.
        EXPECT_TRUE(status.ok() || status.code == Code::kAborted) << FormatStatus(status);
      }
      --planning;
    });
  }
  for (int i = 0; planning > 0; ++i) {
    google::spanner::admin::database::v1::UpdateDatabaseDdlRequest update;
    update.set_database(kDatabase);
    update.add_statements(i % 2 == 0 ? "ALTER TABLE counter ADD COLUMN more INT64"
                                     : "ALTER TABLE counter DROP COLUMN more");
    Waiter waiter;
    frontend_->Handle(
        *FindMethod("/google.spanner.admin.database.v1.DatabaseAdmin/UpdateDatabaseDdl"),
        std::make_shared<const decltype(update)>(update), waiter.Done());
    EXPECT_TRUE(waiter.Await().status.ok());
  }
  for (std::thread& thread : threads) thread.join();
}

// A shutdown while calls arrive, wait and are held answers all of them.
TEST_F(ServerFrontendThreadsTest, AnswersEveryCallWhenItEndsAmongThem) {
  constexpr int kThreads = 4;
  ASSERT_NO_FATAL_FAILURE(Start(WithCounter()));
  const auto gate = std::make_shared<Gate>();
  frontend_->SetFaults([&](const CallInfo& call) -> FaultAction {
    if (call.nth % 5 == 0) return HoldRequest{gate};
    if (call.nth % 7 == 0) return HoldReply{gate};
    return LetPass{};
  });
  std::atomic<int> ended = 0;
  std::vector<std::thread> threads;
  std::atomic<int> begun = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      v1::CreateSessionRequest request;
      request.set_database(kDatabase);
      Status status;
      while (status.code != Code::kUnavailable) {
        ++begun;
        v1::Session session;
        status = Call("CreateSession", request, &session);
      }
      ++ended;
    });
  }
  while (begun.load() < 3 * kThreads) std::this_thread::yield();
  std::thread opener([&] { gate->Open(); });
  frontend_->Shutdown();
  for (std::thread& thread : threads) thread.join();
  opener.join();
  EXPECT_EQ(ended.load(), kThreads);
}

// The timer thread sleeps until a test moves the clock, and then does what is due.
TEST_F(ServerFrontendThreadsTest, TimersFollowAClockThatIsMoved) {
  const auto clock =
      std::make_shared<VirtualClock>(Timestamp::FromUnixNanos(1'800'000'000'000'000'000));
  frontend_ = std::make_shared<Frontend>(WithCounter(), clock);
  ASSERT_TRUE(frontend_->Start().ok());
  const std::string session = OpenSession();
  v1::ExecuteSqlRequest request;
  request.set_session(session);
  request.set_sql("SELECT n FROM counter");
  auto& bound = *request.mutable_transaction()->mutable_single_use()->mutable_read_only();
  bound.mutable_read_timestamp()->set_seconds(1'800'000'100);
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 10; ++i) {
    waiters.push_back(std::make_unique<Waiter>());
    frontend_->Handle(MethodNamed("ExecuteSql"),
                      std::make_shared<const v1::ExecuteSqlRequest>(request),
                      waiters.back()->Done());
  }
  for (int i = 0; i < 101; ++i) clock->Advance(Seconds(1));
  for (const auto& waiter : waiters) EXPECT_TRUE(waiter->Await().status.ok());
}

}  // namespace
}  // namespace whorl::server::frontend_test
