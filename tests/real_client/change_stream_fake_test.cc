// The reader of change streams against a server whose answers the test writes: partitions that split and
// merge, queries that break, and errors. The emulator's own answers: tests/cli/lock/.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "google/spanner/v1/spanner.grpc.pb.h"
#include "real_client/change_stream_client.h"
#include "wire/status.h"

namespace whorl::real_client::change_stream_fake_test {
namespace {

namespace v1 = google::spanner::v1;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kDatabase = "projects/p/instances/i/databases/d";
constexpr const char* kMetadata =
    R"({"rowType":{"fields":[{"name":"ChangeRecord","type":{"code":"ARRAY","arrayElementType":)"
    R"({"code":"STRUCT","structType":{"fields":[{"name":"data_change_record","type":{"code":"ARRAY",)"
    R"("arrayElementType":{"code":"STRUCT","structType":{"fields":[{"name":"commit_timestamp","type":)"
    R"({"code":"TIMESTAMP"}}]}}}},{"name":"heartbeat_record","type":{"code":"ARRAY","arrayElementType":)"
    R"({"code":"STRUCT","structType":{"fields":[{"name":"timestamp","type":{"code":"TIMESTAMP"}}]}}}},)"
    R"({"name":"child_partitions_record","type":{"code":"ARRAY","arrayElementType":{"code":"STRUCT",)"
    R"("structType":{"fields":[{"name":"start_timestamp","type":{"code":"TIMESTAMP"}},)"
    R"({"name":"child_partitions","type":{"code":"ARRAY","arrayElementType":{"code":"STRUCT",)"
    R"("structType":{"fields":[{"name":"token","type":{"code":"STRING"}},)"
    R"({"name":"parent_partition_tokens","type":{"code":"ARRAY","arrayElementType":)"
    R"({"code":"STRING"}}}]}}}}]}}}}]}}}}]}})";

std::string At(const std::string& second) { return "2026-11-24T02:00:" + second + "Z"; }
// Rows, as JSON.
std::string Change(const std::string& second) { return R"([[[[")" + At(second) + R"("]],[],[]]])"; }
std::string Beat(const std::string& second) { return R"([[[],[[")" + At(second) + R"("]],[]]])"; }
std::string Child(const std::string& second, const std::string& token,
                  const std::string& parents = "") {
  return R"([[[],[],[[")" + At(second) + R"(",[[")" + token + R"(",[)" + parents + R"(]]]]]]])";
}

// How the query of a partition is answered: its rows, then this status.
struct Answer {
  std::vector<std::string> rows;
  Code code = Code::kOk;
  std::string message;
};

class FakeStream final : public v1::Spanner::Service {
 public:
  void Will(const std::string& token, std::vector<std::string> rows, Code code = Code::kOk,
            std::string message = "") {
    answers_[token].push_back({std::move(rows), code, std::move(message)});
  }
  // "token from second", of all queries.
  std::vector<std::string> queries() {
    const std::lock_guard lock(mutex_);
    return queries_;
  }
  int sessions() {
    const std::lock_guard lock(mutex_);
    return sessions_;
  }

