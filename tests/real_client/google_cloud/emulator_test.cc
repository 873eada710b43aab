// The client of google-cloud-cpp against the official emulator: what goes to Spanner and comes
// back. Skipped where there is no emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/emulator_process.h"
#include "real_client/google_cloud/google_cloud_client.h"
#include "real_client/os.h"
#include "tests/support/client_waits.h"
#include "tests/support/raw_spanner.h"

namespace whorl::real_client::google_cloud_emulator_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTables[] = {
    "CREATE TABLE locktable (name STRING(MAX) NOT NULL, heartbeat TIMESTAMP OPTIONS "
    "(allow_commit_timestamp=true), owner STRING(MAX)) PRIMARY KEY (name)",
    "CREATE TABLE everything (k INT64 NOT NULL, b BOOL, i INT64, f FLOAT64, s STRING(MAX), "
    "y BYTES(MAX), t TIMESTAMP) PRIMARY KEY (k)"};

// --- statements ----------------------------------------------------------------------------------

Statement On(std::string_view sql, const std::string& name) {
  return {.sql = Sql::Intern(sql, {{.name = "name", .type = Type::kString}}), .parameters = {name}};
}
Statement Insert(const std::string& name) {
  return On("INSERT locktable (name, heartbeat) VALUES (@name, PENDING_COMMIT_TIMESTAMP())", name);
}
Statement Update(const std::string& name) {
  return On("UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = @name", name);
}
Statement Select(const std::string& name) {
  return On("SELECT heartbeat FROM locktable WHERE name = @name", name);
}
Statement SelectHolder(const std::string& name) {
  return On("SELECT owner, heartbeat, CURRENT_TIMESTAMP() FROM locktable WHERE name = @name", name);
}
Transaction ReadWrite(std::vector<Statement> statements) {
  Transaction transaction = {.mode = Mode::kReadWrite};
  for (Statement& statement : statements) {
    transaction.statements.push_back({.statement = std::move(statement)});
  }
  return transaction;
}
Transaction Query(Statement statement) {
  return {.mode = Mode::kStrongRead, .statements = {{.statement = std::move(statement)}}};
}

