// The wire against the emulator: it accepts what whorl encodes, and whorl decodes its answers.
// Skipped if there is no emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "live/emulator_process.h"
#include "tests/support/raw_spanner.h"
#include "wire/requests.h"
#include "wire/responses.h"
#include "wire/status.h"

namespace whorl::wire::wire_emulator_test {
namespace {

class WireEmulatorTest : public testing::Test {
 protected:
  void SetUp() override {
    emulator_ = EmulatorProcess::Start();
    if (emulator_ == nullptr) GTEST_SKIP() << kNoEmulator;
    spanner_ = std::make_unique<RawSpanner>(emulator_->channel());
    const grpc::Status status = spanner_->CreateDatabase(
        "locks",
        {"CREATE TABLE locktable (name STRING(MAX) NOT NULL, flag BOOL, number INT64, ratio "
         "FLOAT64, data BYTES(MAX), heartbeat TIMESTAMP OPTIONS (allow_commit_timestamp=true)) "
         "PRIMARY KEY (name)"});
    ASSERT_TRUE(status.ok()) << status.error_message();
    const auto session = spanner_->CreateSession(RawSpanner::DatabaseName("locks"));
    ASSERT_TRUE(session.ok()) << session.status.error_message();
    session_ = session.reply.name();
  }

  Response Run(const ExecuteSql& call, ResultShape& shape) {
    Response response;
    const auto heard = spanner_->ExecuteSql(Encode(call));
    response.status = DecodeStatus(heard.status, heard.retry_info);
    if (heard.ok()) response.status = DecodeResultSet(heard.reply, response, shape);
    return response;
  }
  ExecuteSql Query(const std::string& sql, std::vector<Parameter> parameters = {},
                   std::vector<Value> values = {}) {
    return {.session = session_,
            .transaction = SingleUseRead{.return_read_timestamp = true},
            .statement = {.sql = Sql::Intern(sql, std::move(parameters)),
                          .parameters = std::move(values)}};
  }

  std::unique_ptr<EmulatorProcess> emulator_;
  std::unique_ptr<RawSpanner> spanner_;
  std::string session_;
};

TEST_F(WireEmulatorTest, AnswersSelectOne) {
  ResultShape shape;
  const Response response = Run(Query("SELECT 1"), shape);
  ASSERT_TRUE(response.status.ok()) << FormatStatus(response.status);
  EXPECT_EQ(response.result.rows, (std::vector<Row>{{int64_t{1}}}));
  EXPECT_TRUE(response.read_timestamp.has_value());
  EXPECT_FALSE(shape.is_dml);
}

// Each type is sent as a parameter and returned as a column.
TEST_F(WireEmulatorTest, EchoesAValueOfEachType) {
  const Row values = {true,
                      int64_t{-9'000'000'000'000'000'000},
                      Float64(0.1),
                      std::string("\xC3\xBC'"),
                      Bytes{std::string("\0\xFF", 2)},
                      *ParseRfc3339("2026-01-01T00:00:00.123456789Z"),
                      Null{}};
  const std::vector<Parameter> parameters = {
      {.name = "a", .type = Type::kBool},      {.name = "b", .type = Type::kInt64},
      {.name = "c", .type = Type::kFloat64},   {.name = "d", .type = Type::kString},
      {.name = "e", .type = Type::kBytes},     {.name = "f", .type = Type::kTimestamp},
      {.name = "g", .type = Type::kTimestamp},
  };
  ResultShape shape;
  const ExecuteSql query = Query("SELECT @a, @b, @c, @d, @e, @f, @g", parameters, values);
  const Response response = Run(query, shape);
  ASSERT_TRUE(response.status.ok()) << FormatStatus(response.status);
  EXPECT_EQ(response.result.rows, (std::vector<Row>{values}));

  PartialResultDecoder decoder;
  const auto heard = spanner_->ExecuteStreamingSql(Encode(query));
  ASSERT_TRUE(heard.ok()) << heard.status.error_message();
  for (const v1::PartialResultSet& part : heard.reply) ASSERT_TRUE(decoder.Add(part).ok());
  Response streamed;
  ASSERT_TRUE(decoder.Finish(streamed, shape).ok());
  EXPECT_EQ(streamed.result.rows, response.result.rows);
}

// The calls of a lock: insert in a transaction that the statement begins, commit, read by key.
TEST_F(WireEmulatorTest, CommitsAnInsertAndReadsItBack) {
  ResultShape shape;
  ExecuteSql insert =
      Query("INSERT locktable (name, heartbeat) VALUES (@name, PENDING_COMMIT_TIMESTAMP())",
            {{.name = "name", .type = Type::kString}}, {std::string("lock")});
  insert.transaction = BeginReadWrite{};
  insert.sequence_number = 1;
  const Response inserted = Run(insert, shape);
  ASSERT_TRUE(inserted.status.ok()) << FormatStatus(inserted.status);
  EXPECT_TRUE(shape.is_dml);
  EXPECT_EQ(inserted.result.row_count, 1);

  Commit commit = {.session = session_, .transaction = inserted.transaction};
  commit.mutations = {{.kind = MutationKind::kInsert,
                       .table = "locktable",
                       .columns = {"name", "heartbeat"},
                       .rows = {{std::string("other"), std::string(kCommitTimestamp)}}}};
  const auto heard = spanner_->Commit(Encode(commit));
  ASSERT_TRUE(heard.ok()) << heard.status.error_message();
  Response committed;
  ASSERT_TRUE(DecodeCommitResponse(heard.reply, committed).ok());

  Read read = {.session = session_, .table = "locktable", .columns = {"name", "heartbeat"}};
  read.keys.spans = {{.start = {std::string("l")}, .end = {std::string("p")}}};
  const auto rows = spanner_->Read(Encode(read));
  ASSERT_TRUE(rows.ok()) << rows.status.error_message();
  Response found;
  ASSERT_TRUE(DecodeResultSet(rows.reply, found, shape).ok());
  EXPECT_EQ(found.result.rows,
            (std::vector<Row>{{std::string("lock"), committed.commit_timestamp},
                              {std::string("other"), committed.commit_timestamp}}));
}

TEST_F(WireEmulatorTest, ALostSessionIsToldByItsDetails) {
  ASSERT_TRUE(spanner_->DeleteSession(session_).ok());
  const auto heard = spanner_->ExecuteSql(Encode(Query("SELECT 1")));
  const Status status = DecodeStatus(heard.status);
  EXPECT_EQ(status, Error(Code::kNotFound, "Session not found: " + session_));
  // Byte for byte what whorl's server would send.
  EXPECT_EQ(EncodeStatus(status).error_details(), heard.status.error_details());
}

// A test that dies must not leave an emulator behind, and none may outlive its object.
TEST_F(WireEmulatorTest, EndsWithItsObject) {
  const pid_t pid = emulator_->process().pid();
  ASSERT_EQ(kill(pid, 0), 0);
  spanner_.reset();
  emulator_.reset();
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace whorl::wire::wire_emulator_test
