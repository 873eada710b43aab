// INSERT, INSERT OR UPDATE, INSERT OR IGNORE, UPDATE and DELETE: counts, rows, errors. The answers
// are those of Google's emulator, except where a test says otherwise.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/spanner_model/sql/running.h"

namespace whorl::model::dml_test {
namespace {

Schema SmallSchema() {
  return Schema{{ParsedTable("CREATE TABLE small (k INT64 NOT NULL, s STRING(3), y BYTES(3), "
                             "n INT64 NOT NULL, f FLOAT64) PRIMARY KEY (k)"),
                 ParsedTable(kLockTable), ParsedTable(kElectionTable)}};
}

class SqlDml : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(runner_.Run("INSERT small (k, n) VALUES (1, 1)"), " # 1"); }
  void Expect(const std::string& text, const std::string& result) {
    EXPECT_EQ(runner_.Run(text), result) << text;
  }
  // Expects an error that dooms the transaction, or does not.
  void ExpectDoom(bool dooms, const std::string& text, const std::string& result) {
    Expect(text, result);
    EXPECT_EQ(runner_.dooms(), dooms) << text;
  }
  SqlRunner runner_{SmallSchema()};
};

TEST_F(SqlDml, InsertOrUpdateAndInsertOrIgnoreLookAtTheKeyOnly) {
  Expect("INSERT OR UPDATE small (k, n) VALUES (1, 2), (2, 2)", " # 2");
  Expect("INSERT OR IGNORE INTO small (k, n) VALUES (1, 3), (3, 3)", " # 1");
  Expect("INSERT IGNORE small (k, n) VALUES (1, 4)", " # 0");
  Expect("INSERT UPDATE INTO small (k, n) VALUES (3, 4)", " # 1");
  Expect("SELECT k, n FROM small", "k:INT64 n:INT64 | 1 2 | 2 2 | 3 4");
  ExpectDoom(true, "INSERT small (k, n) VALUES (1, 1)",
             "ALREADY_EXISTS: Row [1] in table small already exists");
}

TEST_F(SqlDml, InsertOrUpdateLeavesTheOtherColumnsAlone) {
  // As Spanner documents it for the mutation; the emulator sets them to NULL in DML.
  Expect("UPDATE small SET s = 'abc', f = 1 WHERE k = 1", " # 1");
  Expect("INSERT OR UPDATE small (k, n) VALUES (1, 5) THEN RETURN s, n",
         "s:STRING n:INT64 | 'abc' 5 # 1");
  Expect("SELECT s, f, n FROM small", "s:STRING f:FLOAT64 n:INT64 | 'abc' 1 5");
}

TEST_F(SqlDml, AKeyMayStandTwiceOnlyWhereItIsIgnored) {
  ExpectDoom(true, "INSERT small (k, n) VALUES (7, 1), (7, 2)",
             "ALREADY_EXISTS: Row [7] in table small already exists");
  ExpectDoom(false, "INSERT OR UPDATE small (k, n) VALUES (7, 1), (7, 2)",
             "INVALID_ARGUMENT: Cannot affect a row second time for key: [7]");
  // The emulator returns another row here, but both store the first.
  Expect("INSERT OR IGNORE small (k, n) VALUES (7, 1), (7, 2), (1, 9) THEN RETURN k, n",
         "k:INT64 n:INT64 | 7 1 # 1");
  Expect("SELECT n FROM small WHERE k = 7", "n:INT64 | 1");
}

TEST_F(SqlDml, LaterStatementsOfATransactionSeeTheRowsOfEarlierOnes) {
  const std::vector<std::pair<std::string, std::string>> steps = {
      {"INSERT small (k, n) VALUES (5, 5)", " # 1"},
      {"INSERT OR UPDATE small (k, n, s) VALUES (5, 6, 'q') THEN RETURN k, n, s, f",
       "k:INT64 n:INT64 s:STRING f:FLOAT64 | 5 6 'q' NULL # 1"},
      {"INSERT OR IGNORE small (k, n) VALUES (5, 7)", " # 0"},
      {"SELECT n, s FROM small WHERE k = 5", "n:INT64 s:STRING | 6 'q'"},
      {"DELETE small WHERE k = 5 THEN RETURN n", "n:INT64 | 6 # 1"},
      {"INSERT OR IGNORE small (k, n) VALUES (5, 8) THEN RETURN n", "n:INT64 | 8 # 1"},
      {"INSERT OR UPDATE small (k, n) VALUES (5, 9)", " # 1"},
      {"DELETE small WHERE k = 1", " # 1"},
      {"INSERT OR UPDATE small (k, n) VALUES (1, 3) THEN RETURN *",
       "k:INT64 s:STRING y:BYTES n:INT64 f:FLOAT64 | 1 NULL NULL 3 NULL # 1"},
      {"SELECT k, n, s FROM small", "k:INT64 n:INT64 s:STRING | 1 3 NULL | 5 9 NULL"}};
  // s of row 5 is NULL: it was inserted anew after its deletion.
  for (const auto& [text, result] : steps) EXPECT_EQ(runner_.RunOpen(text), result) << text;
}

