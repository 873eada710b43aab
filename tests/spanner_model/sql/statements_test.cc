// The plans of the statements that the protocols run, text for text.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/spanner_model/sql/testing.h"

namespace whorl::model::statements_test {
namespace {

const Parameter kName{"name", Type::kString};
const Parameter kId{"id", Type::kString};
const Parameter kToken{"token", Type::kTimestamp};

ColumnSet Columns(const std::vector<uint32_t>& columns) {
  ColumnSet set;
  for (const uint32_t column : columns) set.Add(column);
  return set;
}

Value ValueOf(const Expression& expression, const Row& parameters = {}, const Row& row = {},
              Timestamp now = Timestamp()) {
  return Evaluate(expression, {.parameters = parameters, .row = row, .current_timestamp = now})
      .value;
}

// The value of a statement's key expression.
Value KeyOf(const Access& access, const Row& parameters) {
  EXPECT_EQ(access.kind, AccessKind::kKey);
  return access.key.size() == 1 ? ValueOf(access.key[0], parameters) : Value();
}

Match Keeps(const Expression& filter, const Row& parameters, const Row& row,
            Timestamp now = Timestamp()) {
  Status error;
  const Match match =
      Matches(filter, {.parameters = parameters, .row = row, .current_timestamp = now}, error);
  EXPECT_EQ(match == Match::kError, !error.ok());
  return match;
}

constexpr const char* kSpindlesCheck =
    "SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), heartbeat, MILLISECOND) AS diff, token "
    "FROM locktable WHERE name = @name";

TEST(SqlStatements, SpindlesCheckReadsTheAgeOfTheHeartbeatAndTheToken) {
  // Every process runs it in every round; diff decides whether the lock counts as available.
  const auto plan = Compiled<SelectPlan>(kSpindlesCheck, {kName});
  EXPECT_EQ(plan.table, 0u);
  EXPECT_EQ(KeyOf(plan.access, {std::string("lock")}), Value(std::string("lock")));
  EXPECT_EQ(plan.reads, Columns({0, 1, 2}));
  ASSERT_EQ(plan.outputs.size(), 2u);
  EXPECT_EQ(plan.outputs[0].name, "diff");
  EXPECT_EQ(plan.outputs[0].type, Type::kInt64);
  EXPECT_EQ(plan.outputs[1].name, "token");
  EXPECT_EQ(plan.outputs[1].type, Type::kTimestamp);

  const Row parameters = {std::string("lock")};
  const Timestamp heartbeat = At("2026-01-01T00:00:00Z");
  const Row row = {std::string("lock"), heartbeat, heartbeat, std::string("a")};
  const Timestamp now = heartbeat + Microseconds(1'999);
  ASSERT_TRUE(plan.filter);
  EXPECT_EQ(Keeps(*plan.filter, parameters, row, now), Match::kYes);
  EXPECT_EQ(ValueOf(plan.outputs[0].expression, parameters, row, now), Value(int64_t{1}));
  EXPECT_EQ(ValueOf(plan.outputs[1].expression, parameters, row, now), Value(heartbeat));
}

TEST(SqlStatements, SpindlesTakeoverRowHasNullTimesThatAreReadAsNull) {
  // A takeover row holds a name only; its diff has to be NULL, not an error or a number.
  const auto plan = Compiled<SelectPlan>(kSpindlesCheck, {kName});
  const Row row = {std::string("lock_1"), Null{}, Null{}, Null{}};
  EXPECT_EQ(ValueOf(plan.outputs[0].expression, {}, row), Value(Null{}));
}

TEST(SqlStatements, SpindlesRereadReadsTokenAndWriter) {
  // HasLock2 and the takeover both read the writer.
  const auto plan =
      Compiled<SelectPlan>("SELECT token, writer FROM locktable WHERE name = @name", {kName});
  EXPECT_EQ(plan.access.kind, AccessKind::kKey);
  EXPECT_EQ(plan.reads, Columns({0, 2, 3}));
  EXPECT_EQ(plan.outputs[1].name, "writer");
}

TEST(SqlStatements, SpindlesFirstInsertAsksForTheCommitTimestampTwice) {
  // heartbeat and token of a first grant are one commit timestamp.
  const auto plan = Compiled<InsertPlan>(
      "INSERT locktable (name, heartbeat, token, writer) "
      "VALUES (@name, PENDING_COMMIT_TIMESTAMP(), PENDING_COMMIT_TIMESTAMP(), @id)",
      {kName, kId});
  EXPECT_EQ(plan.columns, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(plan.writes, Columns({0, 1, 2, 3}));
  EXPECT_TRUE(plan.reads.empty());
  ASSERT_EQ(plan.rows.size(), 1u);
  const auto& row = plan.rows[0];
  ASSERT_EQ(row.size(), 4u);
  EXPECT_FALSE(row[0].pending_commit_timestamp);
  EXPECT_TRUE(row[1].pending_commit_timestamp);
  EXPECT_TRUE(row[1].expression.nodes.empty());
  EXPECT_TRUE(row[2].pending_commit_timestamp);
  const Row parameters = {std::string("lock"), std::string("me")};
  EXPECT_EQ(ValueOf(row[0].expression, parameters), Value(std::string("lock")));
  EXPECT_EQ(ValueOf(row[3].expression, parameters), Value(std::string("me")));
}

TEST(SqlStatements, SpindlesTakeoverInsertNamesTheRowOnly) {
  // Its commit timestamp becomes the next token.
  const auto plan = Compiled<InsertPlan>("INSERT locktable (name) VALUES (@name)", {kName});
  EXPECT_EQ(plan.columns, (std::vector<uint32_t>{0}));
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].size(), 1u);
}

TEST(SqlStatements, SpindlesTakeoverUpdateStoresTheTokenItWasGiven) {
  // Only the key is a condition, which makes S2 and S4 possible.
  const auto plan = Compiled<UpdatePlan>(
      "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP(), token = @token, "
      "writer = @writer WHERE name = @name",
      {kToken, {"writer", Type::kString}, kName});
  EXPECT_EQ(plan.reads, Columns({0}));
  EXPECT_EQ(plan.writes, Columns({1, 2, 3}));
  ASSERT_EQ(plan.assignments.size(), 3u);
  EXPECT_EQ(plan.assignments[0].column, 1u);
  EXPECT_TRUE(plan.assignments[0].pending_commit_timestamp);
  const Timestamp token = At("2026-01-01T00:00:00.123456789Z");
  const Row parameters = {token, std::string("b"), std::string("lock")};
  EXPECT_EQ(KeyOf(plan.access, parameters), Value(std::string("lock")));
  EXPECT_EQ(ValueOf(plan.assignments[1].expression, parameters), Value(token));
}

TEST(SqlStatements, SpindlesHeartbeatIsAnUpdateByKeyAlone) {
  // Without the token in its WHERE, a deposed leader's heartbeat still lands.
  const auto plan = Compiled<UpdatePlan>(
      "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE name = @name", {kName});
  EXPECT_EQ(plan.access.kind, AccessKind::kKey);
  EXPECT_EQ(plan.writes, Columns({1}));
  EXPECT_EQ(plan.reads, Columns({0}));
}

TEST(SqlStatements, SpindlesCleanUpDeletesByPrefix) {
  // The prefix, underscore included, is literal; it can also match rows of another lock (S7).
  const auto plan = Compiled<DeletePlan>("DELETE FROM locktable WHERE STARTS_WITH(name, @prefix)",
                                         {{"prefix", Type::kString}});
  ASSERT_EQ(plan.access.kind, AccessKind::kPrefix);
  EXPECT_EQ(plan.reads, Columns({0}));
  const Row parameters = {std::string("job_")};
  EXPECT_EQ(ValueOf(plan.access.prefix, parameters), Value(std::string("job_")));
  const auto row = [](const char* name) { return Row{std::string(name), Null{}, Null{}, Null{}}; };
  EXPECT_EQ(Keeps(plan.filter, parameters, row("job_daily")), Match::kYes);
  EXPECT_EQ(Keeps(plan.filter, parameters, row("job")), Match::kNo);
  EXPECT_EQ(Keeps(plan.filter, parameters, row("jobs1")), Match::kNo);
}

TEST(SqlStatements, TheSemaphoresUpdateTakesOnlyItsOwnOrAnExpiredRow) {
  // This WHERE is the whole protocol; a NULL service_id is never taken, hence `init`.
  const std::string text =
      "UPDATE LeaderElection SET service_id = @me, last_seen_active = CURRENT_TIMESTAMP() "
      "WHERE anchor = 1 AND ((service_id != @me AND last_seen_active < "
      "TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)) OR service_id = @me)";
  const auto plan = Compiled<UpdatePlan>(text, {{"me", Type::kString}, {"timeout", Type::kInt64}});
  EXPECT_EQ(KeyOf(plan.access, {}), Value(int64_t{1}));
  EXPECT_EQ(plan.reads, Columns({0, 1, 2}));
  EXPECT_EQ(plan.writes, Columns({1, 2}));
  const Timestamp now = At("2026-01-01T00:00:10Z");
  const Row parameters = {std::string("me"), int64_t{5}};
  const auto keeps = [&](const Value& owner, const Value& seen) {
    return Keeps(plan.filter, parameters, {int64_t{1}, owner, seen}, now);
  };
  EXPECT_EQ(keeps(std::string("me"), now), Match::kYes);
  EXPECT_EQ(keeps(std::string("me"), Null{}), Match::kYes);
  EXPECT_EQ(keeps(std::string("other"), now - Seconds(5)), Match::kNo);
  EXPECT_EQ(keeps(std::string("other"), now - Seconds(5) - Nanoseconds(1)), Match::kYes);
  EXPECT_EQ(keeps(Null{}, now - Seconds(60)), Match::kNo);
}

TEST(SqlStatements, TheSemaphoresQueryFindsALiveLeader) {
  // The row that it returns names the leader.
  const auto plan = Compiled<SelectPlan>(
      "SELECT service_id, last_seen_active FROM LeaderElection WHERE anchor = 1 AND "
      "last_seen_active >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL @timeout SECOND)",
      {{"timeout", Type::kInt64}});
  EXPECT_EQ(KeyOf(plan.access, {}), Value(int64_t{1}));
  const Timestamp now = At("2026-01-01T00:00:10Z");
  ASSERT_TRUE(plan.filter);
  const Row parameters = {int64_t{5}};
  EXPECT_EQ(Keeps(*plan.filter, parameters, {int64_t{1}, std::string("a"), now - Seconds(5)}, now),
            Match::kYes);
  EXPECT_EQ(Keeps(*plan.filter, parameters, {int64_t{1}, std::string("a"), now - Seconds(6)}, now),
            Match::kNo);
}

TEST(SqlStatements, FencedLeasesReadAndCreateCompile) {
  const auto read = Compiled<SelectPlan>(
      "SELECT heartbeat, token, writer, lease_ms, attempt, CURRENT_TIMESTAMP() AS now "
      "FROM fenced WHERE name=@name",
      {kName});
  EXPECT_EQ(read.access.kind, AccessKind::kKey);
  ASSERT_EQ(read.outputs.size(), 6u);
  EXPECT_EQ(read.outputs[3].type, Type::kInt64);
  EXPECT_EQ(read.outputs[5].type, Type::kTimestamp);
  const auto create = Compiled<InsertPlan>(
      "INSERT INTO fenced (name, heartbeat, token, writer, lease_ms, attempt) VALUES (@name, "
      "PENDING_COMMIT_TIMESTAMP(), PENDING_COMMIT_TIMESTAMP(), @id, @lease_ms, @attempt)",
      {kName, kId, {"lease_ms", Type::kInt64}, {"attempt", Type::kString}});
  EXPECT_EQ(create.columns.size(), 6u);
}

TEST(SqlStatements, FencedLeasesConditionalUpdatesFilterOnTheVersionSeen) {
  // The compare-and-set is in the filter, behind a lookup by key.
  const auto take = Compiled<UpdatePlan>(
      "UPDATE fenced SET heartbeat=PENDING_COMMIT_TIMESTAMP(), token=PENDING_COMMIT_TIMESTAMP(), "
      "writer=@id, lease_ms=@lease_ms, attempt=@attempt WHERE name=@name AND heartbeat=@seen",
      {kId,
       {"lease_ms", Type::kInt64},
       {"attempt", Type::kString},
       kName,
       {"seen", Type::kTimestamp}});
  EXPECT_EQ(take.access.kind, AccessKind::kKey);
  EXPECT_EQ(take.reads, Columns({0, 1}));
  const Timestamp seen = At("2026-01-01T00:00:00Z");
  const Row parameters = {std::string("b"), int64_t{5000}, std::string("x"), std::string("lock"),
                          seen};
  const auto row = [](Value heartbeat) {
    return Row{std::string("lock"), std::move(heartbeat), Null{}, Null{}, Null{}, Null{}};
  };
  EXPECT_EQ(Keeps(take.filter, parameters, row(seen)), Match::kYes);
  EXPECT_EQ(Keeps(take.filter, parameters, row(seen + Nanoseconds(1))), Match::kNo);
  EXPECT_EQ(Keeps(take.filter, parameters, row(Null{})), Match::kNo);

  const std::vector<Parameter> mine = {kName, kToken, {"attempt", Type::kString}};
  const auto beat = Compiled<UpdatePlan>(
      "UPDATE fenced SET heartbeat=PENDING_COMMIT_TIMESTAMP() "
      "WHERE name=@name AND token=@token AND attempt=@attempt",
      mine);
  EXPECT_EQ(beat.reads, Columns({0, 2, 5}));
  const auto release = Compiled<UpdatePlan>(
      "UPDATE fenced SET heartbeat=PENDING_COMMIT_TIMESTAMP(), writer=NULL, attempt=NULL "
      "WHERE name=@name AND token=@token AND attempt=@attempt",
      mine);
  EXPECT_EQ(release.writes, Columns({1, 3, 5}));
  EXPECT_EQ(ValueOf(release.assignments[1].expression), Value(Null{}));
}

TEST(SqlStatements, AKeyIsFoundOnEitherSideAndBelowNestedAnds) {
  // Access decides the locks of a statement, so its shape must not depend on the notation.
  for (const char* text :
       {"DELETE types WHERE k1 = 1 AND k2 = 'a'", "DELETE types WHERE 'a' = k2 AND (1 + 0) = k1",
        "DELETE types WHERE (i > 3 AND k2 = 'a') AND (k1 = 1 AND (b AND f < 2))"}) {
    const auto plan = Compiled<DeletePlan>(text);
    ASSERT_EQ(plan.access.kind, AccessKind::kKey) << text;
    ASSERT_EQ(plan.access.key.size(), 2u);
    EXPECT_EQ(ValueOf(plan.access.key[0]), Value(int64_t{1}));
    EXPECT_EQ(ValueOf(plan.access.key[1]), Value(std::string("a")));
  }
}

TEST(SqlStatements, WhatDoesNotPinTheKeySearchesTheWholeTable) {
  // A wrong kKey would lose rows: an OR, a part of the key, another column, a coerced key.
  for (const char* text :
       {"DELETE types WHERE k1 = 1", "DELETE types WHERE k1 = 1 OR k2 = 'a'",
        "DELETE types WHERE k1 = i AND k2 = s", "DELETE types WHERE NOT (k1 = 1 AND k2 = 'a')",
        "DELETE types WHERE k1 = 1.5 AND k2 = 'a'", "DELETE types WHERE k1 >= 1 AND k2 = 'a'",
        "DELETE locktable WHERE STARTS_WITH(@p, name)",
        "DELETE locktable WHERE STARTS_WITH(name, writer)", "DELETE locktable WHERE TRUE",
        "DELETE types WHERE STARTS_WITH(k2, 'a')"}) {
    EXPECT_EQ(Compiled<DeletePlan>(text, {{"p", Type::kString}}).access.kind, AccessKind::kAll)
        << text;
  }
}

TEST(SqlStatements, AKeyBeatsAPrefix) {
  // One row is narrower than a range.
  const auto plan =
      Compiled<DeletePlan>("DELETE locktable WHERE STARTS_WITH(name, 'a') AND name = 'ab'");
  EXPECT_EQ(plan.access.kind, AccessKind::kKey);
}

TEST(SqlStatements, AKeyIsTheWholeFilterIfNothingElseIsAsked) {
  // Such a row is not tested again: a condition beside the key would be lost.
  for (const char* text :
       {"DELETE types WHERE k1 = 1 AND k2 = 'a'", "DELETE locktable WHERE @p = name"}) {
    EXPECT_TRUE(Compiled<DeletePlan>(text, {{"p", Type::kString}}).access.is_filter) << text;
  }
  for (const char* text :
       {"DELETE types WHERE k1 = 1 AND k2 = 'a' AND i = 2",
        "DELETE locktable WHERE name = @p AND name = 'b'",
        "DELETE locktable WHERE name = @p AND writer IS NULL", "DELETE types WHERE k1 = 1"}) {
    EXPECT_FALSE(Compiled<DeletePlan>(text, {{"p", Type::kString}}).access.is_filter) << text;
  }
  // A NaN is found by its key, but it does not equal itself.
  const Schema numbers{{ParsedTable("CREATE TABLE numbers (f FLOAT64) PRIMARY KEY (f)")}};
  const auto plan =
      std::get<Plan>(Compile(numbers, "DELETE numbers WHERE f = @p", {{{"p", Type::kFloat64}}}));
  EXPECT_EQ(std::get<DeletePlan>(plan).access.kind, AccessKind::kKey);
  EXPECT_FALSE(std::get<DeletePlan>(plan).access.is_filter);
}

TEST(SqlStatements, OutputsAreNamedAsSpannerNamesThem) {
  // Clients look columns up by name: the alias, the name as written, or empty; * as declared.
  const auto plan =
      Compiled<SelectPlan>("SELECT Name, writer w, 1, `token` AS `select`, *, NULL FROM LOCKTABLE");
  std::vector<std::string> names;
  names.reserve(plan.outputs.size());
  for (const Output& output : plan.outputs) names.push_back(output.name);
  EXPECT_EQ(names, (std::vector<std::string>{"Name", "w", "", "select", "name", "heartbeat",
                                             "token", "writer", ""}));
  EXPECT_EQ(plan.outputs.back().type, Type::kInt64);
  EXPECT_EQ(plan.access.kind, AccessKind::kAll);
  EXPECT_FALSE(plan.filter);
}

TEST(SqlStatements, SeveralRowsOfValuesAreKeptInOrder) {
  // A duplicate within one statement is an error of the second row.
  const auto plan = Compiled<InsertPlan>(
      "INSERT INTO types (k2, k1, f, t) VALUES ('a', 1, 2, "
      "'2026-01-01T00:00:00Z'), ('b', 2, NULL, NULL);");
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.columns, (std::vector<uint32_t>{1, 0, 4, 7}));
  EXPECT_EQ(ValueOf(plan.rows[0][2].expression), Value(Float64(2)));
  EXPECT_EQ(ValueOf(plan.rows[0][3].expression), Value(At("2026-01-01T00:00:00Z")));
  EXPECT_EQ(ValueOf(plan.rows[1][0].expression), Value(std::string("b")));
}

TEST(SqlStatements, CommentsCaseAndBackquotesDoNotChangeThePlan) {
  // Two clients may write the same statement differently.
  const auto plain =
      Compiled<UpdatePlan>("UPDATE locktable SET writer = @id WHERE name = @name", {kName, kId});
  const auto dressed = Compiled<UpdatePlan>(
      "# first\nupdate `LockTable` -- second\nset /* third\n */ WRITER=@ID where `name`=@Name;",
      {kName, kId});
  EXPECT_EQ(plain, dressed);
}

TEST(SqlStatements, AnInternedTextCompilesAsItsTextDoes) {
  // The database compiles by handle; tests and tools by text.
  const Sql sql = Sql::Intern("SELECT token FROM locktable WHERE name = @name", {kName});
  const auto by_handle = Compile(TestSchema(), sql);
  const auto by_text = TryCompile(sql.text(), sql.parameters());
  ASSERT_TRUE(std::holds_alternative<Plan>(by_handle));
  EXPECT_EQ(std::get<Plan>(by_handle), std::get<Plan>(by_text));
}

}  // namespace
}  // namespace whorl::model::statements_test
