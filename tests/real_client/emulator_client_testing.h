// What every client has to do with the official emulator, beyond the scripts of tests/support: what
// was committed can be read, transactions in conflict are run again, and none is left unanswered.
// Included by one file of each executable, which says how clients are made. Skipped if there is no
// emulator.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "live/emulator_process.h"
#include "real_client/options.h"
#include "real_client/transaction_client.h"
#include "tests/support/client_waits.h"
#include "tests/support/raw_spanner.h"
#include "tests/support/transactions.h"

namespace whorl::real_client {

using test_transactions::ExpectCommitted;
using test_transactions::Named;
using test_transactions::Query;
using test_transactions::ReadWrite;

inline constexpr const char* kEmulatorTables[] = {
    "CREATE TABLE locktable (name STRING(MAX) NOT NULL, heartbeat TIMESTAMP OPTIONS "
    "(allow_commit_timestamp=true), owner STRING(MAX)) PRIMARY KEY (name)",
    "CREATE TABLE everything (k INT64 NOT NULL, b BOOL, i INT64, f FLOAT64, s STRING(MAX), "
    "y BYTES(MAX), t TIMESTAMP) PRIMARY KEY (k)"};

inline Statement Insert(const std::string& name) {
  return Named("INSERT locktable (name, heartbeat) VALUES (@name, PENDING_COMMIT_TIMESTAMP())",
               name);
}
inline Statement Update(const std::string& name) {
  return Named("UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = @name",
               name);
}
inline Statement Select(const std::string& name) {
  return Named("SELECT heartbeat FROM locktable WHERE name = @name", name);
}

struct EmulatorClientCase {
  std::string name;
  std::function<std::unique_ptr<TransactionClient>(ClientOptions)> make;
};

class EmulatorClientTest : public testing::TestWithParam<EmulatorClientCase> {
 protected:
  static void SetUpTestSuite() { emulator_ = EmulatorProcess::Start(); }
  static void TearDownTestSuite() { emulator_.reset(); }

  void SetUp() override {
    if (emulator_ == nullptr) GTEST_SKIP() << kNoEmulator;
    const std::string id = "database" + std::to_string(++databases_);
    ASSERT_TRUE(RawSpanner(emulator_->channel())
                    .CreateDatabase(id, {std::begin(kEmulatorTables), std::end(kEmulatorTables)})
                    .ok());
    database_ = RawSpanner::DatabaseName(id);
    client_ = MakeClient(database_);
  }

  static std::unique_ptr<TransactionClient> MakeClient(const std::string& database) {
    return GetParam().make(
        {.database = database,
         .connection = {.endpoint = emulator_->address(), .credentials = Plaintext{}}});
  }
  TransactionResult Run(Transaction transaction) {
    return test_transactions::RunIn(*client_, std::move(transaction));
  }
  std::vector<Row> RowsOf(Transaction query) {
    const TransactionResult read = Run(std::move(query));
    ExpectCommitted(read);
    return read.results.empty() ? std::vector<Row>{} : read.results[0].rows;
  }

  static inline std::unique_ptr<EmulatorProcess> emulator_;
  static inline int databases_ = 0;
  std::string database_;
  std::unique_ptr<TransactionClient> client_;
};

TEST_P(EmulatorClientTest, AnInsertCanBeReadAtItsCommitTimestamp) {
  // The token of a lock is this timestamp.
  const TransactionResult inserted = Run(ReadWrite({Insert("a")}));
  ExpectCommitted(inserted);
  Transaction select = Query(Select("a"));
  select.return_read_timestamp = true;
  const TransactionResult read = Run(select);
  ExpectCommitted(read);
  EXPECT_THAT(read.results[0].rows, testing::ElementsAre(Row{inserted.commit_timestamp}));
  ASSERT_TRUE(read.read_timestamp.has_value());
  EXPECT_GE(*read.read_timestamp, inserted.commit_timestamp);
  EXPECT_FALSE(read.commit_sent.has_value());
}

TEST_P(EmulatorClientTest, MutationsCommitAloneAndWithStatements) {
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
  ExpectCommitted(first);
  EXPECT_THAT(first.results, testing::IsEmpty());
  Transaction both = ReadWrite({Update("a")});
  both.mutations = {mutation("b")};
  const TransactionResult second = Run(both);
  ExpectCommitted(second);
  for (const char* name : {"a", "b"}) {
    EXPECT_THAT(RowsOf(Query(Select(name))), testing::ElementsAre(Row{second.commit_timestamp}));
  }
}

TEST_P(EmulatorClientTest, TransactionsInConflictAreRunAgain) {
  // The emulator aborts all but one of several concurrent transactions. Reads never block them.
  std::vector<Answered<TransactionResult>> writes(8);
  std::vector<Answered<TransactionResult>> reads(2'000);
  for (size_t i = 0; i < writes.size(); ++i) {
    client_->Run(ReadWrite({Insert("w" + std::to_string(i))}), writes[i].Callback());
  }
  for (auto& read : reads) client_->Run(Query(Select("w0")), read.Callback());
  for (auto& write : writes) ExpectCommitted(write.Wait());
  for (auto& read : reads) ExpectCommitted(read.Wait());
}

TEST_P(EmulatorClientTest, DestructionAnswersWhatIsUnderWay) {
  // With transactions in every state.
  std::vector<Answered<TransactionResult>> runs(200);
  for (auto& run : runs) client_->Run(ReadWrite({Update("a")}), run.Callback());
  runs[0].Wait();
  client_.reset();
  for (auto& run : runs) EXPECT_TRUE(run.IsThere());
}

TEST_P(EmulatorClientTest, TellsAPersonThatTheDatabaseIsNotThere) {
  // The message has to say what to do.
  client_ = MakeClient(RawSpanner::DatabaseName("other"));
  const TransactionResult result = Run(Query(Select("a")));
  EXPECT_EQ(result.outcome, Outcome::kAborted);
  EXPECT_EQ(result.status.code, Code::kNotFound);
  EXPECT_THAT(result.status.message, testing::HasSubstr("whorl lock init --create-database"));
}

inline std::string NameOfEmulatorCase(const testing::TestParamInfo<EmulatorClientCase>& test) {
  return test.param.name;
}

}  // namespace whorl::real_client