  grpc::Status CreateSession(grpc::ServerContext*, const v1::CreateSessionRequest*,
                             v1::Session* reply) override {
    const std::lock_guard lock(mutex_);
    reply->set_name(std::string(kDatabase) + "/sessions/" + std::to_string(++sessions_));
    reply->set_multiplexed(true);
    return grpc::Status::OK;
  }
  grpc::Status ExecuteStreamingSql(grpc::ServerContext*, const v1::ExecuteSqlRequest* request,
                                   grpc::ServerWriter<v1::PartialResultSet>* writer) override {
    const auto& fields = request->params().fields();
    const std::string token = fields.at("token").string_value();
    Answer answer = {.rows = {}, .code = Code::kInternal, .message = "not expected"};
    {
      const std::lock_guard lock(mutex_);
      is_strong_ = is_strong_ && request->transaction().single_use().read_only().strong();
      queries_.push_back(token + "@" + fields.at("start").string_value().substr(17));
      if (auto& answers = answers_[token]; !answers.empty()) {
        answer = answers.front();
        answers.pop_front();
      }
    }
    v1::PartialResultSet head;
    EXPECT_TRUE(
        google::protobuf::util::JsonStringToMessage(kMetadata, head.mutable_metadata()).ok());
    writer->Write(head);
    for (const std::string& row : answer.rows) {
      v1::PartialResultSet part;
      const std::string json = R"({"values":[)" + row + "]}";
      EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &part).ok()) << json;
      writer->Write(part);
    }
    return wire::EncodeStatus(Error(answer.code, answer.message));
  }
  bool is_strong() const { return is_strong_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::deque<Answer>> answers_;
  std::vector<std::string> queries_;
  int sessions_ = 0;
  bool is_strong_ = true;
};

class ChangeStreamFakeTest : public testing::Test, public ChangeStreamObserver {
 protected:
  ChangeStreamFakeTest() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&spanner_);
    server_ = builder.BuildAndStart();
    options_ = {
        .database = kDatabase,
        .connection = {.endpoint = "127.0.0.1:" + std::to_string(port), .credentials = Plaintext{}},
        .stream = "changes",
        .from = ParseRfc3339(At("10")),
        .to = ParseRfc3339(At("40")),
        .first_patience = Seconds(1),
        .patience = Seconds(2)};
  }
  ~ChangeStreamFakeTest() override {
    client_.reset();
    server_->Shutdown();
  }

  void OnChange(Timestamp commit, std::string /*json*/) override {
    changes_.push_back(FormatRfc3339(commit).substr(17));
  }
  void OnReached(Timestamp at) override { reached_ = FormatRfc3339(at).substr(17); }
  void OnEnd(Status status) override {
    const std::lock_guard lock(mutex_);
    end_ = std::move(status);
    changed_.notify_one();
  }

  // Reads to the end.
  Status Read() {
    EXPECT_EQ(FormatStatus(ChangeStreamClient::Open(options_, *this, client_)), "OK");
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        changed_.wait_for(lock, std::chrono::seconds(60), [&] { return end_.has_value(); }));
    return end_.value_or(Error(Code::kUnknown, "no end"));
  }
  std::string ReadText() { return FormatStatus(Read()); }

  FakeStream spanner_;
  std::unique_ptr<grpc::Server> server_;
  ChangeStreamOptions options_;
  std::unique_ptr<ChangeStreamClient> client_;
  std::vector<std::string> changes_;
  std::string reached_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Status> end_;  // guarded by mutex_
};

TEST_F(ChangeStreamFakeTest, ReadsPartitionsAfterTheirParentsAndGivesChangesInOrder) {
  spanner_.Will("", {Child("10", "a"), Child("10", "b")});
  spanner_.Will("a", {Change("12"), Change("18"), Child("20", "c", R"("a","b")")});
  spanner_.Will("b", {Change("11"), Change("17"), Child("20", "c", R"("a","b")")});
  spanner_.Will("c", {Change("21"), Beat("30"), Change("33")});
  EXPECT_EQ(ReadText(), "OK");
  EXPECT_THAT(changes_, ElementsAre("11Z", "12Z", "17Z", "18Z", "21Z", "33Z"));
  EXPECT_EQ(spanner_.queries().back(), "c@20Z");
  EXPECT_EQ(spanner_.queries().size(), 4U);
  EXPECT_TRUE(spanner_.is_strong());
}

// Nothing may be missing, or a violation could be.
TEST_F(ChangeStreamFakeTest, GoesOnWhereAQueryBroke) {
  spanner_.Will("", {}, Code::kUnavailable, "first");
  spanner_.Will("", {Child("10", "a")});
  spanner_.Will("a", {Change("12"), Beat("15")}, Code::kUnavailable);
  spanner_.Will("a", {Change("16")});
  EXPECT_EQ(ReadText(), "OK");
  EXPECT_THAT(changes_, ElementsAre("12Z", "16Z"));
  EXPECT_THAT(spanner_.queries(), ElementsAre("@10Z", "@10Z", "a@10Z", "a@14.999999Z"));
}

