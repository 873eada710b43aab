// The google-cloud-cpp client against the official emulator: what all clients do
// (emulator_client_testing.h), values, mutations and bodies. Skipped if there is no emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "real_client/google_cloud/google_cloud_client.h"
#include "real_client/os.h"
#include "tests/real_client/emulator_client_testing.h"

namespace whorl::real_client::google_cloud_emulator_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Statement SelectHolder(const std::string& name) {
  return Named("SELECT owner, heartbeat, CURRENT_TIMESTAMP() FROM locktable WHERE name = @name",
               name);
}

// A value of each type, without the key.
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

std::unique_ptr<TransactionClient> GoogleCloud(ClientOptions options) {
  options.retry = OurRetryPolicy();
  std::unique_ptr<GoogleCloudClient> client;
  EXPECT_EQ(FormatStatus(GoogleCloudClient::Create(std::move(options), client)), "OK");
  return client;
}

const auto kClient = testing::Values(EmulatorClientCase{"GoogleCloud", GoogleCloud});

class GoogleCloudEmulatorTest : public EmulatorClientTest {};

INSTANTIATE_TEST_SUITE_P(Clients, EmulatorClientTest, kClient, NameOfEmulatorCase);
INSTANTIATE_TEST_SUITE_P(Clients, GoogleCloudEmulatorTest, kClient, NameOfEmulatorCase);

TEST_P(GoogleCloudEmulatorTest, ValuesOfAllTypesGoThereAndBack) {
  Row special = Nulls();
  special[2] = Float64(std::numeric_limits<double>::quiet_NaN());
  const TransactionResult result = Run(ReadWrite(
      {InsertEverything(1, Values()), InsertEverything(2, Nulls()), InsertEverything(3, special)}));
  ExpectCommitted(result);
  EXPECT_THAT(RowsOf(Query(SelectEverything())), ElementsAre(Values(), Nulls(), special));
}

TEST_P(GoogleCloudEmulatorTest, AColumnOfAnotherTypeIsAnError) {
  const TransactionResult result = Run(Query("SELECT [1, 2]"));
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kUnimplemented);
}

TEST_P(GoogleCloudEmulatorTest, MutationsOfAllKindsAndTypes) {
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
  EXPECT_THAT(RowsOf(Query(SelectEverything())), ElementsAre(Values(), Values()));
  keys = {.all = true};
  EXPECT_EQ(run({{.kind = MutationKind::kDelete, .table = "everything", .keys = keys}}),
            Outcome::kCommitted);
  EXPECT_THAT(RowsOf(Query(SelectEverything())), IsEmpty());
  EXPECT_EQ(run({write(MutationKind::kUpdate, {WithKey(1, Values())})}), Outcome::kAborted)
      << "of a row that is not there";
}

// --- bodies --------------------------------------------------------------------------------------

TEST_P(GoogleCloudEmulatorTest, ABodysTestEndsTheTransactionWithItsResults) {
  // A held lock, and a row that another process has changed.
  Transaction take = ReadWrite({Insert("a")});
  take.statements.push_back(
      {.statement = Named("UPDATE locktable SET owner = 'b' WHERE name = @name", "a")});
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
  EXPECT_THAT(RowsOf(Query(Select("c"))), IsEmpty());
}

TEST_P(GoogleCloudEmulatorTest, ATransactionThatIsAbortedForeverEndsWhenItsTimeIsOver) {
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

}  // namespace
}  // namespace whorl::real_client::google_cloud_emulator_test
