// Whether an existing table can be used, judged by the DDL that Spanner returns.
#include "cli/lock/table_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "real_client/lock_table.h"
#include "sim/scenario/add_protocol.h"

namespace whorl::cli::table_shape_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kWanted =
    "CREATE TABLE locktable (\n"
    "  name STRING(MAX) NOT NULL,\n"
    "  token TIMESTAMP OPTIONS (allow_commit_timestamp=true),\n"
    "  owner STRING(MAX),\n"
    ") PRIMARY KEY (name)";

// Every protocol's own text, as Spanner and the emulator write it.
TEST(TableShapeTest, IsThatOfTheSameTextHoweverItIsWritten) {
  for (const ProtocolInfo& info : Protocols()) {
    EXPECT_THAT(DifferenceOfTables(info.create_table, info.create_table), IsEmpty()) << info.name;
  }
  EXPECT_THAT(DifferenceOfTables(kWanted,
                                 "CREATE TABLE LockTable (\n  name STRING(MAX) NOT NULL,\n"
                                 "  token TIMESTAMP OPTIONS (\n    allow_commit_timestamp = true\n"
                                 "  ),\n  `owner` STRING(MAX),\n) PRIMARY KEY(name ASC)"),
              IsEmpty());
}

TEST(TableShapeTest, MayHaveMoreColumnsThatCanBeLeftOut) {
  const auto with = [](const std::string& column) {
    return "CREATE TABLE t (name STRING(MAX) NOT NULL, token TIMESTAMP OPTIONS "
           "(allow_commit_timestamp=true), owner STRING(MAX), " +
           column + ") PRIMARY KEY (name), ROW DELETION POLICY (OLDER_THAN(token, INTERVAL 9 DAY))";
  };
  EXPECT_THAT(DifferenceOfTables(kWanted, with("more INT64")), IsEmpty());
  EXPECT_THAT(DifferenceOfTables(kWanted, with("more INT64 NOT NULL DEFAULT (7)")), IsEmpty());
  EXPECT_EQ(DifferenceOfTables(kWanted, with("more INT64 NOT NULL")),
            "column MORE may not be left out (INT64 NOT NULL)");
}

TEST(TableShapeTest, SaysWhatIsOther) {
  EXPECT_EQ(DifferenceOfTables(kWanted,
                               "CREATE TABLE t (name STRING(MAX) NOT NULL, token TIMESTAMP, owner "
                               "STRING(MAX)) PRIMARY KEY (name)"),
            "column TOKEN is TIMESTAMP instead of TIMESTAMP OPTIONS(ALLOW_COMMIT_TIMESTAMP=TRUE)");
  EXPECT_EQ(
      DifferenceOfTables(kWanted, "CREATE TABLE t (name STRING(MAX) NOT NULL) PRIMARY KEY (name)"),
      "it has no column OWNER STRING(MAX)");
  EXPECT_EQ(DifferenceOfTables("CREATE TABLE t (a INT64, b INT64) PRIMARY KEY (a)",
                               "CREATE TABLE t (a INT64, b INT64) PRIMARY KEY (a, b DESC)"),
            "its primary key is A,B DESC instead of A");
  for (const std::string_view text : {"", "CREATE TABLE", "CREATE TABLE t (", "CREATE TABLE t ())",
                                      "CREATE TABLE t (a INT64)", ")(", ",,,(,)KEY"}) {
    EXPECT_THAT(DifferenceOfTables(kWanted, text), testing::Not(IsEmpty())) << text;
  }
}

TEST(TableShapeTest, FindsATableByItsName) {
  const std::vector<std::string> ddl = {"CREATE INDEX locktable2 ON other(name)",
                                        "CREATE TABLE other (locktable INT64) PRIMARY KEY ()",
                                        "CREATE TABLE `LockTable` (name INT64) PRIMARY KEY (name)"};
  EXPECT_EQ(FindTable(ddl, "locktable"), ddl[2]);
  EXPECT_THAT(FindTable(ddl, "lock"), IsEmpty());
  EXPECT_THAT(FindTable({}, "locktable"), IsEmpty());
}

TEST(TableShapeTest, NamesTheTableOtherwise) {
  EXPECT_THAT(real_client::WithTable(kWanted, "locktable", "mine"),
              HasSubstr("CREATE TABLE mine (\n"));
}

// --- change streams ------------------------------------------------------------------------------

TEST(ChangeStreamShapeTest, IsFoundByItsName) {
  const std::vector<std::string> ddl = {std::string(kWanted), "CREATE CHANGE STREAM a FOR ALL",
                                        "CREATE CHANGE STREAM `Changes`\n  FOR locktable"};
  EXPECT_EQ(FindStream(ddl, "changes"), ddl[2]);
  EXPECT_THAT(FindStream(ddl, "locktable"), IsEmpty());
}

TEST(ChangeStreamShapeTest, WatchesATableIfItWatchesAllOfIt) {
  const auto watches = [](const std::string& clause) {
    return StreamWatches("CREATE CHANGE STREAM s " + clause, "locktable");
  };
  EXPECT_TRUE(watches("FOR ALL"));
  EXPECT_TRUE(watches("FOR LockTable OPTIONS (retention_period='7d')"));
  EXPECT_TRUE(watches("FOR other(a, b), `locktable`"));
  EXPECT_FALSE(watches("FOR locktable(token)"));
  EXPECT_FALSE(watches("FOR other OPTIONS (note = 'FOR ALL')"));
  EXPECT_FALSE(watches(""));
}

}  // namespace
}  // namespace whorl::cli::table_shape_test