// A row of everything, after its key.
Row Values() {
  return {true,
          std::numeric_limits<int64_t>::min(),
          Float64(-0.5),
          std::string("\xc3\xa4 'quoted' \"twice\""),
          Bytes{.data = std::string("\0\xff\x80", 3)},
          *Timestamp::FromParts(-62'135'596'800, 999'999'999)};
}
Row WithKey(int64_t key, const Row& values) {
  Row row = {key};
  row.insert(row.end(), values.begin(), values.end());
  return row;
}
Row Nulls() { return Row(6, Null{}); }

Statement InsertEverything(int64_t key, const Row& values) {
  const std::vector<Parameter> parameters = {
      {.name = "k", .type = Type::kInt64},    {.name = "b", .type = Type::kBool},
      {.name = "i", .type = Type::kInt64},    {.name = "f", .type = Type::kFloat64},
      {.name = "s", .type = Type::kString},   {.name = "y", .type = Type::kBytes},
      {.name = "t", .type = Type::kTimestamp}};
  return {.sql = Sql::Intern("INSERT everything (k, b, i, f, s, y, t) "
                             "VALUES (@k, @b, @i, @f, @s, @y, @t)",
                             parameters),
          .parameters = WithKey(key, values)};
}
Statement SelectEverything() {
  return {.sql = Sql::Intern("SELECT b, i, f, s, y, t FROM everything ORDER BY k")};
}

class GoogleCloudEmulatorTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { emulator_ = EmulatorProcess::Start(); }
  static void TearDownTestSuite() { emulator_.reset(); }

  void SetUp() override {
    if (emulator_ == nullptr) GTEST_SKIP() << kNoEmulator;
    RawSpanner admin(emulator_->channel());
    const std::string id = "database" + std::to_string(++databases_);
    ASSERT_TRUE(admin.CreateDatabase(id, {std::begin(kTables), std::end(kTables)}).ok());
    database_ = RawSpanner::DatabaseName(id);
    client_ = MakeClient(database_);
  }

  static std::unique_ptr<GoogleCloudClient> MakeClient(const std::string& database) {
    std::unique_ptr<GoogleCloudClient> client;
    const Status made = GoogleCloudClient::Create(
        {.database = database,
         .connection = {.endpoint = emulator_->address(), .credentials = Plaintext{}},
         .retry = OurRetryPolicy()},
        client);
    EXPECT_EQ(FormatStatus(made), "OK");
    return client;
  }
  TransactionResult Run(Transaction transaction) {
    Answered<TransactionResult> answered;
    client_->Run(std::move(transaction), answered.Callback());
    return answered.Wait();
  }

  static inline std::unique_ptr<EmulatorProcess> emulator_;
  static inline int databases_ = 0;
  std::string database_;
  std::unique_ptr<GoogleCloudClient> client_;
};

// --- what comes back -----------------------------------------------------------------------------

TEST_F(GoogleCloudEmulatorTest, AnInsertCommitsAndCanBeReadAtItsCommitTimestamp) {
  // The token of a lock is this timestamp.
  const TransactionResult inserted = Run(ReadWrite({Insert("a")}));
  ASSERT_EQ(inserted.outcome, Outcome::kCommitted) << FormatStatus(inserted.status);
  ASSERT_THAT(inserted.results, SizeIs(1));
  EXPECT_EQ(inserted.results[0].row_count, 1);
  Transaction select = Query(Select("a"));
  select.return_read_timestamp = true;
  const TransactionResult read = Run(select);
  ASSERT_EQ(read.outcome, Outcome::kCommitted) << FormatStatus(read.status);
  EXPECT_THAT(read.results[0].rows, ElementsAre(Row{inserted.commit_timestamp}));
  ASSERT_TRUE(read.read_timestamp.has_value());
  EXPECT_GE(*read.read_timestamp, inserted.commit_timestamp);
  EXPECT_FALSE(read.commit_sent.has_value());
}

TEST_F(GoogleCloudEmulatorTest, ValuesOfAllTypesGoThereAndBack) {
  Row special = Nulls();
  special[2] = Float64(std::numeric_limits<double>::quiet_NaN());
  const TransactionResult result = Run(ReadWrite(
      {InsertEverything(1, Values()), InsertEverything(2, Nulls()), InsertEverything(3, special)}));
  ASSERT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
  EXPECT_THAT(Run(Query(SelectEverything())).results[0].rows,
              ElementsAre(Values(), Nulls(), special));
}

TEST_F(GoogleCloudEmulatorTest, AColumnOfAnotherTypeIsAnError) {
  const TransactionResult result =
      Run(Query({.sql = Sql::Intern("SELECT [1, 2]"), .parameters = {}}));
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kUnimplemented);
}

TEST_F(GoogleCloudEmulatorTest, ReadsInsideATransactionAreQueriesToo) {
  ASSERT_EQ(Run(ReadWrite({Insert("a")})).outcome, Outcome::kCommitted);
  const TransactionResult both = Run(ReadWrite({Select("a"), Update("a")}));
  ASSERT_EQ(both.outcome, Outcome::kCommitted) << FormatStatus(both.status);
  ASSERT_THAT(both.results, SizeIs(2));
  EXPECT_THAT(both.results[0].rows, SizeIs(1));
  EXPECT_EQ(both.results[1].row_count, 1);
}

TEST_F(GoogleCloudEmulatorTest, ALosingInsertIsAbortedWithSpannersError) {
  // That is how a process learns that it has lost.
  ASSERT_EQ(Run(ReadWrite({Insert("a")})).outcome, Outcome::kCommitted);
  const TransactionResult lost = Run(ReadWrite({Insert("a")}));
  EXPECT_EQ(lost.outcome, Outcome::kAborted);
  EXPECT_EQ(lost.status.code, Code::kAlreadyExists);
  EXPECT_EQ(Run(ReadWrite({Insert("b")})).outcome, Outcome::kCommitted) << "no lock is left";
}