TEST_F(SqlDml, ReturningShowsTheRowAsWrittenOrAsItWas) {
  Expect("UPDATE small SET n = n + 1 WHERE k = 1 THEN RETURN n, n * 2 AS d, *",
         "n:INT64 d:INT64 k:INT64 s:STRING y:BYTES n:INT64 f:FLOAT64 | 2 4 1 NULL NULL 2 NULL # 1");
  Expect("UPDATE small SET n = 9 WHERE k = 99 THEN RETURN n", "n:INT64 # 0");
  Expect("INSERT small (k, n) VALUES (2, 2), (3, 3) THEN RETURN k + 1 AS a, UPPER('x'), NULL",
         "a:INT64 :STRING :INT64 | 3 'X' NULL | 4 'X' NULL # 2");
  Expect("DELETE small WHERE k < 3 THEN RETURN k, n", "k:INT64 n:INT64 | 1 2 | 2 2 # 2");
  Expect("DELETE small WHERE k = 3 THEN RETURN COUNT(*)",
         "INVALID_ARGUMENT: THEN RETURN clause cannot use aggregation");
  Expect("DELETE small WHERE k = 3 THEN RETURN nosuch",
         "INVALID_ARGUMENT: Unrecognized name: nosuch");
  Expect("DELETE small WHERE k = 3 THEN RETURN 1 / (k - 3)",
         "OUT_OF_RANGE: division by zero: 1 / 0");
  Expect("SELECT k FROM small", "k:INT64 | 3");
}

TEST_F(SqlDml, APendingCommitTimestampIsNotReturned) {
  // As real Spanner and later emulators do; the measured one returned 0001-01-01.
  const std::string refused =
      "INVALID_ARGUMENT: Column heartbeat cannot be accessed because it, or its associated index, "
      "has a pending CommitTimestamp";
  Expect(
      "INSERT locktable (name, heartbeat) VALUES ('a', PENDING_COMMIT_TIMESTAMP()) "
      "THEN RETURN heartbeat",
      refused);
  Expect(
      "INSERT locktable (name, heartbeat) VALUES ('a', PENDING_COMMIT_TIMESTAMP()) "
      "THEN RETURN name",
      "name:STRING | 'a' # 1");
  Expect(
      "UPDATE locktable SET heartbeat = PENDING_COMMIT_TIMESTAMP() WHERE TRUE "
      "THEN RETURN token, heartbeat IS NULL",
      refused);
}

TEST_F(SqlDml, AReadOfAPendingColumnIsRefusedInReturningToo) {
  SqlRunner runner(SmallSchema(), {.pending_rule = PendingRule::kColumn});
  EXPECT_EQ(runner.RunOpen("INSERT locktable (name, heartbeat) "
                           "VALUES ('a', PENDING_COMMIT_TIMESTAMP())"),
            " # 1");
  EXPECT_EQ(runner.RunOpen("UPDATE locktable SET writer = 'z' WHERE name = 'a' "
                           "THEN RETURN writer"),
            "writer:STRING | 'z' # 1");
  for (const char* text :
       {"UPDATE locktable SET writer = 'z' WHERE name = 'a' THEN RETURN heartbeat",
        "INSERT OR UPDATE locktable (name) VALUES ('a') THEN RETURN heartbeat",
        "SELECT name FROM locktable ORDER BY heartbeat"}) {
    EXPECT_EQ(runner.RunOpen(text),
              "INVALID_ARGUMENT: Column heartbeat cannot be accessed because it, or its "
              "associated index, has a pending CommitTimestamp")
        << text;
  }
}

TEST_F(SqlDml, DefaultIsNull) {
  Expect("INSERT small (k, n, s) VALUES (2, 2, DEFAULT) THEN RETURN s", "s:STRING | NULL # 1");
  Expect("UPDATE small SET f = DEFAULT WHERE k = 1 THEN RETURN f", "f:FLOAT64 | NULL # 1");
  ExpectDoom(true, "UPDATE small SET n = DEFAULT WHERE k = 1",
             "FAILED_PRECONDITION: Cannot specify a null value for column: small.n in table: "
             "small");
}

