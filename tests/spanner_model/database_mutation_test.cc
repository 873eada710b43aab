// Mutations, and reads by key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/spanner_model/database_calls_testing.h"

namespace whorl::model::database_mutation_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using DatabaseMutation = DatabaseCallsTest;
using DatabaseRead = DatabaseCallsTest;
using DatabaseBatch = DatabaseCallsTest;

Mutation InsertOf(std::string_view name) { return WriteLock(MutationKind::kInsert, name, "a"); }

Read ReadLocks(KeySet keys, std::vector<std::string> columns = {"name"}) {
  return {.transaction = SingleUseRead{},
          .table = "locktable",
          .columns = std::move(columns),
          .keys = std::move(keys)};
}

std::vector<std::string> NamesOf(const Response& response) {
  EXPECT_EQ(response.status, Status{});
  std::vector<std::string> names;
  for (const Row& row : response.result.rows) names.push_back(std::get<std::string>(row.at(0)));
  return names;
}

TEST_F(DatabaseMutation, InsertWritesTheCommitTimestamp) {
  const Timestamp commit = calls.Writes({InsertOf("job")}).commit_timestamp;
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"}), Row({"job", commit, commit, "a"}));
}

TEST_F(DatabaseMutation, WhatTheRowsRefuseIsSaidByCommitAndAgain) {
  calls.Writes({InsertOf("job")});
  const TransactionId id = calls.Begin("");
  const Commit commit{.transaction = id, .mutations = {InsertOf("job")}};
  const Status refused = calls.Ask(commit).status;
  EXPECT_EQ(refused.code, Code::kAlreadyExists);
  EXPECT_EQ(calls.Ask(commit).status, refused);
  EXPECT_EQ(calls.WhyRefused({WriteLock(MutationKind::kUpdate, "gone", "b")}).code,
            Code::kNotFound);
}

