// Queries: rows, their order and the names of columns. The answers are those of Google's emulator
// to the same statements.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/spanner_model/sql/running.h"

namespace whorl::model::query_test {
namespace {

constexpr const char* kRows =
    "INSERT INTO types (k1, k2, b, i, f, s) VALUES (1, 'a', TRUE, 10, 1.5, 'x'), "
    "(2, 'b', FALSE, 20, -2, 'yy'), (3, 'c', NULL, NULL, NULL, NULL), "
    "(4, 'd', NULL, NULL, CAST('nan' AS FLOAT64), NULL), "
    "(5, 'e', NULL, NULL, CAST('-inf' AS FLOAT64), NULL)";

class SqlQuery : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(runner_.Run(kRows), " # 5"); }
  SqlRunner runner_;
};

using Cases = std::vector<std::pair<std::string, std::string>>;

TEST_F(SqlQuery, OrderByTakesExpressionsAliasesAndOrdinals) {
  // NULL is least, then NaN; an alias hides a column; equal rows stay in the order of the key.
  const Cases cases = {
      {"SELECT k1 FROM types ORDER BY f", "k1:INT64 | 3 | 4 | 5 | 2 | 1"},
      {"SELECT k1 FROM types ORDER BY f DESC", "k1:INT64 | 1 | 2 | 5 | 4 | 3"},
      {"SELECT i FROM types ORDER BY 1 DESC, k1", "i:INT64 | 20 | 10 | NULL | NULL | NULL"},
      {"SELECT i FROM types ORDER BY 1+0, k1", "i:INT64 | 10 | 20 | NULL | NULL | NULL"},
      {"SELECT k1 AS z FROM types ORDER BY z DESC LIMIT 2", "z:INT64 | 5 | 4"},
      {"SELECT i AS k1, k1 AS i FROM types ORDER BY i DESC LIMIT 1", "k1:INT64 i:INT64 | NULL 5"},
      {"SELECT -k1 AS n FROM types ORDER BY -n LIMIT 1", "n:INT64 | -1"},
      {"SELECT k1 FROM types ORDER BY b, s DESC LIMIT 3 OFFSET 1", "k1:INT64 | 4 | 5 | 2"},
      {"SELECT i, i FROM types ORDER BY i", "INVALID_ARGUMENT: Column name i is ambiguous"},
      {"SELECT i FROM types ORDER BY 2",
       "INVALID_ARGUMENT: ORDER BY is out of SELECT column number range: 2"},
      {"SELECT i FROM types ORDER BY -1",
       "INVALID_ARGUMENT: ORDER BY column number item is out of range. Column numbers must be "
       "greater than or equal to one. Found : -1"},
      {"SELECT i FROM types ORDER BY 'a'", "INVALID_ARGUMENT: Cannot ORDER BY literal values"},
      {"SELECT k1 AS x FROM types WHERE x = 1", "INVALID_ARGUMENT: Unrecognized name: x"},
      {"SELECT i FROM types ORDER BY i NULLS LAST",
       "INVALID_ARGUMENT: NULLS FIRST and NULLS LAST are not supported"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(runner_.Run(text), result) << text;
}

TEST_F(SqlQuery, ATableHasAnAliasThatHidesItsName) {
  const Cases cases = {
      {"SELECT t.k1 FROM types AS t WHERE t.s = 'x'", "k1:INT64 | 1"},
      {"SELECT T.`k1` AS n FROM types t WHERE t.k1 < 3 ORDER BY t.k2 DESC", "n:INT64 | 2 | 1"},
      {"SELECT types.k1 FROM types WHERE TYPES.k1 = 1", "k1:INT64 | 1"},
      {"SELECT t.k1 FROM types@{FORCE_INDEX=_BASE_TABLE} t WHERE t.k1 = 1", "k1:INT64 | 1"},
      {"@{LOCK_SCANNED_RANGES=exclusive} SELECT k1 FROM types WHERE k1 = 1", "k1:INT64 | 1"},
      {"SELECT types.k1 FROM types t", "INVALID_ARGUMENT: Unrecognized name: types"},
      {"SELECT u.* FROM types t", "INVALID_ARGUMENT: Unrecognized name: u"},
      {"SELECT t.none FROM types t", "INVALID_ARGUMENT: Unrecognized name: none"},
      // What has a table before it is no output.
      {"SELECT -k1 AS k1 FROM types t ORDER BY t.k1 LIMIT 1", "k1:INT64 | -1"},
      {"SELECT -k1 AS k1 FROM types t ORDER BY k1 LIMIT 1", "k1:INT64 | -5"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(runner_.Run(text), result) << text;
  EXPECT_EQ(runner_.Run("SELECT t.* FROM types t WHERE k1 = 1"),
            runner_.Run("SELECT * FROM types WHERE k1 = 1"));
  EXPECT_EQ(runner_.Run("UPDATE types AS t SET t.s = t.k2, i = t.i + 1 WHERE t.k1 = 1 "
                        "THEN RETURN t.s, i"),
            "s:STRING i:INT64 | 'a' 11 # 1");
  EXPECT_EQ(runner_.Run("UPDATE types t SET types.s = 'a' WHERE true"),
            "INVALID_ARGUMENT: Unrecognized name: types");
  EXPECT_EQ(runner_.Run("DELETE FROM types t WHERE t.k1 = 5"), " # 1");
}

TEST_F(SqlQuery, SubqueriesRunBeforeTheStatement) {
  const Cases cases = {
      {"SELECT EXISTS(SELECT 1 FROM types WHERE k1 = 1), EXISTS(SELECT 1 FROM types WHERE k1 = 9)",
       ":BOOL :BOOL | TRUE FALSE"},
      {"SELECT k1 FROM types WHERE k1 = (SELECT MAX(k1) FROM types)", "k1:INT64 | 5"},
      {"SELECT (SELECT s FROM types WHERE k1 = 9), (SELECT 1)", ":STRING :INT64 | NULL 1"},
      {"SELECT (SELECT k1 FROM types)",
       "OUT_OF_RANGE: Scalar subquery produced more than one element"},
      {"SELECT k1 FROM types WHERE i IN (SELECT i FROM types WHERE i > 10)", "k1:INT64 | 2"},
      {"SELECT k1 FROM types WHERE i NOT IN (SELECT i FROM types WHERE k1 < 2)", "k1:INT64 | 2"},
      // A NULL among the values leaves open whether another one is there.
      {"SELECT 5 IN (SELECT i FROM types), 10 IN (SELECT i FROM types)", ":BOOL :BOOL | NULL TRUE"},
      {"SELECT k1 FROM types WHERE k1 = (SELECT MIN(k1) FROM types WHERE EXISTS("
       "SELECT 1 FROM types WHERE k1 = 2) AND k1 > 2)",
       "k1:INT64 | 3"},
      {"SELECT NULL IN (SELECT 1.5), NULL IN (SELECT f FROM types WHERE k1 = 9)",
       ":BOOL :BOOL | NULL FALSE"},
      {"SELECT 1.5 IN (SELECT k1 FROM types), 1 IN (SELECT f FROM types WHERE k1 = 1)",
       ":BOOL :BOOL | FALSE FALSE"},
      {"SELECT NULL IN (SELECT 'a')",
       "INVALID_ARGUMENT: Cannot execute IN subquery with uncomparable types INT64 and STRING"},
      {"SELECT (SELECT 1, 2)",
       "INVALID_ARGUMENT: Scalar subquery cannot have more than one column unless using SELECT AS "
       "STRUCT to build STRUCT values"},
      {"SELECT 1 / (SELECT k1 - k1 FROM types WHERE k1 = 1)",
       "OUT_OF_RANGE: division by zero: 1 / 0"},
      {"SELECT EXISTS(SELECT nothing FROM types)", "INVALID_ARGUMENT: Unrecognized name: nothing"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(runner_.Run(text), result) << text;
}

TEST_F(SqlQuery, SubqueriesLockWhatTheyRead) {
  // A lock that were missing here would let another transaction change what the statement decided by.
  const auto locks = runner_.Locks(
      "UPDATE types SET s = 'z' WHERE k1 = 1 AND k2 = 'a' AND NOT EXISTS("
      "SELECT writer FROM locktable WHERE name = 'x')");
  ASSERT_EQ(locks.size(), 2u);
  EXPECT_EQ(locks[0].table, 0u);
  EXPECT_EQ(locks[0].range.kind, RangeKind::kKey);
  EXPECT_EQ(locks[0].range.key, (Key{std::string("x")}));
  EXPECT_EQ(locks[1].table, 3u);
  EXPECT_EQ(locks[1].range.kind, RangeKind::kKey);
  // A key that a subquery computes is not known yet.
  EXPECT_EQ(
      runner_.Locks("SELECT writer FROM locktable WHERE name = (SELECT 'x')").at(0).range.kind,
      RangeKind::kAll);
  const auto inserted = runner_.Locks("INSERT locktable (name) SELECT k2 FROM types WHERE k1 = 1");
  ASSERT_EQ(inserted.size(), 2u);
  EXPECT_EQ(inserted[1].table, 0u);
  EXPECT_EQ(inserted[1].range.kind, RangeKind::kAll);
}

TEST_F(SqlQuery, ArraysAreValuesAndSets) {
  const std::vector<Parameter> declared = {{"p", Type::kStringArray}, {"n", Type::kInt64Array}};
  const Row values = {Array{{std::string("x"), Null{}}}, Null{}};
  const Cases cases = {
      {"SELECT k1 FROM types WHERE s IN UNNEST(@p)", "k1:INT64 | 1"},
      {"SELECT s IN UNNEST(@p) FROM types WHERE k1 < 4", ":BOOL | TRUE | NULL | NULL"},
      {"SELECT k1 FROM types WHERE k1 NOT IN UNNEST([1, 2, 3])", "k1:INT64 | 4 | 5"},
      {"SELECT 1 IN UNNEST(@n), 1 IN UNNEST([])", ":BOOL :BOOL | FALSE FALSE"},
      {"SELECT ARRAY_LENGTH(@p), ARRAY_LENGTH(@n), ARRAY_LENGTH([])",
       ":INT64 :INT64 :INT64 | 2 NULL 0"},
      {"SELECT @p, [1, k1], ARRAY<STRING>[] FROM types WHERE k1 = 2",
       ":ARRAY<STRING> :ARRAY<INT64> :ARRAY<STRING> | ['x', NULL] [1, 2] []"},
      {"SELECT 1.5 IN UNNEST([1, 1.5])", ":BOOL | TRUE"},
      {"SELECT 'a' IN UNNEST([1])",
       "INVALID_ARGUMENT: No matching signature for operator IN UNNEST for argument types: STRING, "
       "ARRAY<INT64>"},
      {"SELECT [1] = [1]",
       "INVALID_ARGUMENT: A comparison is not defined for arguments of type ARRAY<INT64>"},
      {"SELECT [[1]]",
       "INVALID_ARGUMENT: Cannot construct array with element type ARRAY<INT64> because nested "
       "arrays are not supported"}};
  for (const auto& [text, result] : cases) {
    EXPECT_EQ(runner_.Run(text, declared, values), result) << text;
  }
}

TEST_F(SqlQuery, DatesAndDecimalsAreComparedByTheirValue) {
  const Cases cases = {
      {"SELECT DATE '2026-1-2' < DATE '2026-02-01', DATE '2026-01-02' = '2026-1-2'",
       ":BOOL :BOOL | TRUE TRUE"},
      {"SELECT NUMERIC '10' > NUMERIC '9', NUMERIC '-1.5' < NUMERIC '-1.25', NUMERIC '1.0' = 1",
       ":BOOL :BOOL :BOOL | TRUE TRUE TRUE"},
      {"SELECT CAST(NUMERIC '-01.50' AS STRING), CAST('1e2' AS NUMERIC), SAFE_CAST('x' AS DATE)",
       ":STRING :NUMERIC :DATE | '-1.5' '100' NULL"},
      {"SELECT CAST(0.1 AS FLOAT32) = 0.1, CAST(0.5 AS FLOAT32) = 0.5", ":BOOL :BOOL | FALSE TRUE"},
      {"SELECT DATE '2026-02-30'", "INVALID_ARGUMENT: Invalid DATE literal"},
      {"SELECT CAST('2026-02-30' AS DATE)", "OUT_OF_RANGE: Invalid date: '2026-02-30'"},
      {"SELECT NUMERIC '1' + 1", "INVALID_ARGUMENT: operator + of NUMERIC is not modelled"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(runner_.Run(text), result) << text;
}

TEST_F(SqlQuery, InformationSchemaListsTheTables) {
  const Cases cases = {
      {"SELECT table_name FROM information_schema.tables WHERE table_name LIKE 't%'",
       "table_name:STRING | 'types'"},
      {"SELECT column_name, ordinal_position, spanner_type, is_nullable "
       "FROM information_schema.COLUMNS WHERE table_name = 'types' AND ordinal_position < 3",
       "column_name:STRING ordinal_position:INT64 spanner_type:STRING is_nullable:STRING | 'k1' 1 "
       "'INT64' 'NO' | 'k2' 2 'STRING(16)' 'NO'"},
      {"SELECT COUNT(*) FROM information_schema.index_columns WHERE table_name = 'types'",
       ":INT64 | 2"},
      {"SELECT 1 FROM nowhere.types", "INVALID_ARGUMENT: Table not found: nowhere.types"},
      {"UPDATE information_schema.tables SET table_name = 'x' WHERE true",
       "INVALID_ARGUMENT: Table not found: information_schema.tables (or it is not modelled)"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(runner_.Run(text), result) << text;
  EXPECT_TRUE(runner_.Locks("SELECT table_name FROM information_schema.tables").empty());
}

TEST_F(SqlQuery, AnInsertTakesTheRowsOfAQuery) {
  EXPECT_EQ(runner_.Run("INSERT INTO locktable (name, writer) SELECT k2, s FROM types WHERE k1 < 3 "
                        "THEN RETURN name"),
            "name:STRING | 'a' | 'b' # 2");
  const std::string guarded =
      "INSERT INTO locktable (name, writer) SELECT 'g', NULL FROM types WHERE NOT EXISTS("
      "SELECT 1 FROM locktable WHERE name = 'g') LIMIT 1";
  EXPECT_EQ(runner_.Run(guarded), " # 1");
  EXPECT_EQ(runner_.Run(guarded), " # 0");
  EXPECT_EQ(runner_.Run("SELECT * FROM locktable"),
            "name:STRING heartbeat:TIMESTAMP token:TIMESTAMP writer:STRING | 'a' NULL NULL 'x' | "
            "'b' NULL NULL 'yy' | 'g' NULL NULL NULL");
  EXPECT_EQ(runner_.Run("INSERT INTO locktable (name) SELECT k2 FROM types"),
            "ALREADY_EXISTS: Row [a] in table locktable already exists");
  EXPECT_EQ(runner_.Run("INSERT INTO locktable (name) SELECT k2, s FROM types"),
            "INVALID_ARGUMENT: Inserted row has wrong column count; Has 2, expected 1");
  EXPECT_EQ(runner_.Run("INSERT INTO locktable (name, writer) VALUES "
                        "('q', (SELECT s FROM types WHERE k1 = 2)) THEN RETURN writer"),
            "writer:STRING | 'yy' # 1");
}

TEST_F(SqlQuery, CaseIsTheFirstThatIsTrue) {
  const Cases cases = {
      {"SELECT CASE WHEN b THEN 'yes' WHEN NOT b THEN 'no' ELSE '?' END FROM types WHERE k1 < 4",
       ":STRING | 'yes' | 'no' | '?'"},
      {"SELECT CASE k1 WHEN 1 THEN 1 WHEN 2 THEN 2.5 END AS c FROM types WHERE k1 < 4",
       "c:FLOAT64 | 1 | 2.5 | NULL"},
      // NULL equals nothing, and what is not reached is not evaluated.
      {"SELECT CASE i WHEN i THEN 'same' ELSE 'none' END FROM types WHERE k1 = 3",
       ":STRING | 'none'"},
      {"SELECT CASE WHEN TRUE THEN 1 ELSE CAST(1 / 0 AS INT64) END", ":INT64 | 1"},
      {"SELECT CASE WHEN FALSE THEN CASE 1 WHEN 1 THEN 2 END END", ":INT64 | NULL"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(runner_.Run(text), result) << text;
  for (const char* text : {"SELECT CASE END", "SELECT CASE WHEN 1 THEN 2 END",
                           "SELECT CASE WHEN TRUE 2 END", "SELECT CASE 1 THEN 2 END",
                           "SELECT CASE WHEN TRUE THEN 2", "SELECT CASE WHEN b THEN 1 END"}) {
    EXPECT_TRUE(runner_.Run(text).starts_with("INVALID_ARGUMENT")) << text;
  }
}

TEST_F(SqlQuery, GroupsHaveTheirAggregates) {
  ASSERT_EQ(runner_.Run("UPDATE types SET s = 'x' WHERE k1 = 2"), " # 1");
  const Cases cases = {
      {"SELECT s, COUNT(*) AS n, MAX(k1) FROM types GROUP BY s ORDER BY n",
       "s:STRING n:INT64 :INT64 | 'x' 2 2 | NULL 3 5"},
      {"SELECT k1 > 3 AS late, SUM(k1) FROM types GROUP BY late ORDER BY late DESC",
       "late:BOOL :INT64 | TRUE 9 | FALSE 6"},
      {"SELECT b IS NULL, COUNT(b) FROM types GROUP BY 1 ORDER BY 1",
       ":BOOL :INT64 | FALSE 2 | TRUE 0"},
      {"SELECT COUNT(*) FROM types GROUP BY types.S ORDER BY 1", ":INT64 | 2 | 3"},
      {"SELECT UPPER(s), COUNT(*) + 1 FROM types GROUP BY upper(s) ORDER BY 2",
       ":STRING :INT64 | 'X' 3 | NULL 4"},
      {"SELECT s FROM types GROUP BY s HAVING COUNT(*) > 2", "s:STRING | NULL"},
      {"SELECT s FROM types GROUP BY s HAVING s IS NOT NULL", "s:STRING | 'x'"},
      {"SELECT s FROM types WHERE k1 > 9 GROUP BY s", "s:STRING"},
      {"SELECT COUNT(*) FROM types WHERE k1 > 9 HAVING COUNT(*) > 0", ":INT64"},
      {"SELECT COUNT(*) AS n FROM types ORDER BY n", "n:INT64 | 5"},
      {"SELECT s FROM types GROUP BY s ORDER BY s DESC LIMIT 1 OFFSET 1", "s:STRING | NULL"},
      {"SELECT k1 FROM types GROUP BY s",
       "INVALID_ARGUMENT: SELECT list expression references column k1 which is neither grouped nor "
       "aggregated"},
      {"SELECT s FROM types GROUP BY 2",
       "INVALID_ARGUMENT: GROUP BY is out of SELECT column number range: 2"},
      {"SELECT COUNT(*) FROM types GROUP BY COUNT(*)",
       "INVALID_ARGUMENT: Aggregate functions are not allowed in GROUP BY"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(runner_.Run(text), result) << text;
}

TEST_F(SqlQuery, DistinctRowsComeOnce) {
  const Cases cases = {
      {"SELECT DISTINCT s IS NULL AS free FROM types ORDER BY free", "free:BOOL | FALSE | TRUE"},
      {"SELECT DISTINCT b FROM types ORDER BY 1", "b:BOOL | NULL | FALSE | TRUE"},
      {"SELECT DISTINCT 1 FROM types", ":INT64 | 1"},
      // A literal of LIMIT or OFFSET is not the group that is written like it.
      {"SELECT DISTINCT 1 FROM types LIMIT 1", ":INT64 | 1"},
      {"SELECT DISTINCT 0 FROM types LIMIT 1 OFFSET 0", ":INT64 | 0"},
      {"SELECT 1 AS one FROM types GROUP BY one LIMIT 1", "one:INT64 | 1"},
      {"SELECT k1 FROM types WHERE k1 IN (SELECT DISTINCT 1 FROM types LIMIT 1)", "k1:INT64 | 1"},
      {"SELECT DISTINCT k1 > 2, b IS NULL FROM types ORDER BY 1, 2 LIMIT 5",
       ":BOOL :BOOL | FALSE FALSE | TRUE TRUE"},
      {"SELECT DISTINCT s FROM types ORDER BY k1",
       "INVALID_ARGUMENT: SELECT list expression references column k1 which is neither grouped nor "
       "aggregated"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(runner_.Run(text), result) << text;
  EXPECT_EQ(runner_.Run("SELECT DISTINCT * FROM types WHERE k1 = 1"),
            runner_.Run("SELECT * FROM types WHERE k1 = 1"));
}

TEST_F(SqlQuery, LimitAndOffsetTakeNumbersAndParameters) {
  // An invalid count is an error at compilation if it is a literal, at execution if it is a
  // parameter.
  EXPECT_EQ(runner_.Run("SELECT k1 FROM types LIMIT 2 OFFSET 1"), "k1:INT64 | 2 | 3");
  EXPECT_EQ(runner_.Run("SELECT k1 FROM types LIMIT 0"), "k1:INT64");
  EXPECT_EQ(runner_.Run("SELECT k1 FROM types LIMIT +1 OFFSET 9223372036854775807"), "k1:INT64");
  EXPECT_EQ(runner_.Run("SELECT 1 LIMIT 1 OFFSET 1"), ":INT64");
  const std::vector<Parameter> parameters = {{"n", Type::kInt64}, {"s", Type::kString}};
  const auto run = [&](const std::string& text, Value n) {
    return runner_.Run(text, parameters, {std::move(n), std::string("1")});
  };
  EXPECT_EQ(run("SELECT k1 FROM types LIMIT @n OFFSET @n", int64_t{2}), "k1:INT64 | 3 | 4");
  EXPECT_EQ(run("SELECT k1 FROM types LIMIT @n", int64_t{-1}),
            "OUT_OF_RANGE: Limit requires non-negative count and offset");
  EXPECT_EQ(run("SELECT k1 FROM types LIMIT 1 OFFSET @n", Null{}),
            "OUT_OF_RANGE: Limit requires non-null count and offset");
  EXPECT_EQ(run("SELECT k1 FROM types LIMIT @s", int64_t{1}),
            "INVALID_ARGUMENT: LIMIT expects an integer literal or parameter");
  const Cases cases = {{"-1", "LIMIT expects a non-negative integer literal or parameter"},
                       {"1.5", "LIMIT expects an integer literal or parameter"},
                       {"1+1", "LIMIT expects an integer literal or parameter"},
                       {"'1'", "LIMIT expects an integer literal or parameter"},
                       {"NULL", "LIMIT must not be null"}};
  for (const auto& [limit, message] : cases) {
    EXPECT_EQ(runner_.Run("SELECT k1 FROM types LIMIT " + limit), "INVALID_ARGUMENT: " + message);
  }
}

TEST_F(SqlQuery, NoMoreIsEvaluatedThanIsAskedFor) {
  // With ORDER BY every row is evaluated first, so its error shows.
  EXPECT_EQ(runner_.Run("SELECT 1/(k1-2) FROM types LIMIT 1"), ":FLOAT64 | -1");
  EXPECT_EQ(runner_.Run("SELECT 1/0 FROM types LIMIT 0"), ":FLOAT64");
  EXPECT_EQ(runner_.Run("SELECT 1/0 FROM types WHERE FALSE"), ":FLOAT64");
  EXPECT_EQ(runner_.Run("SELECT 1/(k1-2) FROM types ORDER BY k1 LIMIT 0"),
            "OUT_OF_RANGE: division by zero: 1 / 0");
}

TEST_F(SqlQuery, WithoutFromThereIsOneRowAndNoTable) {
  // The keepalive of a session must not wait for any lock.
  EXPECT_EQ(runner_.Run("SELECT 1"), ":INT64 | 1");
  EXPECT_EQ(runner_.Run("SELECT 'a' AS x, NULL, 1.5,"), "x:STRING :INT64 :FLOAT64 | 'a' NULL 1.5");
  EXPECT_TRUE(runner_.Locks("SELECT 1").empty());
  EXPECT_FALSE(runner_.Locks("SELECT 1 FROM types").empty());
  const Cases cases = {
      {"SELECT *", "SELECT * must have a FROM clause"},
      {"SELECT 1 WHERE TRUE", "Query without FROM clause cannot have a WHERE clause"},
      {"SELECT 1 ORDER BY 1", "Query without FROM clause cannot have an ORDER BY clause"},
      {"SELECT COUNT(*)", "Aggregate function not allowed in SELECT without FROM clause"}};
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(runner_.Run(text), "INVALID_ARGUMENT: " + message);
  }
  SqlRunner empty{Schema{}};
  EXPECT_EQ(empty.Run("SELECT 1"), ":INT64 | 1");
}

TEST_F(SqlQuery, AggregatesMakeOneRow) {
  // Only COUNT(*) counts NULLs; a NaN absorbs every number.
  const Cases cases = {
      {"SELECT COUNT(*) FROM types", ":INT64 | 5"},
      {"SELECT COUNT(*) AS n, COUNT(i), MIN(i), MAX(s), SUM(i), MIN(f), MAX(f) FROM types",
       "n:INT64 :INT64 :INT64 :STRING :INT64 :FLOAT64 :FLOAT64 | 5 2 10 'yy' 30 nan nan"},
      {"SELECT COUNT(*), MIN(i), SUM(i), COUNT(i) FROM types WHERE k1 > 9",
       ":INT64 :INT64 :INT64 :INT64 | 0 NULL NULL 0"},
      {"SELECT IF(COUNT(*) > 1, 'many', 'few'), MAX(i) - MIN(i) AS d FROM types",
       ":STRING d:INT64 | 'many' 10"},
      {"SELECT SUM(k1 + 1) FROM types WHERE k1 < 3 LIMIT 5", ":INT64 | 5"},
      {"SELECT COUNT(*) FROM types LIMIT 1 OFFSET 1", ":INT64"},
      {"SELECT COUNT(NULL), MAX(NULL) FROM types", ":INT64 :INT64 | 0 NULL"},
      {"SELECT SUM(9223372036854775807) FROM types", "OUT_OF_RANGE: int64 overflow"},
      // Only the whole sum has to fit: k1 is 1, 2 and more.
      {"SELECT SUM(IF(k1 = 1, 9223372036854775807, IF(k1 = 2, 1, IF(k1 = 3, -1, 0)))) FROM types",
       ":INT64 | 9223372036854775807"},
      {"SELECT COUNT(*), k1 FROM types",
       "INVALID_ARGUMENT: SELECT list expression references column k1 which is neither grouped "
       "nor aggregated"},
      {"SELECT *, COUNT(*) FROM types",
       "INVALID_ARGUMENT: Star expansion expression references column k1 which is neither grouped "
       "nor aggregated"},
      {"SELECT MAX(COUNT(*)) FROM types",
       "INVALID_ARGUMENT: Aggregations of aggregations are not allowed"},
      {"SELECT k1 FROM types WHERE COUNT(*) > 1",
       "INVALID_ARGUMENT: Aggregate function COUNT not allowed here"},
      {"SELECT SUM(s) FROM types",
       "INVALID_ARGUMENT: No matching signature for aggregate function SUM for argument type: "
       "STRING"}};
  for (const auto& [text, result] : cases) EXPECT_EQ(runner_.Run(text), result) << text;
}

TEST_F(SqlQuery, ASnapshotShowsWhatWasThere) {
  // Every commit at or before its time, none after it.
  const Timestamp before = runner_.now();
  runner_.Run("UPDATE types SET i = 11 WHERE k1 = 1");
  const Timestamp updated = runner_.now();
  runner_.Run("DELETE types WHERE k1 = 1");
  const std::string query = "SELECT i FROM types WHERE k1 = 1 AND k2 = 'a'";
  EXPECT_EQ(runner_.RunAt(query, before), "i:INT64 | 10");
  EXPECT_EQ(runner_.RunAt(query, updated - Nanoseconds(1)), "i:INT64 | 10");
  EXPECT_EQ(runner_.RunAt(query, updated), "i:INT64 | 11");
  EXPECT_EQ(runner_.RunAt(query, runner_.now()), "i:INT64");
  EXPECT_EQ(runner_.RunAt("SELECT COUNT(*) FROM types", before - Seconds(1)), ":INT64 | 0");
}

TEST_F(SqlQuery, LocksCoverWhatIsSortedBy) {
  // A column that only orders the rows affects the answer as much as one that is returned.
  const auto locks = runner_.Locks("SELECT k1 FROM types ORDER BY f");
  ASSERT_EQ(locks.size(), 1u);
  EXPECT_EQ(locks[0].columns, uint64_t{1} << 0 | uint64_t{1} << 4);
  const auto counted = runner_.Locks("SELECT COUNT(i) FROM types");
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].columns, uint64_t{1} << 3);
}

}  // namespace
}  // namespace whorl::model::query_test
