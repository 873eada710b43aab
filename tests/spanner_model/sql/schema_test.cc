// The DDL of the protocols' tables.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/spanner_model/sql/testing.h"

namespace whorl::model::sql_schema_test {
namespace {

std::string DdlError(std::string_view text) {
  const auto table = ParseCreateTable(text);
  const auto* error = std::get_if<Status>(&table);
  if (error == nullptr) {
    ADD_FAILURE() << "parses: " << text;
    return "";
  }
  EXPECT_EQ(error->code, Code::kInvalidArgument);
  return error->message.str();
}

TEST(SqlSchema, TheLockTableOfSpindleParses) {
  // Its published DDL has a comma before the closing parenthesis, and both timestamps have to take
  // commit timestamps or no heartbeat could be written.
  const Table table = ParsedTable(kLockTable);
  const Column name{"name", Type::kString, true, false, std::nullopt};
  const Column heartbeat{"heartbeat", Type::kTimestamp, false, true, std::nullopt};
  const Column token{"token", Type::kTimestamp, false, true, std::nullopt};
  const Column writer{"writer", Type::kString, false, false, std::nullopt};
  EXPECT_EQ(table, (Table{"locktable", {name, heartbeat, token, writer}, {0}}));
}

TEST(SqlSchema, TheTableOfTheSemaphoreParses) {
  // Its timestamp is written from CURRENT_TIMESTAMP, so the column has no option.
  const Table table = ParsedTable(kElectionTable);
  const Column anchor{"anchor", Type::kInt64, true, false, std::nullopt};
  const Column service{"service_id", Type::kString, false, false, std::nullopt};
  const Column seen{"last_seen_active", Type::kTimestamp, false, false, std::nullopt};
  EXPECT_EQ(table, (Table{"LeaderElection", {anchor, service, seen}, {0}}));
}

TEST(SqlSchema, EveryTypeLengthAndOptionIsKept) {
  // The database enforces these lengths and options; a lost one would be more lenient than Spanner.
  const Table table = ParsedTable(
      "create table `T` (a String(7) NOT NULL, b BYTES(0x10), c bool, d FLOAT64, "
      "e TIMESTAMP NOT NULL OPTIONS (allow_commit_timestamp = false), "
      "f TIMESTAMP OPTIONS (allow_commit_timestamp = null)) PRIMARY KEY (e, a ASC)");
  ASSERT_EQ(table.columns.size(), 6u);
  EXPECT_EQ(table.columns[0].max_length, 7);
  EXPECT_EQ(table.columns[1].max_length, 16);
  EXPECT_EQ(table.columns[1].type, Type::kBytes);
  EXPECT_EQ(table.columns[2].type, Type::kBool);
  EXPECT_EQ(table.columns[3].type, Type::kFloat64);
  EXPECT_TRUE(table.columns[4].not_null);
  EXPECT_FALSE(table.columns[4].allow_commit_timestamp);
  EXPECT_FALSE(table.columns[5].allow_commit_timestamp);
  EXPECT_EQ(table.key, (std::vector<uint32_t>{4, 0}));
  EXPECT_TRUE(table.IsKey(0));
  EXPECT_FALSE(table.IsKey(1));
}

TEST(SqlSchema, NamesAreFoundWithoutRegardToCase) {
  // GoogleSQL ignores case, and the protocols' statements and the DDL have different authors.
  EXPECT_EQ(TestSchema().FindTable("LOCKTABLE"), 0u);
  EXPECT_EQ(TestSchema().FindTable("leaderelection"), 1u);
  EXPECT_EQ(TestSchema().FindTable("nosuch"), std::nullopt);
  EXPECT_EQ(TestSchema().tables[0].FindColumn("HeartBeat"), 1u);
  EXPECT_EQ(TestSchema().tables[0].FindColumn("heart"), std::nullopt);
}

TEST(SqlSchema, AWrongTextNamesThePlace) {
  // The author of the DDL has to find the mistake.
  EXPECT_EQ(DdlError("CREATE TABLE t (\n  a INT64,\n  b NOSUCH\n) PRIMARY KEY (a)"),
            "Error parsing Spanner DDL statement: Type NOSUCH does not exist or is not modelled "
            "[at 3:5]\n  b NOSUCH\n    ^");
  EXPECT_EQ(DdlError("CREATE TABLE t (a INT64"),
            "Error parsing Spanner DDL statement: Syntax error: Expected \")\" but got end of "
            "statement [at 1:24]\nCREATE TABLE t (a INT64\n                       ^");
}

TEST(SqlSchema, WhatIsNotModelledIsRefused) {
  // Silently skipping a clause would give a table that behaves unlike the real one.
  const std::string a = "CREATE TABLE t (a INT64 NOT NULL) PRIMARY KEY ";
  for (const std::string& text :
       {a + "(a DESC)", a + "()", a + "(a), INTERLEAVE IN PARENT p",
        std::string("CREATE TABLE s.t (a INT64) PRIMARY KEY (a)"),
        std::string("CREATE TABLE t (a INT64 DEFAULT (1)) PRIMARY KEY (a)"),
        std::string("CREATE TABLE t (a ARRAY<INT64>) PRIMARY KEY (a)"),
        std::string("CREATE TABLE t (a JSON) PRIMARY KEY (a)"),
        std::string("CREATE TABLE t (a INTERVAL) PRIMARY KEY (a)"),
        std::string("CREATE TABLE t (a INT64, CONSTRAINT c CHECK (a > 1)) PRIMARY KEY (a)")}) {
    EXPECT_NE(DdlError(text).find("not modelled"), std::string::npos) << DdlError(text);
  }
}

TEST(SqlSchema, ContradictionsAreRefused) {
  // Plans index columns by bits and trust that names are unique and keys exist. The codes are the
  // emulator's.
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"CREATE TABLE t (a INT64, A INT64) PRIMARY KEY (a)",
       "FAILED_PRECONDITION: Duplicate column name t.A."},
      {"CREATE TABLE t (a INT64) PRIMARY KEY (b)",
       "FAILED_PRECONDITION: Table t references nonexistent key column b."},
      {"CREATE TABLE t (a INT64) PRIMARY KEY (A)",
       "FAILED_PRECONDITION: Table t references nonexistent key column A."},
      {"CREATE TABLE t (a INT64) PRIMARY KEY (a, a)",
       "INVALID_ARGUMENT: Table t references key column a more than once."},
      {"CREATE TABLE t (a STRING(0)) PRIMARY KEY (a)",
       "INVALID_ARGUMENT: Bad length for column t.a: 0 : Allowed length range: [1, 2621440]."},
      {"CREATE TABLE t (a STRING(2621441)) PRIMARY KEY (a)",
       "INVALID_ARGUMENT: Bad length for column t.a: 2621441 : Allowed length range: [1, "
       "2621440]."},
      {"CREATE TABLE t (a INT64 OPTIONS (allow_commit_timestamp=true)) PRIMARY KEY (a)",
       "FAILED_PRECONDITION: Column t.a has invalid allow_commit_timestamp option.  Option only "
       "allowed on TIMESTAMP columns."},
      {"CREATE TABLE _t (a INT64) PRIMARY KEY (a)", "INVALID_ARGUMENT: Table name not valid: _t."},
      {"CREATE TABLE `t t` (a INT64) PRIMARY KEY (a)",
       "INVALID_ARGUMENT: Table name not valid: t t."}};
  for (const auto& [text, message] : cases) {
    const auto statement = ParseDdl(text);
    const auto* error = std::get_if<Status>(&statement);
    ASSERT_NE(error, nullptr) << text;
    EXPECT_EQ(FormatStatus(*error), message);
  }
  std::string wide = "CREATE TABLE t (c0 INT64";
  for (int i = 1; i <= 64; ++i) wide += ", c" + std::to_string(i) + " INT64";
  EXPECT_NE(DdlError(wide + ") PRIMARY KEY (c0)").find("more than 64 columns"), std::string::npos);
}