TEST_F(DatabaseMutation, AKeyHasAtMost8192Bytes) {
  calls.Writes({InsertOf(std::string(8'192, 'x'))});
  for (const std::string& name : {std::string(8'193, 'x'), "\u20ac" + std::string(8'190, 'x')}) {
    const Status refused = calls.WhyRefused({InsertOf(name)});
    EXPECT_EQ(refused.code, Code::kInvalidArgument);
    EXPECT_EQ(
        refused.message,
        "Number of bytes for key of table locktable is 8193 which exceeds the maximum of 8192.");
  }
}

// Among many writes, a row's own is found as among few.
TEST_F(DatabaseMutation, ManyOfOneCommitSeeEachOther) {
  constexpr int kRows = 100;
  const auto name = [](int i) { return "job" + std::to_string(i * 37 % kRows); };
  std::vector<Mutation> mutations;
  for (int i = 0; i < kRows; ++i) mutations.push_back(InsertOf(name(i)));
  for (int i = 0; i < kRows; i += 2) {
    mutations.push_back(WriteLock(MutationKind::kUpdate, name(i), "b"));
  }
  for (int i = 0; i < kRows; i += 5) {
    mutations.push_back(
        {.kind = MutationKind::kDelete, .table = "locktable", .keys = {.keys = {{name(i)}}}});
  }
  const Timestamp commit = calls.Writes(mutations).commit_timestamp;
  for (int i = 0; i < kRows; ++i) {
    SCOPED_TRACE(i);
    const std::optional<Row> row = spanner.NewestRow(kLocks, {name(i)});
    ASSERT_EQ(row.has_value(), i % 5 != 0);
    if (!row) continue;
    EXPECT_EQ(*row, Row({name(i), commit, commit, i % 2 == 0 ? "b" : "a"}));
  }
  mutations.push_back(WriteLock(MutationKind::kUpdate, name(5), "c"));
  EXPECT_EQ(calls.WhyRefused({mutations.back()}).code, Code::kNotFound);
}

TEST_F(DatabaseMutation, UpdateAndInsertOrUpdateLeaveOtherColumnsAlone) {
  const Timestamp first = calls.Writes({InsertOf("job")}).commit_timestamp;
  const auto set_writer = [](MutationKind kind, Value writer) {
    return Mutation{.kind = kind,
                    .table = "locktable",
                    .columns = {"writer", "name"},
                    .rows = {{std::move(writer), "job"}}};
  };
  calls.Writes({set_writer(MutationKind::kUpdate, "b")});
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"}), Row({"job", first, first, "b"}));
  calls.Writes({set_writer(MutationKind::kInsertOrUpdate, Null{})});
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"}), Row({"job", first, first, Null{}}));
  calls.Writes({set_writer(MutationKind::kReplace, "c")});
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"}), Row({"job", Null{}, Null{}, "c"}));
}

TEST_F(DatabaseMutation, MutationsOfOneCommitSeeEachOther) {
  EXPECT_EQ(calls.Writes({InsertOf("job"), DeleteLocks({{"job"}}), InsertOf("job")}).status,
            Status{});
  EXPECT_EQ(calls.WhyRefused({InsertOf("new"), InsertOf("new")}).code, Code::kAlreadyExists);
}

TEST_F(DatabaseMutation, DeletesByKeyBySpanAndAll) {
  for (const char* name : {"a", "b", "c", "d", "e"}) calls.Writes({InsertOf(name)});
  calls.Writes({DeleteLocks({{"a"}, {"never there"}})});
  EXPECT_THAT(NamesOf(calls.Ask(ReadLocks({.all = true}))), ElementsAre("b", "c", "d", "e"));
  Mutation span{.kind = MutationKind::kDelete, .table = "locktable"};
  span.keys.spans = {{.start = {"b"}, .start_closed = false, .end = {"d"}, .end_closed = true}};
  calls.Writes({span});
  EXPECT_THAT(NamesOf(calls.Ask(ReadLocks({.all = true}))), ElementsAre("b", "e"));
  Mutation all{.kind = MutationKind::kDelete, .table = "locktable", .keys = {.all = true}};
  calls.Writes({all});
  EXPECT_THAT(NamesOf(calls.Ask(ReadLocks({.all = true}))), IsEmpty());
}

TEST_F(DatabaseMutation, WhatIsWrongWithOneIsSaid) {
  const auto code = [&](Mutation mutation) { return calls.WhyRefused({std::move(mutation)}).code; };
  Mutation mutation = InsertOf("job");
  mutation.table = "nosuch";
  EXPECT_EQ(code(mutation), Code::kNotFound);
  mutation = InsertOf("job");
  mutation.columns[3] = "nosuch";
  EXPECT_EQ(code(mutation), Code::kNotFound);
  mutation = InsertOf("job");
  mutation.rows[0][0] = Null{};
  EXPECT_EQ(code(mutation), Code::kFailedPrecondition);
  mutation = InsertOf("job");
  mutation.rows[0][3] = int64_t{1};
  EXPECT_EQ(code(mutation), Code::kFailedPrecondition);
  mutation = InsertOf("job");
  mutation.rows[0][1] = spanner.now + Milliseconds(200);
  EXPECT_EQ(code(mutation), Code::kFailedPrecondition);
  EXPECT_THAT(NamesOf(calls.Ask(ReadLocks({.all = true}))), IsEmpty());
}

// Two blind inserts: the second waits until the first is visible before it checks the row.
TEST_F(DatabaseMutation, AnInsertThatMeetsACommittingOneWaitsAndIsRefused) {
  const Commit insert{.transaction = SingleUseWrite{}, .mutations = {InsertOf("job")}};
  const CallName first = calls.Send(insert);
  const CallName second = calls.Send(insert);
  EXPECT_TRUE(spanner.Waits(second));
  calls.CompleteCommits();
  EXPECT_EQ(spanner.AnswerTo(first).status, Status{});
  EXPECT_EQ(spanner.AnswerTo(second).status.code, Code::kAlreadyExists);
}

TEST_F(DatabaseMutation, StatementsComeFirst) {
  const TransactionId id = calls.Begin("");
  calls.Run("", id, InsertLock("job", "a"));
  calls.Commits(Commit{.transaction = id,
                       .mutations = {WriteLock(MutationKind::kUpdate, "job", "from a mutation")}});
  EXPECT_EQ(spanner.NewestRow(kLocks, {"job"})->at(3), Value("from a mutation"));
}

TEST_F(DatabaseRead, GivesRowsInTheOrderOfKeysEachOnce) {
  for (const char* name : {"a", "b", "c", "d"}) calls.Writes({InsertOf(name)});
  KeySet keys{.keys = {{"c"}, {"a"}, {"c"}, {"nosuch"}}};
  keys.spans = {{.start = {"b"}, .end = {"d"}}};
  EXPECT_THAT(NamesOf(calls.Ask(ReadLocks(keys))), ElementsAre("a", "b", "c"));
  Read limited = ReadLocks({.all = true});
  limited.limit = 2;
  EXPECT_THAT(NamesOf(calls.Ask(limited)), ElementsAre("a", "b"));
}

TEST_F(DatabaseRead, SeesItsTransactionsWritesAndLocksWhatItReads) {
  LoadLock(spanner, "job");
  const TransactionId id = calls.Begin("");
  calls.Run("", id, SetWriter("job", "mine"));
  Read read = ReadLocks({.keys = {{"job"}}}, {"name", "writer"});
  read.transaction = id;
  EXPECT_EQ(calls.Ask(read).result.rows, Rows({{"job", "mine"}}));
  Attempt younger = spanner.RunsLater(SetWriter("job", "b"));
  younger.WaitsToCommit();
}

TEST_F(DatabaseRead, APendingColumnCannotBeRead) {
  LoadLock(spanner, "job");
  const TransactionId id = calls.Begin("");
  calls.Run("", id, Heartbeat("job"));
  Read read = ReadLocks({.keys = {{"job"}}}, {"heartbeat"});
  read.transaction = id;
  EXPECT_EQ(calls.Ask(read).status.code, Code::kInvalidArgument);
}

TEST_F(DatabaseRead, UnknownNamesAreNotFound) {
  Read read = ReadLocks({.all = true});
  read.table = "nosuch";
  EXPECT_EQ(calls.Ask(read).status.code, Code::kNotFound);
  EXPECT_EQ(calls.Ask(ReadLocks({.all = true}, {"nosuch"})).status.code, Code::kNotFound);
  EXPECT_EQ(calls.Ask(ReadLocks({.keys = {{"a", "b"}}})).status.code, Code::kFailedPrecondition);
}

TEST_F(DatabaseBatch, RunsUpToTheFirstThatFails) {
  const Response response =
      calls.Ask(ExecuteBatchDml{.transaction = BeginReadWrite{},
                                .statements = {InsertLock("a", "x"), InsertLock("b", "x"),
                                               InsertLock("a", "x"), InsertLock("c", "x")},
                                .sequence_number = 1});
  EXPECT_EQ(response.status, Status{});
  EXPECT_EQ(response.batch.size(), 2U);
  EXPECT_EQ(response.result.status.code, Code::kAlreadyExists);
  EXPECT_FALSE(response.transaction.empty());
}

TEST_F(DatabaseBatch, ABatchThatWaitsRunsOnceWhenItGoesOn) {
  LoadLock(spanner, "job");
  Attempt writer = spanner.SendsCommitOf(DeleteLock("job"));
  const TransactionId id = calls.Begin("");
  const CallName batch =
      calls.Send(ExecuteBatchDml{.transaction = id,
                                 .statements = {InsertTakeover("new"), DeleteLock("job")},
                                 .sequence_number = 1});
  // A commit under way decides whether the row exists.
  EXPECT_TRUE(spanner.Waits(batch));
  spanner.CompleteCommit(writer.id);
  const Response response = spanner.AnswerTo(batch);
  ASSERT_EQ(response.batch.size(), 2U);
  EXPECT_EQ(response.batch[0].row_count, 1);
  EXPECT_EQ(response.batch[1].row_count, 0);
  calls.Commits("", id);
  EXPECT_TRUE(spanner.NewestRow(kLocks, {"new"}));
}

TEST_F(DatabaseMutation, NewReaderWaitsForAnOlderCommitOfMutationsThatWaits) {
  // As for a Commit of statements: new readers could keep it waiting for ever.
  LoadLock(spanner, "job");
  Attempt holder = spanner.Runs(ReadWriter("job"));
  spanner.Advance(Milliseconds(1));
  const CallName commit =
      calls.Send(Commit{.transaction = SingleUseWrite{},
                        .mutations = {WriteLock(MutationKind::kReplace, "job", "b")}});
  EXPECT_TRUE(spanner.Waits(commit));
  spanner.Advance(Milliseconds(1));
  Attempt reader = spanner.NewClient().Begin();
  const CallName read = reader.WaitsToRun(ReadWriter("job"));
  holder.Rollback();
  calls.CompleteCommits();
  EXPECT_EQ(spanner.AnswerTo(commit).status, Status{});
  EXPECT_EQ(spanner.AnswerTo(read).result.rows, std::vector<Row>{{"b"}});
}

}  // namespace
}  // namespace whorl::model::database_mutation_test
