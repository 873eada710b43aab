#include "protocol/spanner/value.h"

#include <gtest/gtest.h>

#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "protocol/spanner/sql.h"
#include "tests/protocol/protocol_testing.h"

namespace whorl::value_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value Bytes1(std::string data) { return Bytes{.data = std::move(data)}; }

// --- Float64 -----------------------------------------------------------------------------------

TEST(Float64Test, KeepsOneNanAndOneZero) {
  // == and the fingerprint look at different things, the number and its bits: they have to agree.
  const Float64 quiet(std::numeric_limits<double>::quiet_NaN());
  const Float64 odd(std::bit_cast<double>(uint64_t{0xfff8'0000'dead'beef}));
  EXPECT_EQ(quiet, odd);
  EXPECT_EQ(FingerprintOf(quiet), FingerprintOf(odd));
  EXPECT_EQ(Float64(0.0), Float64(-0.0));
  EXPECT_EQ(FingerprintOf(Float64(0.0)), FingerprintOf(Float64(-0.0)));
  EXPECT_EQ(FormatValue(Float64(-0.0)), "0");
}

TEST(Float64Test, TellsDifferentNumbersApart) {
  // The least difference counts: values are identities, not measurements.
  EXPECT_NE(Float64(1.0), Float64(std::nextafter(1.0, 2.0)));
  EXPECT_NE(Float64(std::numeric_limits<double>::quiet_NaN()), Float64(0.0));
  EXPECT_NE(Float64(kInfinity), Float64(-kInfinity));
}

// --- Value -------------------------------------------------------------------------------------

TEST(ValueTest, TypesAreNeverEqualToEachOther) {
  // A column of the wrong type must be seen as different, whatever it holds.
  const std::vector<Value> ones = {
      Null{}, true, int64_t{1}, Float64(1.0), "1", Bytes1("1"), Timestamp::FromUnixNanos(1)};
  for (size_t i = 0; i < ones.size(); ++i) {
    for (size_t j = 0; j < ones.size(); ++j) {
      EXPECT_EQ(ones[i] == ones[j], i == j) << i << " " << j;
      EXPECT_EQ(FingerprintOf(ones[i]) == FingerprintOf(ones[j]), i == j) << i << " " << j;
    }
  }
}

TEST(ValueTest, AreOrderedAsSpannerOrdersKeys) {
  // Rows are kept and scanned in this order; each list ascends strictly.
  const std::vector<std::vector<Value>> ascending = {
      {Null{}, false, true},
      {Null{}, std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
       std::numeric_limits<int64_t>::max()},
      {Null{}, Float64(std::numeric_limits<double>::quiet_NaN()), Float64(-kInfinity),
       Float64(-1.5), Float64(0.0), Float64(1e-300), Float64(kInfinity)},
      {Null{}, std::string(), "B", "a", "a_", "ab", "\x7f", "\xc3\xa4", "\xff"},
      {Null{}, Bytes1(""), Bytes1(std::string(1, '\0')), Bytes1("\x01"), Bytes1("\xff")},
      {Null{}, Timestamp::Min(), Timestamp::FromUnixNanos(-1), Timestamp(),
       Timestamp::FromUnixNanos(1), Timestamp::Max()},
  };
  for (const std::vector<Value>& values : ascending) {
    for (size_t i = 0; i < values.size(); ++i) {
      for (size_t j = 0; j < values.size(); ++j) {
        EXPECT_EQ(CompareValues(values[i], values[j]), i <=> j)
            << FormatValue(values[i]) << " and " << FormatValue(values[j]);
      }
    }
  }
}

TEST(ValueTest, AreEquivalentInOrderExactlyWhenEqual) {
  // A row that is equal but not equivalent could be inserted twice under one key.
  EXPECT_EQ(CompareValues(Null{}, Null{}), std::weak_ordering::equivalent);
  EXPECT_EQ(CompareValues(Float64(0.0), Float64(-0.0)), std::weak_ordering::equivalent);
  const Value nan = Float64(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(CompareValues(nan, nan), std::weak_ordering::equivalent);
}

TEST(ValueTest, ArePrintedForPeople) {
  // Notes, traces and error messages show values; a string must not look like a number.
  EXPECT_EQ(FormatValue(Null{}), "NULL");
  EXPECT_EQ(FormatValue(true), "TRUE");
  EXPECT_EQ(FormatValue(false), "FALSE");
  EXPECT_EQ(FormatValue(int64_t{-42}), "-42");
  EXPECT_EQ(FormatValue(Float64(0.1)), "0.1");
  EXPECT_EQ(FormatValue(Float64(-kInfinity)), "-inf");
  EXPECT_EQ(FormatValue("42"), "'42'");
  EXPECT_EQ(FormatValue(Bytes1(std::string("\x00\xfe", 2))), "b'00fe'");
  EXPECT_EQ(FormatValue(At(Milliseconds(1'500))), "2026-01-01T00:00:01.5Z");
}

// --- Sql ---------------------------------------------------------------------------------------

TEST(SqlTest, TheSameTextAndParametersAreOneObject) {
  // A handle is compared as a pointer, and its plan is found by index: two objects would be two
  // statements.
  const Sql first = Sql::Intern("SELECT @a", {{.name = "a", .type = Type::kInt64}});
  const Sql again =
      Sql::Intern(std::string("SELECT ") + "@a", {{.name = "a", .type = Type::kInt64}});
  EXPECT_EQ(first, again);
  EXPECT_EQ(first.index(), again.index());
  EXPECT_EQ(&first.text(), &again.text());
  EXPECT_EQ(first.text(), "SELECT @a");
  ASSERT_EQ(first.parameters().size(), 1U);
  EXPECT_EQ(first.parameters()[0], (Parameter{.name = "a", .type = Type::kInt64}));
}

TEST(SqlTest, AnyDifferenceIsAnotherStatement) {
  // A parameter's type decides what a text means; names that run together are different names.
  const std::vector<Sql> different = {
      Sql::Intern("SELECT 1"),
      Sql::Intern("select 1"),
      Sql::Intern("SELECT 1", {{.name = "a", .type = Type::kInt64}}),
      Sql::Intern("SELECT 1", {{.name = "a", .type = Type::kString}}),
      Sql::Intern("SELECT 1", {{.name = "ab"}, {.name = "c"}}),
      Sql::Intern("SELECT 1", {{.name = "a"}, {.name = "bc"}}),
      Sql::Intern("SELECT 1", {{.name = "c"}, {.name = "ab"}}),
      Sql::Intern("SELECT 1a"),
  };
  for (size_t i = 0; i < different.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(different[i], different[j]) << i << " " << j;
      EXPECT_NE(different[i].digest(), different[j].digest()) << i << " " << j;
      EXPECT_NE(different[i].index(), different[j].index()) << i << " " << j;
    }
  }
}

TEST(SqlTest, TheDigestIsOfTheContentNotOfTheOrder) {
  // Digests stand in traces, which must be the same in a process that interned other texts first.
  EXPECT_EQ(Sql::Intern("SELECT token, writer FROM locktable WHERE name = @name",
                        {{.name = "name", .type = Type::kString}})
                .digest(),
            18'145'319'171'299'843'481U);
}

TEST(SqlTest, AStatementWithoutATextIsTheEmptyText) {
  // Statements are default-constructed inside larger values, which must compare equal.
  EXPECT_EQ(Sql(), Sql::Intern(""));
  EXPECT_EQ(Statement(), Statement{.sql = Sql::Intern("")});
  EXPECT_EQ(Sql().text(), "");
}

}  // namespace
}  // namespace whorl::value_test
