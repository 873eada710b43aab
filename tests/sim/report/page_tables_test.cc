// What a page reads is what was put in: columns, dictionaries and rows that leave columns out.
#include "sim/report/page_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/sim/report/page_testing.h"

namespace whorl::sim::page_tables_test {
namespace {

using testing::ElementsAre;

TEST(PageTablesTest, IntegersOfAnySizeAndSignComeBack) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> values = {0, -1, 1, 63, 64, -64, -65, kMost, kLeast, kMost, 0};
  PageTables tables;
  for (const int64_t value : values) tables.Add("t").Int("x", value);
  EXPECT_EQ(PageReader(tables.Pack()).Ints("t", "x"), values);
}

TEST(PageTablesTest, TextsComeBackFromADictionaryThatColumnsShare) {
  PageTables tables;
  tables.Add("t").Text("before", "d", "\"one\"").Text("after", "d", "\"two\"");
  tables.Add("t").Text("before", "d", "\"two\"").Text("after", "d", "\"one\"");
  const PageTables::Packed packed = tables.Pack();
  EXPECT_EQ(packed.manifest["dictionaries"].size(), 1U);
  EXPECT_EQ(packed.manifest["dictionaries"][0]["texts"], 3);  // the empty one, too
  const PageReader reader(packed);
  EXPECT_THAT(reader.Texts("t", "before"), ElementsAre("\"one\"", "\"two\""));
  EXPECT_THAT(reader.Texts("t", "after"), ElementsAre("\"two\"", "\"one\""));
}

// A column that appears late, or is left out for a while, keeps its cells in their rows.
TEST(PageTablesTest, RowsThatLeaveAColumnOutHaveNothingThere) {
  PageTables tables;
  tables.Add("t").Int("a", 1);
  tables.Add("t").Int("a", 2).Text("b", "d", "\"x\"");
  tables.Add("t").Int("a", 3);
  tables.Add("t").Int("a", 4).Text("b", "d", "\"x\"");
  tables.Add("t").Int("a", 5);
  EXPECT_THAT(PageReader(tables.Pack()).Texts("t", "b"), ElementsAre("", "\"x\"", "", "\"x\"", ""));
}

}  // namespace
}  // namespace whorl::sim::page_tables_test