TEST(SqlSchema, ATextThatIsNoStatementIsASyntaxError) {
  // The emulator's DDL parser accepts neither a semicolon nor trailing words.
  for (const char* text :
       {"", "CREATE", "DROP TABLE", "DROP t", "DROP TABLE t;", "CREATE TABLE t (a INT64)",
        "CREATE TABLE t (a INT64) PRIMARY KEY", "CREATE TABLE t (a STRING) PRIMARY KEY (a)",
        "CREATE TABLE select (a INT64) PRIMARY KEY (a)", "CREATE INDEX i ON t",
        "ALTER TABLE t ADD COLUMN", "CREATE TABLE t (a ARRAY<INT64) PRIMARY KEY (a)",
        "CREATE TABLE t (a INT64) PRIMARY KEY (a);", "CREATE TABLE t (a INT64) PRIMARY KEY (a,)",
        "CREATE TABLE t (a INT64 NOT NULL NOT NULL)",
        "CREATE TABLE t (a TIMESTAMP OPTIONS (allow_commit_timestamp=5)) PRIMARY KEY (a)",
        "CREATE TABLE t (a TIMESTAMP OPTIONS ()) PRIMARY KEY (a)"}) {
    const auto statement = ParseDdl(text);
    const auto* error = std::get_if<Status>(&statement);
    ASSERT_NE(error, nullptr) << text;
    EXPECT_EQ(error->code, Code::kInvalidArgument) << text;
    EXPECT_TRUE(error->message.view().starts_with("Error parsing Spanner DDL statement: ")) << text;
  }
}

