// The DDL of the protocols' tables.
#include <gtest/gtest.h>

#include <string>

#include "tests/sql_testing.h"

namespace whorl::model {
namespace {

std::string DdlError(std::string_view text) {
  const auto table = ParseCreateTable(text);
  const auto* error = std::get_if<Status>(&table);
  if (error == nullptr) {
    ADD_FAILURE() << "parses: " << text;
    return "";
  }
  EXPECT_EQ(error->code, Code::kInvalidArgument);
  return error->message;
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
  // The database enforces lengths and options from here; one lost would be a kinder Spanner.
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
  // GoogleSQL does so, and the protocols' texts and the DDL come from different hands.
  EXPECT_EQ(TestSchema().FindTable("LOCKTABLE"), 0u);
  EXPECT_EQ(TestSchema().FindTable("leaderelection"), 1u);
  EXPECT_EQ(TestSchema().FindTable("nosuch"), std::nullopt);
  EXPECT_EQ(TestSchema().tables[0].FindColumn("HeartBeat"), 1u);
  EXPECT_EQ(TestSchema().tables[0].FindColumn("heart"), std::nullopt);
}

TEST(SqlSchema, AWrongTextNamesThePlace) {
  // A person wrote the DDL and has to find the mistake in it.
  EXPECT_EQ(DdlError("CREATE TABLE t (\n  a INT64,\n  b NOSUCH\n) PRIMARY KEY (a)"),
            "Error parsing Spanner DDL statement: Type NOSUCH does not exist or is not modelled "
            "[at 3:5]\n  b NOSUCH\n    ^");
  EXPECT_EQ(DdlError("CREATE TABLE t (a INT64"),
            "Error parsing Spanner DDL statement: Syntax error: Expected \")\" but got end of "
            "statement [at 1:24]\nCREATE TABLE t (a INT64\n                       ^");
}

TEST(SqlSchema, WhatIsNotModelledIsRefused) {
  // A clause that is skipped in silence would give a table that behaves unlike the real one.
  const std::string a = "CREATE TABLE t (a INT64 NOT NULL) PRIMARY KEY ";
  for (const std::string& text :
       {a + "(a DESC)", a + "()", a + "(a), INTERLEAVE IN PARENT p",
        std::string("CREATE TABLE IF NOT EXISTS t (a INT64) PRIMARY KEY (a)"),
        std::string("CREATE TABLE s.t (a INT64) PRIMARY KEY (a)"),
        std::string("CREATE TABLE t (a INT64 DEFAULT (1)) PRIMARY KEY (a)"),
        std::string("CREATE TABLE t (a ARRAY<INT64>) PRIMARY KEY (a)"),
        std::string("CREATE TABLE t (a INT64, CONSTRAINT c CHECK (a > 1)) PRIMARY KEY (a)")}) {
    EXPECT_NE(DdlError(text).find("not modelled"), std::string::npos) << DdlError(text);
  }
}

TEST(SqlSchema, ContradictionsAreRefused) {
  // Plans index columns by bits and trust that names are unique and keys exist.
  EXPECT_NE(DdlError("CREATE TABLE t (a INT64, A INT64) PRIMARY KEY (a)")
                .find("Duplicate column name t.A"),
            std::string::npos);
  EXPECT_NE(DdlError("CREATE TABLE t (a INT64) PRIMARY KEY (b)").find("nonexistent key column b"),
            std::string::npos);
  EXPECT_NE(DdlError("CREATE TABLE t (a INT64) PRIMARY KEY (a, a)").find("twice"),
            std::string::npos);
  EXPECT_NE(DdlError("CREATE TABLE t (a STRING(0)) PRIMARY KEY (a)").find("Invalid length"),
            std::string::npos);
  EXPECT_NE(DdlError("CREATE TABLE t (a INT64 OPTIONS (allow_commit_timestamp=true)) "
                     "PRIMARY KEY (a)")
                .find("only allowed on TIMESTAMP"),
            std::string::npos);
  std::string wide = "CREATE TABLE t (c0 INT64";
  for (int i = 1; i <= 64; ++i) wide += ", c" + std::to_string(i) + " INT64";
  EXPECT_NE(DdlError(wide + ") PRIMARY KEY (c0)").find("more than 64 columns"), std::string::npos);
}

}  // namespace
}  // namespace whorl::model
