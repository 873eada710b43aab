// Rows with their versions: order, ranges, and dropped versions.
#include "spanner_model/storage.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/spanner_model/sql/testing.h"

namespace whorl::model::storage_test {
namespace {

constexpr Timestamp Second(int64_t n) { return Timestamp::FromUnixNanos(n * 1'000'000'000); }

// A table of one key column, with one row for each name.
StoredTable TableOf(const std::vector<std::string>& names) {
  StoredTable table;
  for (const std::string& name : names)
    Put(table, {name}, {.commit = Second(1), .row = Row{name}}, Second(1));
  return table;
}

std::vector<std::string> NamesIn(const StoredTable& table, const KeyRange& range) {
  std::vector<std::string> names;
  for (const auto& [key, versions] : RowsIn(table, range)) {
    names.push_back(std::get<std::string>(key.front()));
  }
  return names;
}

KeyRange Prefix(std::string prefix) {
  return {.kind = RangeKind::kPrefix, .key = {}, .prefix = std::move(prefix)};
}
KeyRange OneKey(Key key) { return {.kind = RangeKind::kKey, .key = std::move(key), .prefix = {}}; }

TEST(Storage, RowsAreSortedByKeyWhateverTheOrderOfTheirWrites) {
  // Results come in key order, so a trace does not depend on the order of writes.
  const StoredTable table = TableOf({"b", "", "ab", "a", "B"});
  EXPECT_EQ(NamesIn(table, {}), (std::vector<std::string>{"", "B", "a", "ab", "b"}));
  EXPECT_EQ(table, TableOf({"a", "ab", "b", "B", ""}));
}

TEST(Storage, KeysCompareColumnByColumn) {
  // A key of two columns is not the concatenation of their texts.
  EXPECT_TRUE(CompareKeys(Key{int64_t{1}, "z"}, Key{int64_t{2}, "a"}) < 0);
  EXPECT_TRUE(CompareKeys(Key{int64_t{1}, "a"}, Key{int64_t{1}, "b"}) < 0);
  EXPECT_TRUE(CompareKeys(Key{int64_t{1}, "a"}, Key{int64_t{1}, "a"}) == 0);
  EXPECT_TRUE(CompareKeys(Key{Null{}}, Key{""}) < 0);
}

TEST(Storage, TheKeyOfARowFollowsThePrimaryKeysOrder) {
  // The key is not always the first columns of the table.
  const Table table = ParsedTable(
      "CREATE TABLE t (a INT64, b STRING(MAX) NOT NULL, c INT64 NOT NULL) PRIMARY KEY (c, b)");
  EXPECT_EQ(KeyOf(table, {int64_t{1}, "b", int64_t{3}}), (Key{int64_t{3}, "b"}));
}

TEST(Storage, APrefixIsLiteralAndCaseSensitive) {
  // Spindle cleans up by '<name>_': with LIKE's meaning of '_' it would delete other locks.
  const StoredTable table = TableOf({"job", "job_", "job_1", "job_2", "jobs", "Job_1", "joc_"});
  EXPECT_EQ(NamesIn(table, Prefix("job_")), (std::vector<std::string>{"job_", "job_1", "job_2"}));
  EXPECT_EQ(NamesIn(table, Prefix("")).size(), 7U);
  EXPECT_EQ(NamesIn(table, Prefix("jobz")), std::vector<std::string>{});
  EXPECT_EQ(NamesIn(table, Prefix("zz")), std::vector<std::string>{});
}

TEST(Storage, APrefixOfHighBytesEndsWhereItsRowsEnd) {
  // Keys compare by unsigned bytes; a prefix has no successor to search for after 0xff.
  const StoredTable table = TableOf({"\x7f", "\xff", "\xff\xff", "\xff\xff\x01"});
  EXPECT_EQ(NamesIn(table, Prefix("\xff\xff")),
            (std::vector<std::string>{"\xff\xff", "\xff\xff\x01"}));
}

TEST(Storage, ASpanThatEndsBeforeItStartsHasNoRows) {
  const StoredTable table = TableOf({"b", "c", "d", "e", "f"});
  const auto names = [&](const KeySpan& span) {
    return NamesIn(table, {.kind = RangeKind::kSpan, .span = span});
  };
  const std::vector<std::string> none;
  EXPECT_EQ(names({.start = {"f"}, .end = {"c"}}), none);
  EXPECT_EQ(names({.start = {"e"}, .start_closed = true, .end = {"d"}, .end_closed = true}), none);
  EXPECT_EQ(names({.start = {"c"}, .start_closed = false, .end = {"c"}, .end_closed = false}),
            none);
  EXPECT_EQ(names({.start = {"c"}, .start_closed = false, .end = {"c"}, .end_closed = true}), none);
  EXPECT_EQ(names({.start = {"z"}, .end = {"a"}}), none);
  EXPECT_EQ(names({.start = {"c"}, .start_closed = true, .end = {"c"}, .end_closed = true}),
            std::vector<std::string>{"c"});
}

TEST(Storage, AKeyFindsItsRowOnly) {
  // Also if the position of a missing key is between rows or after the last one.
  const StoredTable table = TableOf({"a", "b", "c"});
  EXPECT_EQ(NamesIn(table, OneKey({"b"})), std::vector<std::string>{"b"});
  EXPECT_EQ(NamesIn(table, OneKey({"bb"})), std::vector<std::string>{});
  EXPECT_EQ(NamesIn(table, OneKey({"d"})), std::vector<std::string>{});
}

TEST(Storage, RowsInAndContainsAgree) {
  // One finds the rows of a statement, the other its conflicts: if they disagreed on a key, a row
  // would be read without a lock.
  const StoredTable table = TableOf({"", "a", "a_", "a_1", "ab", "b"});
  const KeyRange nothing{.kind = RangeKind::kNothing, .key = {}, .prefix = {}};
  for (const KeyRange& range : {KeyRange{}, nothing, OneKey({"a"}), OneKey({"aa"}), Prefix("a"),
                                Prefix("a_"), Prefix("c"), Prefix("")}) {
    std::vector<std::string> contained;
    for (const auto& [key, versions] : table.rows) {
      if (Contains(range, key)) contained.push_back(std::get<std::string>(key.front()));
    }
    EXPECT_EQ(NamesIn(table, range), contained) << range.prefix;
  }
}

TEST(Storage, TheNewestVersionIsTheLastOneWritten) {
  // Every strong read needs it.
  StoredTable table = TableOf({"a"});
  Put(table, {"a"}, {.commit = Second(2), .row = Row{"second"}}, Second(2));
  ASSERT_NE(FindNewest(table, {"a"}), nullptr);
  EXPECT_EQ(*FindNewest(table, {"a"}), Row{"second"});
  EXPECT_EQ(FindNewest(table, {"b"}), nullptr);
}

TEST(Storage, ADeletedRowIsNotFoundAndLeavesNothingWhenNobodyCanReadIt) {
  // Takeover rows come and go under new names, and their remains would accumulate.
  StoredTable table = TableOf({"a", "b"});
  Put(table, {"a"}, {.commit = Second(2), .row = std::nullopt}, Second(3));
  EXPECT_EQ(FindNewest(table, {"a"}), nullptr);
  EXPECT_EQ(table, TableOf({"b"}));
}

TEST(Storage, VersionsThatCanBeReadAreKeptAndOlderOnesDropped) {
  // A read at t sees the newest version at or before t, so one version before the oldest possible
  // read has to stay.
  StoredTable table;
  for (int64_t second = 1; second <= 5; ++second) {
    Put(table, {"a"}, {.commit = Second(second), .row = Row{second}}, Second(3));
  }
  std::vector<Version> expected;
  for (int64_t second = 3; second <= 5; ++second) {
    expected.push_back({.commit = Second(second), .row = Row{second}});
  }
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows.begin()->second, expected);
}

TEST(Storage, ADeletionThatAnOldReadCanSeePastIsKept) {
  // A stale read from before the deletion still finds the row.
  StoredTable table = TableOf({"a"});
  Put(table, {"a"}, {.commit = Second(5), .row = std::nullopt}, Second(2));
  EXPECT_EQ(FindNewest(table, {"a"}), nullptr);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows.begin()->second.size(), 2U);
  Put(table, {"a"}, {.commit = Second(6), .row = Row{"again"}}, Second(6));
  EXPECT_EQ(*FindNewest(table, {"a"}), Row{"again"});
  EXPECT_EQ(table.rows.begin()->second.size(), 1U);
}

TEST(Storage, ADeletionOfWhatIsNotThereLeavesNothing) {
  // A tombstone without a row would stay for ever.
  StoredTable table = TableOf({"b"});
  Put(table, {"a"}, {.commit = Second(2), .row = std::nullopt}, Second(2));
  EXPECT_EQ(table, TableOf({"b"}));
}

TEST(Storage, ALimitOfVersionsTellsHowFarBackReadsCanReach) {
  // Else a server under load keeps an hour of versions, however many those are.
  StoredTable table;
  for (int64_t second = 1; second <= 6; ++second) {
    Put(table, {"a"}, {.commit = Second(second), .row = Row{second}}, Second(0));
  }
  Put(table, {"b"}, {.commit = Second(2), .row = Row{int64_t{1}}}, Second(0));
  Put(table, {"b"}, {.commit = Second(3), .row = std::nullopt}, Second(0));
  // Replaced at 2, 3, 4, 5, 6 (a) and 3 (b); the deletion itself, at 3.
  std::vector<StoredTable> tables = {table};
  EXPECT_EQ(OldestReadWithin(tables, 7), std::nullopt);
  EXPECT_EQ(OldestReadWithin(tables, 3), Second(3));
  EXPECT_EQ(OldestReadWithin(tables, 1), Second(5));
  EXPECT_EQ(OldestReadWithin(tables, 0), Second(6));
  Collect(tables[0], Second(3));
  EXPECT_EQ(OldestReadWithin(tables, 3), std::nullopt);
  EXPECT_EQ(NamesIn(tables[0], {}), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace whorl::model::storage_test