// The schema after the statements, or the first error.
std::string Apply(const std::vector<std::string>& statements) {
  Schema schema;
  for (const std::string& text : statements) {
    const auto statement = ParseDdl(text);
    if (const auto* error = std::get_if<Status>(&statement)) return FormatStatus(*error);
    auto after = ApplyDdl(schema, std::get<DdlStatement>(statement));
    if (const auto* error = std::get_if<Status>(&after)) return FormatStatus(*error);
    schema = std::get<Schema>(std::move(after));
  }
  std::string names;
  for (const Table& table : schema.tables) {
    names += table.name + "(" + std::to_string(table.columns.size()) + ") ";
  }
  return names;
}

TEST(SqlSchema, StatementsChangeTheSchema) {
  // As on the emulator, CREATE ignores the case of names and DROP does not.
  const std::string a = "CREATE TABLE a (k INT64) PRIMARY KEY (k)";
  const std::string b = "CREATE TABLE b (k INT64, v INT64) PRIMARY KEY (k)";
  EXPECT_EQ(Apply({a, b}), "a(1) b(2) ");
  EXPECT_EQ(Apply({a, b, "DROP TABLE a"}), "b(2) ");
  EXPECT_EQ(Apply({a, b, "drop table if exists `a`", "DROP TABLE IF EXISTS a"}), "b(2) ");
  EXPECT_EQ(Apply({a, "CREATE TABLE IF NOT EXISTS A (k INT64, v INT64) PRIMARY KEY (k)"}), "a(1) ");
  EXPECT_EQ(Apply({a, "CREATE TABLE A (k INT64) PRIMARY KEY (k)"}),
            "FAILED_PRECONDITION: Duplicate name in schema: A.");
  EXPECT_EQ(Apply({a, "DROP TABLE A"}), "NOT_FOUND: Table not found: A");
  EXPECT_EQ(Apply({a, "DROP TABLE a", a}), "a(1) ");
}

TEST(SqlSchema, ColumnsComeAndGo) {
  // Codes as on the emulator (tests/foreign/cases.json compares them).
  const std::string t = "CREATE TABLE t (k INT64 NOT NULL, v INT64) PRIMARY KEY (k)";
  EXPECT_EQ(Apply({t, "ALTER TABLE t ADD COLUMN w STRING(MAX)"}), "t(3) ");
  EXPECT_EQ(Apply({t, "ALTER TABLE t ADD COLUMN IF NOT EXISTS V INT64"}), "t(2) ");
  EXPECT_EQ(Apply({t, "ALTER TABLE t DROP COLUMN v"}), "t(1) ");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"ALTER TABLE t ADD COLUMN V INT64", "FAILED_PRECONDITION: Duplicate column name t.V."},
      {"ALTER TABLE t ADD COLUMN w INT64 NOT NULL",
       "UNIMPLEMENTED: Cannot add NOT NULL column t.w to existing table t."},
      {"ALTER TABLE u ADD COLUMN w INT64", "NOT_FOUND: Table not found: u"},
      {"ALTER TABLE t DROP COLUMN k",
       "INVALID_ARGUMENT: Cannot drop key column `k` from table `t`."},
      {"ALTER TABLE t DROP COLUMN V", "NOT_FOUND: Column not found in table t: V"},
      {"DROP INDEX i", "NOT_FOUND: Index not found: i"},
      {"CREATE INDEX t ON t(v)", "FAILED_PRECONDITION: Duplicate name in schema: t."}};
  for (const auto& [statement, error] : wrong) EXPECT_EQ(Apply({t, statement}), error);
  for (const char* other :
       {"ALTER TABLE t ALTER COLUMN v STRING(MAX)", "ALTER TABLE t ADD CONSTRAINT c CHECK (v > 1)",
        "ALTER TABLE t DROP CONSTRAINT c", "ALTER DATABASE d SET OPTIONS (x = 1)",
        "CREATE UNIQUE INDEX i ON t(v)"}) {
    EXPECT_NE(Apply({t, other}).find("not modelled"), std::string::npos) << Apply({t, other});
  }
}