TEST_F(GoogleCloudEmulatorTest, TellsAPersonThatTheDatabaseIsNotThere) {
  // With what to do about it.
  client_ = MakeClient(RawSpanner::DatabaseName("other"));
  const TransactionResult result = Run(Query(Select("a")));
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kNotFound);
  EXPECT_THAT(result.status.message, HasSubstr("gcloud spanner databases create"));
}

// --- mutations -----------------------------------------------------------------------------------

TEST_F(GoogleCloudEmulatorTest, MutationsCommitAloneAndWithStatements) {
  // Two ways for writes to reach a Commit.
  const auto mutation = [](const std::string& name) {
    return Mutation{.kind = MutationKind::kInsert,
                    .table = "locktable",
                    .columns = {"name", "heartbeat"},
                    .rows = {{name, std::string(kCommitTimestamp)}}};
  };
  Transaction alone = ReadWrite({});
  alone.mutations = {mutation("a")};
  const TransactionResult first = Run(alone);
  ASSERT_EQ(first.outcome, Outcome::kCommitted) << FormatStatus(first.status);
  EXPECT_THAT(first.results, IsEmpty());
  Transaction both = ReadWrite({Update("a")});
  both.mutations = {mutation("b")};
  const TransactionResult second = Run(both);
  ASSERT_EQ(second.outcome, Outcome::kCommitted) << FormatStatus(second.status);
  for (const char* name : {"a", "b"}) {
    EXPECT_THAT(Run(Query(Select(name))).results[0].rows,
                ElementsAre(Row{second.commit_timestamp}));
  }
}

TEST_F(GoogleCloudEmulatorTest, MutationsOfAllKindsAndTypes) {
  const std::vector<std::string> columns = {"k", "b", "i", "f", "s", "y", "t"};
  const auto write = [&](MutationKind kind, std::vector<Row> rows) {
    return Mutation{
        .kind = kind, .table = "everything", .columns = columns, .rows = std::move(rows)};
  };
  const auto run = [&](std::vector<Mutation> mutations) {
    Transaction transaction = ReadWrite({});
    transaction.mutations = std::move(mutations);
    return Run(transaction).outcome;
  };
  EXPECT_EQ(run({write(MutationKind::kInsert, {WithKey(1, Nulls()), WithKey(2, Nulls())}),
                 write(MutationKind::kInsertOrUpdate, {WithKey(3, Values())})}),
            Outcome::kCommitted);
  EXPECT_EQ(run({write(MutationKind::kUpdate, {WithKey(1, Values())}),
                 write(MutationKind::kReplace, {WithKey(4, Values())})}),
            Outcome::kCommitted);
  KeySet keys;
  keys.keys = {{int64_t{2}}};
  keys.spans = {{.start = {int64_t{3}}, .start_closed = false, .end = {int64_t{9}}}};
  EXPECT_EQ(run({{.kind = MutationKind::kDelete, .table = "everything", .keys = keys}}),
            Outcome::kCommitted);
  EXPECT_THAT(Run(Query(SelectEverything())).results[0].rows, ElementsAre(Values(), Values()));
  keys = {.all = true};
  EXPECT_EQ(run({{.kind = MutationKind::kDelete, .table = "everything", .keys = keys}}),
            Outcome::kCommitted);
  EXPECT_THAT(Run(Query(SelectEverything())).results[0].rows, IsEmpty());
  EXPECT_EQ(run({write(MutationKind::kUpdate, {WithKey(1, Values())})}), Outcome::kAborted)
      << "of a row that is not there";
}

// --- bodies --------------------------------------------------------------------------------------