TEST_F(SqlDml, ConstraintsDoomTheTransaction) {
  const std::string null_n =
      "FAILED_PRECONDITION: Cannot specify a null value for column: small.n in table: small";
  ExpectDoom(true, "INSERT small (k) VALUES (2)", null_n);
  ExpectDoom(true, "INSERT small (k, n) VALUES (2, NULL)", null_n);
  ExpectDoom(true, "UPDATE small SET n = NULL WHERE k = 1", null_n);
  // Also if the row exists; but an ignored row is not checked.
  ExpectDoom(true, "INSERT OR UPDATE small (k, s) VALUES (1, 'a')", null_n);
  Expect("INSERT OR IGNORE small (k, s) VALUES (1, 'abcdef')", " # 0");
  ExpectDoom(true, "INSERT OR IGNORE small (k, n) VALUES (1, 1), (2, NULL)", null_n);
  Expect("UPDATE small SET n = NULL WHERE k = 99", " # 0");
  const std::string too_long =
      "FAILED_PRECONDITION: New value exceeds the maximum size limit for this column: small.s, "
      "size: 4, limit: 3.";
  ExpectDoom(true, "INSERT small (k, n, s) VALUES (2, 2, 'abcd')", too_long);
  ExpectDoom(true, "UPDATE small SET s = 'abcd' WHERE k = 1", too_long);
  Expect("UPDATE small SET s = '\u00e9\u00e9\u00e9', y = b'\\xff\\xff\\xff' WHERE k = 1", " # 1");
  ExpectDoom(true, "UPDATE small SET y = b'abcd' WHERE k = 1",
             "FAILED_PRECONDITION: New value exceeds the maximum size limit for this column: "
             "small.y, size: 4, limit: 3.");
}

TEST_F(SqlDml, ErrorsComeInTheOrderOfTheEmulator) {
  // All rows are evaluated first, then the keys are looked up, then the constraints.
  ExpectDoom(false, "INSERT small (k, n, f) VALUES (1, 1, 1), (9, 9, 1/0)",
             "OUT_OF_RANGE: division by zero: 1 / 0");
  ExpectDoom(false, "INSERT small (k, n, f) VALUES (9, NULL, 1), (10, 1, 1/0)",
             "OUT_OF_RANGE: division by zero: 1 / 0");
  ExpectDoom(true, "INSERT small (k, n) VALUES (5, NULL), (1, 1)",
             "ALREADY_EXISTS: Row [1] in table small already exists");
  Expect("INSERT small (k, n, f) VALUES (2, 2, 0.0)", " # 1");
  ExpectDoom(false, "UPDATE small SET n = IF(k = 1, NULL, n), f = 1 / f WHERE TRUE",
             "OUT_OF_RANGE: division by zero: 1 / 0");
}

TEST_F(SqlDml, ACommitTimestampNeedsAColumnThatAllowsIt) {
  // The option makes the column's values comparable with commit timestamps. A statement that writes
  // no row is not checked.
  const std::string text =
      "UPDATE LeaderElection SET last_seen_active = PENDING_COMMIT_TIMESTAMP() WHERE anchor = 1";
  Expect(text, " # 0");
  Expect("INSERT LeaderElection (anchor) VALUES (1)", " # 1");
  ExpectDoom(true, text,
             "FAILED_PRECONDITION: Cannot write commit timestamp because the "
             "allow_commit_timestamp column option is not set to true for column "
             "LeaderElection.last_seen_active, or for all corresponding shared key columns in "
             "this table's interleaved table hierarchy.");
}

TEST_F(SqlDml, InsertLocksTheExistenceOfItsKeys) {
  // An update that returns other columns reads them; an insert knows its whole row.
  for (const char* text : {"INSERT small (k, n) VALUES (1, 1) THEN RETURN s",
                           "INSERT OR IGNORE small (k, n) VALUES (1, 1) THEN RETURN s",
                           "INSERT OR UPDATE small (k, n) VALUES (1, 1) THEN RETURN k, n"}) {
    const auto locks = runner_.Locks(text);
    ASSERT_EQ(locks.size(), 1u) << text;
    EXPECT_EQ(locks[0].range.kind, RangeKind::kKey);
    EXPECT_EQ(locks[0].columns, 0u) << text;
  }
  const auto upsert = runner_.Locks("INSERT OR UPDATE small (k, n) VALUES (1, 1) THEN RETURN s, n");
  ASSERT_EQ(upsert.size(), 1u);
  EXPECT_EQ(upsert[0].columns, uint64_t{1} << 1);
  const auto update = runner_.Locks("UPDATE small SET n = 1 WHERE k = 1 THEN RETURN n, f");
  ASSERT_EQ(update.size(), 1u);
  EXPECT_EQ(update[0].columns, uint64_t{1} << 0 | uint64_t{1} << 4);
}

}  // namespace
}  // namespace whorl::model::dml_test