// Codes and words are those of the emulator (2026-11-29).
TEST(SqlSchema, AnIndexThatCannotBeIsRefused) {
  const std::string t =
      "CREATE TABLE t (k INT64, n INT64, s STRING(9), b BYTES(9), a ARRAY<INT64>, j JSON) "
      "PRIMARY KEY (k, n)";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"(a)", "FAILED_PRECONDITION: Cannot reference ARRAY a in the creation of index i."},
      {"(s, j)", "FAILED_PRECONDITION: Cannot reference JSON j in the creation of index i."},
      {"(s, s)", "INVALID_ARGUMENT: Index i specifies key column s twice."},
      {"(s) STORING (b, b)", "INVALID_ARGUMENT: Index i specifies key column b twice."},
      {"(s) STORING (s)",
       "INVALID_ARGUMENT: Index i specifies stored column s already specified as primary key."},
      {"(s) STORING (n)",
       "FAILED_PRECONDITION: Index i specifies stored column n which is a key of table t."}};
  for (const auto& [columns, error] : wrong) {
    EXPECT_EQ(Apply({t, "CREATE INDEX i ON t" + columns}), error);
  }
  for (const char* columns : {"(n, k)", "(k)", "(s) STORING (a, j)"}) {
    EXPECT_EQ(Apply({t, std::string("CREATE INDEX i ON t") + columns}), "t(6) ") << columns;
  }
}

TEST(SqlSchema, AnIndexHoldsItsTableAndColumns) {
  const std::string t = "CREATE TABLE t (k INT64 NOT NULL, v INT64, w INT64) PRIMARY KEY (k)";
  const std::string i = "CREATE NULL_FILTERED INDEX i ON t(v DESC) STORING (w)";
  EXPECT_EQ(Apply({t, i, "DROP TABLE t"}),
            "FAILED_PRECONDITION: Cannot drop table t with indices: i.");
  for (const char* column : {"v", "w"}) {
    EXPECT_EQ(Apply({t, i, std::string("ALTER TABLE t DROP COLUMN ") + column}),
              std::string("FAILED_PRECONDITION: Cannot drop column `") + column +
                  "` from table `t` because it is used by index `i`.");
  }
  EXPECT_EQ(Apply({t, i, "DROP INDEX i", "ALTER TABLE t DROP COLUMN v"}), "t(2) ");
  EXPECT_EQ(Apply({t, i, "CREATE INDEX IF NOT EXISTS I ON t(w)"}), "t(3) ");
  const auto parsed = ParseDdl(i);
  EXPECT_EQ(PrintDdl(std::get<CreateIndex>(std::get<DdlStatement>(parsed)).index), i);
}

TEST(SqlSchema, DdlIsPrintedAsSpannerPrintsIt) {
  // GetDatabaseDdl of the emulator, character by character.
  EXPECT_EQ(PrintDdl(ParsedTable(
                "create table t1 (a int64 not null, b STRING(MAX), c STRING(10) NOT NULL, "
                "d BYTES(0x10), f FLOAT64, g BOOL, h TIMESTAMP NOT NULL "
                "OPTIONS (allow_commit_timestamp=true), i TIMESTAMP "
                "OPTIONS (allow_commit_timestamp=false), j TIMESTAMP "
                "OPTIONS (allow_commit_timestamp=null), `in` INT64, `key` INT64) "
                "PRIMARY KEY (a, c ASC, `in`)")),
            "CREATE TABLE t1 (\n"
            "  a INT64 NOT NULL,\n"
            "  b STRING(MAX),\n"
            "  c STRING(10) NOT NULL,\n"
            "  d BYTES(16),\n"
            "  f FLOAT64,\n"
            "  g BOOL,\n"
            "  h TIMESTAMP NOT NULL OPTIONS (\n"
            "    allow_commit_timestamp = true\n"
            "  ),\n"
            "  i TIMESTAMP OPTIONS (\n"
            "    allow_commit_timestamp = false\n"
            "  ),\n"
            "  j TIMESTAMP,\n"
            "  `in` INT64,\n"
            "  key INT64,\n"
            ") PRIMARY KEY(a, c, `in`)");
}

TEST(SqlSchema, PrintedDdlIsTheSameTable) {
  // A client may use the text to create the table again.
  for (const Table& table : TestSchema().tables) {
    EXPECT_EQ(ParsedTable(PrintDdl(table)), table) << PrintDdl(table);
  }
}

}  // namespace
}  // namespace whorl::model::sql_schema_test