TEST_F(GoogleCloudEmulatorTest, ABodysTestEndsTheTransactionWithItsResults) {
  // A lock that is held, and a row that somebody else has changed.
  Transaction take = ReadWrite({Insert("a")});
  take.statements.push_back(
      {.statement = On("UPDATE locktable SET owner = 'b' WHERE name = @name", "a")});
  ASSERT_EQ(Run(take).outcome, Outcome::kCommitted);
  Transaction unless_held = ReadWrite({SelectHolder("a"), Update("a")});
  unless_held.body = UnlessHeld{.me = "c", .lease = Seconds(3600)};
  const TransactionResult held = Run(unless_held);
  EXPECT_EQ(held.outcome, Outcome::kAborted);
  EXPECT_EQ(held.status.code, Code::kFailedPrecondition);
  ASSERT_THAT(held.results, SizeIs(1));
  EXPECT_EQ(held.results[0].rows[0][0], Value(std::string("b")));
  unless_held.body = UnlessHeld{.me = "b", .lease = Seconds(3600)};
  EXPECT_EQ(Run(unless_held).outcome, Outcome::kCommitted) << "one's own";
  Transaction if_changed = ReadWrite({Update("nobody"), Insert("c")});
  if_changed.body = IfRowChanged{};
  const TransactionResult unchanged = Run(if_changed);
  EXPECT_EQ(unchanged.outcome, Outcome::kAborted);
  EXPECT_EQ(unchanged.status.code, Code::kFailedPrecondition);
  EXPECT_THAT(Run(Query(Select("c"))).results[0].rows, IsEmpty());
}

// --- many ----------------------------------------------------------------------------------------

TEST_F(GoogleCloudEmulatorTest, TransactionsInConflictAreRunAgain) {
  // The emulator aborts all but one of those that meet. Reads are never in the way.
  std::vector<Answered<TransactionResult>> writes(8);
  std::vector<Answered<TransactionResult>> reads(200);
  for (size_t i = 0; i < writes.size(); ++i) {
    client_->Run(ReadWrite({Insert("w" + std::to_string(i))}), writes[i].Callback());
  }
  for (auto& read : reads) client_->Run(Query(Select("w0")), read.Callback());
  for (auto& write : writes) {
    const TransactionResult result = write.Wait();
    EXPECT_EQ(result.outcome, Outcome::kCommitted) << FormatStatus(result.status);
  }
  for (auto& read : reads) EXPECT_EQ(read.Wait().outcome, Outcome::kCommitted);
}

TEST_F(GoogleCloudEmulatorTest, ATransactionThatIsAbortedForeverEndsWhenItsTimeIsOver) {
  // A process that hangs in a transaction of the emulator keeps its lock for good.
  RawSpanner hangs(emulator_->channel());
  google::spanner::v1::ExecuteSqlRequest request;
  request.set_session(hangs.CreateSession(database_).reply.name());
  request.mutable_transaction()->mutable_begin()->mutable_read_write();
  request.set_sql("SELECT name FROM locktable");
  const auto begun = hangs.ExecuteSql(request);
  ASSERT_TRUE(begun.ok()) << begun.status.error_message();
  Transaction late = ReadWrite({Insert("a")});
  late.give_up_at = MonotonicNow() + Milliseconds(300);
  const TransactionResult result = Run(late);
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kDeadlineExceeded) << FormatStatus(result.status);
  google::spanner::v1::RollbackRequest rollback;
  rollback.set_session(request.session());
  rollback.set_transaction_id(begun.reply.metadata().transaction().id());
  ASSERT_TRUE(hangs.Rollback(rollback).ok());
  EXPECT_EQ(Run(ReadWrite({Insert("a")})).outcome, Outcome::kCommitted);
}

TEST_F(GoogleCloudEmulatorTest, DestructionAnswersWhatIsUnderWay) {
  // With transactions in every state.
  std::vector<Answered<TransactionResult>> runs(200);
  for (auto& run : runs) client_->Run(ReadWrite({Update("a")}), run.Callback());
  runs[0].Wait();
  client_.reset();
  for (auto& run : runs) EXPECT_TRUE(run.IsThere());
}

}  // namespace
}  // namespace whorl::real_client::google_cloud_emulator_test