TEST_F(ChangeStreamFakeTest, ASessionThatIsLostIsMadeAnew) {
  spanner_.Will("", {Child("10", "a")});
  spanner_.Will("a", {}, Code::kNotFound, "Session not found: s");
  spanner_.Will("a", {Change("16")});
  EXPECT_EQ(ReadText(), "OK");
  EXPECT_EQ(spanner_.sessions(), 2);
  EXPECT_THAT(changes_, ElementsAre("16Z"));
}

// What retention has taken ends the stream: the rest would not be the whole truth.
TEST_F(ChangeStreamFakeTest, RecordsThatHaveExpiredEndIt) {
  spanner_.Will("", {Child("10", "a"), Child("10", "b")});
  spanner_.Will("a", {Change("12")});
  spanner_.Will("b", {}, Code::kOutOfRange, "no longer valid");
  EXPECT_EQ(Read().code, Code::kOutOfRange);
}

TEST_F(ChangeStreamFakeTest, WithoutABeginningItReadsFromTheOldestRecord) {
  options_.from.reset();
  // It moves on meanwhile.
  for (const char* earliest :
       {"2026-11-24T02:00:09.608073869+00:00", "2026-11-24T02:00:09.7+00:00"}) {
    spanner_.Will("", {}, Code::kOutOfRange,
                  "Specified start_timestamp is too far in the past. Please specify a "
                  "start_timestamp within the earliest read timestamp: " +
                      std::string(earliest) + ". Received start_timestamp: 1970.");
  }
  spanner_.Will("", {Child("10", "a")});
  spanner_.Will("a", {Change("12")});
  EXPECT_EQ(ReadText(), "OK");
  EXPECT_THAT(spanner_.queries(), ElementsAre("@00Z", "@09.608074Z", "@10.7Z", "a@10Z"));
}

TEST_F(ChangeStreamFakeTest, ErrorsEndIt) {
  spanner_.Will("", {}, Code::kInvalidArgument,
                "Table-valued function not found: READ_changes [at 1:26]");
  EXPECT_EQ(Read().code, Code::kNotFound);
}

TEST_F(ChangeStreamFakeTest, WithoutPermissionTheRemedyIsSaid) {
  spanner_.Will("", {}, Code::kPermissionDenied, "no");
  EXPECT_THAT(ReadText(), HasSubstr("roles/spanner.databaseUser"));
}

TEST_F(ChangeStreamFakeTest, AServerThatIsGoneForTooLongEndsIt) {
  spanner_.Will("", {Child("10", "a")});
  for (int i = 0; i < 1'000; ++i) spanner_.Will("a", {}, Code::kUnavailable);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Read().code, Code::kUnavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
  EXPECT_GT(spanner_.queries().size(), 3U);
}

TEST_F(ChangeStreamFakeTest, ItMayBeDestroyedWhileItReads) {
  options_.to.reset();
  spanner_.Will("", {Child("10", "a")});
  for (int i = 0; i < 1'000; ++i) spanner_.Will("a", {Change("12")});
  EXPECT_EQ(FormatStatus(ChangeStreamClient::Open(options_, *this, client_)), "OK");
  while (spanner_.queries().size() < 3) continue;
  client_.reset();
  EXPECT_FALSE(end_.has_value());
}

TEST(ChangeStreamNameTest, IsAnIdentifier) {
  EXPECT_TRUE(ValidateStreamName("lock_changes2").ok());
  for (const char* name : {"", "2x", "a b", "a;b", "a`b", "_a"}) {
    EXPECT_EQ(ValidateStreamName(name).code, Code::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace whorl::real_client::change_stream_fake_test
